//! Nodes, links and routes.

use core::fmt::Debug;
use std::collections::VecDeque;

use strandcast_netem::link::Link;
use strandcast_proto::time::Instant;

use super::nic::Nic;
use super::{AgentId, Packet};

/// Names a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Names one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectedLinkId(pub u32);

/// Names a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteId(pub u32);

impl DirectedLinkId {
    /// Position in order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl RouteId {
    /// Position in order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One direction of a link, and the node it leads to.
#[derive(Debug)]
pub struct DirectedLink {
    /// The link itself.
    pub link: Link<Packet>,
    /// The node it leads to.
    pub to: NodeId,
    /// It counts frames and reports them to the agents that send over it first.
    pub wireless: bool,
    /// Its random loss takes flows' packets only, not those of background load.
    pub spares_background: bool,
    pub(super) alarm: Option<Instant>,
    /// A wireless link's packets whose serialisation has not ended.
    pub(super) departing: VecDeque<Departing>,
    /// Frames that left a wireless link.
    pub(super) frames: Frames,
}

/// A packet in front of a wireless link's transmitter, or in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departing {
    pub at: Instant,
    pub len: u32,
    pub lost: bool,
    /// Retransmissions by the link.
    pub retransmissions: u8,
    pub from: AgentId,
}

/// What a wireless link has sent, each transmission counting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    pub sent: u64,
    /// Sent in error, and then again.
    pub retransmissions: u64,
    /// Sent in error, and given up.
    pub failed: u64,
}

/// A route through the network, from one agent to another.
#[derive(Debug)]
pub struct Route {
    /// The agent whose packets take it.
    pub from: AgentId,
    /// The agent that receives them.
    pub to: AgentId,
    /// Which of its flow's paths it is.
    pub path: u8,
    /// Links in order.
    pub wires: Vec<DirectedLinkId>,
    /// The sending host's own delay.
    pub(super) nic: Option<Nic>,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Over this link, which begins at the node.
    Over(DirectedLinkId),
    /// It has arrived.
    Here,
    /// There is no way for it.
    Nowhere,
}

/// How a node forwards. Nodes without one follow the packet's route.
pub trait Forward: Debug + Send {
    /// The next hop of a packet that is at this node.
    fn forward(&mut self, now: Instant, packet: &Packet, route: &Route) -> Hop;
}
