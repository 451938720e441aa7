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
    /// True if the link counts frames and reports them to the agents whose routes begin with it.
    pub wireless: bool,
    /// True if its random loss spares background load.
    pub spares_background: bool,
    pub(super) alarm: Option<Instant>,
    /// Packets of a wireless link that are not fully serialised.
    pub(super) departing: VecDeque<Departing>,
    /// Frames that left a wireless link.
    pub(super) frames: Frames,
}

/// A packet that waits for a wireless link's transmitter, or is in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departing {
    pub at: Instant,
    pub len: u32,
    pub lost: bool,
    /// Number of retransmissions by the link.
    pub retransmissions: u8,
    pub from: AgentId,
}

/// Frames sent by a wireless link, each transmission counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    pub sent: u64,
    /// Frames sent in error, and then retransmitted.
    pub retransmissions: u64,
    /// Frames sent in error, and abandoned.
    pub failed: u64,
}

impl Frames {
    /// Counts a frame that has left its link and returns the report for its sender.
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
    /// A link.
    Link(DirectedLinkId),
    /// A radio, from one station to another, hop by hop along the routers' routes.
    Radio {
        /// Radio.
        radio: RadioId,
        /// Station at which the packet enters the radio.
        from: StationId,
        /// Station at which it leaves.
        to: StationId,
    },
}

/// A route through the network, from one agent to another.
#[derive(Debug)]
pub struct Route {
    /// Agent that sends over the route.
    pub from: AgentId,
    /// Agent that receives.
    pub to: AgentId,
    /// Path number in its flow.
    pub path: u8,
    /// Links and radios in order.
    pub steps: Vec<Step>,
    /// Delay of the sending host.
    pub(super) nic: Option<Nic>,
}
