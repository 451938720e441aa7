//! The driver's sockets: one per uplink or listening address, reopened whenever possible.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::task::Context;

use strandcast_proto::association;
use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::LinkId;
use strandcast_proto::time::Instant;

use super::slot::{ListenEvent, SocketSlot};
use super::snapshot::SharedLinkMetadata;
use super::uplink::Uplink;
use crate::interface::Interface;
use crate::socket::{BindSpec, PathSocket};

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketDirection {
    /// Received.
    Received,
    /// Sent.
    Sent,
}

/// Receives every SCTP packet (UDP payload; of sealed datagrams, what is in them), for captures.
pub type PacketTap = Box<dyn FnMut(Instant, &FourTuple, PacketDirection, &[u8]) + Send>;

/// All sockets of one driver.
#[derive(Default)]
pub(super) struct PathSockets {
    all: Vec<SocketSlot>,
    next: u32,
    pub link_metadata: SharedLinkMetadata,
    /// What happened to those that listen, as long as nobody has asked.
    pub events: VecDeque<ListenEvent>,
}

impl PathSockets {
    pub fn add_uplink(&mut self, uplink: Uplink, owner: Option<AssociationId>) {
        self.link_metadata.lock().names.insert(LinkId(self.next), uplink.name.clone());
        self.all.push(SocketSlot::new(self.next, Some((uplink, owner))));
        self.next += 1;
    }

    /// Sets the association of all uplinks added so far.
    pub fn set_owner(&mut self, owner: AssociationId) {
        for (_, of) in self.all.iter_mut().filter_map(|l| l.uplink.as_mut()) {
            *of = Some(owner);
        }
    }

    /// Adds a socket that listens, opened as `spec` has it.
    pub fn add_listening(&mut self, socket: PathSocket, spec: BindSpec) {
        self.all.push(SocketSlot::listening(self.next, socket, spec));
        self.next += 1;
    }

    pub fn forget(&mut self, id: LinkId) {
        self.all.retain(|l| l.id != id || l.uplink.is_none());
    }

    pub fn iter(&self) -> impl Iterator<Item = &SocketSlot> {
        self.all.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut SocketSlot> {
        self.all.iter_mut()
    }

    /// Local addresses of all open sockets.
    pub fn locals(&self) -> Vec<(LinkId, SocketAddr)> {
        self.all.iter().filter_map(|l| Some((l.id, l.socket.as_ref()?.local_addr()))).collect()
    }

    /// When [`PathSockets::listen_again`] is to be called, or one that failed to receive is to be asked again.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.all.iter().filter_map(SocketSlot::deadline).min()
    }

    /// Opens those again that are to listen and do not.
    pub fn listen_again(&mut self, now: Instant) {
        self.all.iter_mut().for_each(|slot| slot.listen_again(now, &mut self.events));
    }

    /// Sends queued datagrams; whether any were sent.
    pub fn flush(&mut self, cx: &mut Context<'_>) -> bool {
        self.all.iter_mut().fold(false, |any, slot| slot.flush(cx) | any)
    }

    /// Sends datagrams. `Err`: datagrams of this size are too big.
    pub fn send(&mut self, transmit: &association::Transmit, contents: &[u8]) -> Result<(), usize> {
        let association::Transmit { tuple, segment_size, fragment, .. } = transmit;
        let Some(slot) = self.all.iter_mut().find(|l| l.id == tuple.link) else { return Ok(()) };
        slot.send(tuple, *segment_size, *fragment, contents)
    }
}

/// The current interfaces; none if the system does not list them.
pub(super) fn current_interfaces() -> Vec<Interface> {
    crate::interface::interfaces().unwrap_or_else(|_: io::Error| Vec::new())
}
