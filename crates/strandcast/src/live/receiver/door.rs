//! Source of a session's senders. The source is a listener of the session, or a server that listens for many sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use strandcast_net::driver::{AssociationHandle, Listener};
use strandcast_proto::endpoint::EndpointConfig;
use strandcast_seal::PublicKey;

use super::config::ReceiverConfig;
use super::listening::{ListenChange, listen_changes};
use crate::error::Error;
use crate::listen;
use crate::live::tap::Taps;
use crate::pairing::{Gate, GateEvent};

/// Source of a session's senders.
#[derive(Debug)]
pub(in crate::live) enum Door {
    /// A listener of the session.
    Own(Own),
    /// A server that has admitted the senders to the session's stream.
    Served(Served),
}

/// A listener, and the gate that admits senders. Without a gate, streams are not encrypted.
#[derive(Debug)]
pub(in crate::live) struct Own {
    pub(in crate::live) listener: Listener,
    pub(in crate::live) gate: Option<Gate>,
}

/// State of a session in a server.
#[derive(Debug)]
pub(in crate::live) struct Served {
    /// True if a session that ends has a successor. The sender of the session may then connect to the successor.
    pub(in crate::live) again: Arc<AtomicBool>,
}

impl Own {
    /// Applies changes of the list of senders. Returns events to report.
    pub(in crate::live) async fn poll_gate(&mut self) -> Vec<GateEvent> {
        match &mut self.gate {
            Some(gate) => gate.poll(self.listener.driver()).await,
            None => Vec::new(),
        }
    }

    /// Returns the changes of the addresses on which the session listens.
    ///
    /// # Errors
    /// Returns [`Error::Network`] if the receiver could not listen for a while.
    pub(in crate::live) async fn changes(&self) -> Result<Vec<ListenChange>, Error> {
        listen_changes(self.listener.driver()).await
    }

    /// Returns the name of the sender with this key. Returns `None` without a seal.
    pub(in crate::live) fn label(&self, key: Option<PublicKey>) -> Option<String> {
        self.gate.as_ref().zip(key).map(|(gate, key)| gate.label(&key))
    }

    /// Waits until all changes of the list of senders are stored. Returns events to report.
    pub(in crate::live) async fn end(&mut self) -> Vec<GateEvent> {
        match &mut self.gate {
            Some(gate) => gate.end().await,
            None => Vec::new(),
        }
    }
}

impl Door {
    /// Waits for the next association. Returns `None` if the transport has stopped. Cancel safe.
    pub(super) async fn accept(&mut self) -> Option<AssociationHandle> {
        match self {
            Door::Own(own) => own.listener.accept().await,
            Door::Served(_) => std::future::pending().await,
        }
    }

    /// Returns the session's listener, if it has one.
    pub(super) fn own(&mut self) -> Option<&mut Own> {
        match self {
            Door::Own(own) => Some(own),
            Door::Served(_) => None,
        }
    }

    /// Returns whether the session has a successor to which its sender can connect.
    pub(super) fn has_successor(&self) -> bool {
        matches!(self, Door::Served(served) if served.again.load(Ordering::Relaxed))
    }
}

/// Starts to listen. Call it inside a tokio runtime.
///
/// # Errors
/// Returns [`Error::Network`] if an address is in use, or does not belong to this machine.
pub(in crate::live) fn listener(config: &mut ReceiverConfig) -> Result<Listener, Error> {
    let memory = config.memory;
    let endpoint = config.transport.endpoint(&config.scheme, true);
    let associations = memory.beside_playout(config.gate.is_some());
    let endpoint = EndpointConfig { memory: associations, decodes_unasked: false, ..endpoint };
    let (listen, tap) = (config.listen.clone(), config.taps.as_ref().map(Taps::tap));
    match &mut config.gate {
        Some(gate) => listen::sealed(endpoint, listen, tap, (gate, memory.sessions())),
        None => listen::plain(endpoint, listen, tap),
    }
}
