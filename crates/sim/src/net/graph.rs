//! Links and routes.

use std::collections::VecDeque;

use strandcast_netem::link::Link;
use strandcast_proto::policy::LinkSample;
use strandcast_proto::time::Instant;
use strandcast_radio::StationId;

use super::ids::{AgentId, DirectedLinkId, RadioId};
use super::nic::Nic;
use super::packet::Packet;

/// One direction of a link.
#[derive(Debug)]
pub struct DirectedLink {
    /// The link itself.
    pub link: Link<Packet>,
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

impl Frames {
    /// Counts a frame that has left its link; what its sender hears.
    pub fn count(&mut self, frame: &Departing) -> LinkSample {
        self.sent += 1 + u64::from(frame.retransmissions);
        self.retransmissions += u64::from(frame.retransmissions);
        self.failed += u64::from(frame.lost);
        LinkSample {
            tx_frames: self.sent,
            tx_retries: self.retransmissions,
            tx_failed: self.failed,
            frame_bytes: Some(f64::from(frame.len)),
            departure: Some((frame.at, u64::from(frame.len))),
            ..LinkSample::default()
        }
    }
}

/// A part of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Over a link.
    Link(DirectedLinkId),
    /// From one station of a radio to another, hop by hop as the stations' routers find.
    Radio {
        /// Which radio.
        radio: RadioId,
        /// Where the packet enters it.
        from: StationId,
        /// Where it leaves it.
        to: StationId,
    },
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
    /// Links and radios in order.
    pub steps: Vec<Step>,
    /// The sending host's own delay.
    pub(super) nic: Option<Nic>,
}
