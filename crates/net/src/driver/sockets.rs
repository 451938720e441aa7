//! The driver's sockets. There is one socket per uplink or listening address. A closed socket is opened again as soon
//! as possible.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::Context;

use strandcast_proto::association;
use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, Tariff};
use strandcast_proto::time::Instant;

use super::slot::{ListenEvent, SocketSlot};
use super::snapshot::SharedLinkMetadata;
use super::uplink::Uplink;
use crate::interface::{Hardware, Interface};
use crate::socket::{BindSpec, PathSocket};

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketDirection {
    /// Received.
    Received,
    /// Sent.
    Sent,
}

/// Function that receives every SCTP packet, for captures. The packet is the UDP payload, or the plaintext of a sealed
/// datagram.
pub type PacketTap = Box<dyn FnMut(Instant, &FourTuple, PacketDirection, &[u8]) + Send>;

/// A client's request for an uplink. If it is a pattern, it stands for one uplink per matching interface.
pub(super) struct Wish {
    pub uplink: Uplink,
    /// The association. `None` before it is opened.
    pub owner: Option<AssociationId>,
    /// True once the association is connected.
    pub connected: bool,
}

/// An uplink that uses one interface or one address, and its current route to the peer.
pub(super) struct UplinkState {
    pub id: LinkId,
    /// The uplink, with the current name of its interface.
    pub uplink: Uplink,
    /// Number of the request.
    pub wish: usize,
    /// Index of the interface. If the interface has disappeared, its last index is kept. `None` if the uplink only has
    /// an address.
    pub index: Option<u32>,
    /// Hardware of the interface. If the interface has disappeared, its last hardware.
    pub hardware: Hardware,
    /// False while the uplink's interface has disappeared.
    pub present: bool,
    /// The association; `None` before it is opened.
    pub owner: Option<AssociationId>,
    /// True once the association is connected. From then on, paths can be added and removed.
    pub connected: bool,
    /// The peer address that answered last.
    pub chosen: Option<SocketAddr>,
    /// Time since which no peer address has answered.
    pub bad_since: Option<Instant>,
}

/// All sockets of one driver.
#[derive(Default)]
pub(super) struct PathSockets {
    all: Vec<SocketSlot>,
    pub wishes: Vec<Wish>,
    pub uplinks: Vec<UplinkState>,
    /// The costs of links, by the name of the link. The link may be added later.
    pub tariffs: Vec<(String, Tariff)>,
    /// Number of the next link.
    pub next: u32,
    pub link_metadata: SharedLinkMetadata,
    /// Events of listening sockets, until a caller takes them.
    pub events: VecDeque<ListenEvent>,
}

impl PathSockets {
    /// Sets the association of all present uplinks.
    pub fn set_owner(&mut self, owner: AssociationId) {
        self.wishes.iter_mut().for_each(|wish| wish.owner = Some(owner));
        self.uplinks.iter_mut().for_each(|uplink| uplink.owner = Some(owner));
    }

    /// Records that an association is connected.
    pub fn connected(&mut self, owner: AssociationId) {
        let of_it = self.wishes.iter_mut().filter(|wish| wish.owner == Some(owner));
        of_it.for_each(|wish| wish.connected = true);
        let of_it = self.uplinks.iter_mut().filter(|uplink| uplink.owner == Some(owner));
        of_it.for_each(|uplink| uplink.connected = true);
    }

    /// Returns whether an uplink is trying several routes.
    pub fn are_racing(&self) -> bool {
        let tried = |id| self.all.iter().filter(move |slot| slot.id == id && slot.tried.is_some()).count();
        self.uplinks.iter().any(|uplink| tried(uplink.id) > 1)
    }

    /// The slots of an uplink.
    pub fn of_uplink(&self, at: usize) -> Vec<usize> {
        let Some(uplink) = self.uplinks.get(at) else { return Vec::new() };
        let slots = self.all.iter().enumerate().filter(|(_, slot)| slot.id == uplink.id);
        slots.map(|(slot, _)| slot).collect()
    }

    /// The slot of an uplink for a peer's address.
    pub fn slot_for(&mut self, at: usize, remote: SocketAddr) -> usize {
        let UplinkState { id, uplink, .. } = &self.uplinks[at];
        let known = self.all.iter().position(|slot| slot.id == *id && slot.remote == Some(remote));
        known.unwrap_or_else(|| {
            self.all.push(SocketSlot::path(*id, remote, uplink.spec.mtu));
            self.all.len() - 1
        })
    }

    /// Time of an uplink's last attempt at a peer's address.
    pub fn last_tried(&self, at: usize, remote: SocketAddr) -> Instant {
        let id = self.uplinks[at].id;
        let known = self.all.iter().find(|slot| slot.id == id && slot.remote == Some(remote));
        known.map_or(Instant::ZERO, |slot| slot.last_tried)
    }

    pub fn slot(&self, slot: usize) -> &SocketSlot {
        &self.all[slot]
    }

    pub fn slot_mut(&mut self, slot: usize) -> &mut SocketSlot {
        &mut self.all[slot]
    }

    /// Each uplink, with name and index of its interface.
    pub fn links<'a>(&self, interfaces: &'a [Interface]) -> Vec<(LinkId, Option<(&'a str, u32)>)> {
        let interface = |of: &UplinkState| {
            let mut tried = self.all.iter().filter(|slot| slot.id == of.id && slot.tried.is_some());
            tried.find_map(|slot| slot.interface(&of.uplink.spec, interfaces))
        };
        self.uplinks.iter().map(|uplink| (uplink.id, interface(uplink))).collect()
    }

    /// Adds a listening socket, opened with the binding `spec`.
    pub fn add_listening(&mut self, socket: PathSocket, spec: BindSpec) {
        self.all.push(SocketSlot::listening(LinkId(self.next), socket, spec));
        self.next += 1;
    }

    /// Removes the sockets of an uplink.
    pub fn drop_slots(&mut self, id: LinkId) {
        self.all.retain(|slot| slot.id != id || slot.remote.is_none());
    }

    /// Returns whether an uplink has a socket or a path.
    pub fn is_used(&self, id: LinkId) -> bool {
        self.all.iter().any(|slot| slot.id == id && (slot.socket.is_some() || slot.placed.is_some()))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut SocketSlot> {
        self.all.iter_mut()
    }

    /// Local addresses of all open sockets.
    pub fn locals(&self) -> Vec<(LinkId, SocketAddr)> {
        self.all.iter().filter_map(|l| Some((l.id, l.socket.as_ref()?.local_addr()))).collect()
    }

    /// Time of the next [`PathSockets::listen_again`], or of the next attempt to receive after an error.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.all.iter().filter_map(SocketSlot::deadline).min()
    }

    /// Opens closed listening sockets again.
    pub fn listen_again(&mut self, now: Instant) {
        self.all.iter_mut().for_each(|slot| slot.listen_again(now, &mut self.events));
    }

    /// Sends datagrams that wait. Returns whether any datagrams were sent.
    pub fn flush(&mut self, cx: &mut Context<'_>) -> bool {
        self.all.iter_mut().fold(false, |any, slot| slot.flush(cx) | any)
    }

    /// Sends datagrams. Returns an error if datagrams of this size are too big.
    pub fn send(&mut self, transmit: &association::Transmit, contents: &[u8]) -> Result<(), usize> {
        let association::Transmit { tuple, segment_size, fragment, .. } = transmit;
        let Some(slot) = self.all.iter_mut().find(|l| l.serves(tuple.link, tuple.local)) else {
            return Ok(());
        };
        slot.send(tuple, *segment_size, *fragment, contents)
    }
}
