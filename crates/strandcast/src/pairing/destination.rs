//! The receiver to which a sender connects.

use strandcast_net::resolve::HostPort;
use strandcast_seal::{Peer, SecretKey};

use super::forms::fingerprint;
use super::keylog::KeyLog;
use super::name::nearest;
use super::pairing::Pairing;
use super::store::{Receivers, Store};
use crate::error::Error;

/// A receiver to which a sender can connect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Destination {
    /// Name in events.
    pub label: String,
    /// Hosts on which the receiver listens.
    pub hosts: Vec<HostPort>,
    /// Secret key of this machine, and identity of the receiver; `None` without encryption.
    pub seal: Option<(SecretKey, Peer)>,
    /// Log of the keys of all connections.
    pub keylog: Option<KeyLog>,
}

impl Destination {
    /// Makes the destination of a host without a pairing. The connection is neither encrypted nor authenticated.
    pub fn plain(host: HostPort) -> Destination {
        Destination { label: host.to_string(), hosts: vec![host], seal: None, keylog: None }
    }

    /// Returns the receiver with this name in a store. Makes the store's identity if it never existed.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if there is no such receiver. Other errors are [`Error::Store`].
    pub fn named(store: &Store, name: &str) -> Result<Destination, Error> {
        let receivers = store.receivers()?;
        let Some(receiver) = receivers.get(name) else {
            return Err(Error::Usage(unknown(name, &receivers)));
        };
        Destination::sealed(store, format!("@{name}"), receiver.hosts(), receiver.peer())
    }

    /// Returns the receiver of a pairing. Makes the store's identity if it never existed.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn paired(store: &Store, pairing: Pairing) -> Result<Destination, Error> {
        Destination::sealed(store, fingerprint(&pairing.peer.key), pairing.hosts, pairing.peer)
    }

    fn sealed(store: &Store, label: String, hosts: Vec<HostPort>, peer: Peer) -> Result<Destination, Error> {
        let (identity, _) = store.identity_or_new()?;
        Ok(Destination { label, hosts, seal: Some((identity, peer)), keylog: None })
    }
}

fn unknown(name: &str, receivers: &Receivers) -> String {
    match nearest(name, receivers.iter().map(|(name, _)| name)) {
        Some(near) => format!("there is no receiver @{name}, but @{near}"),
        None => {
            format!("there is no receiver @{name}: strandcast key add {name} (strandcast key list shows all)")
        }
    }
}
