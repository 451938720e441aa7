//! Links and routes.

use std::collections::VecDeque;

use strandcast_netem::engine::Engine;
use strandcast_netem::link::{EnqueueOutcome, Link};
use strandcast_proto::policy::LinkSample;
use strandcast_proto::time::Instant;
use strandcast_radio::StationId;

use super::event::Event;
use super::ids::{AgentId, DirectedLinkId, RadioId};
use super::nic::Nic;
use super::observer::Observer;
use super::packet::{Packet, PacketMeta};

/// One direction of a link.
#[derive(Debug)]
pub struct DirectedLink {
    /// The link itself.
    pub link: Link<Box<Packet>>,
    /// True if the link counts frames and reports them to the agents whose routes begin with it.
    pub wireless: bool,
    /// True if the link's random loss spares background load.
    pub spares_background: bool,
    pub(super) alarm: Option<Instant>,
    /// Packets of a wireless link that are not fully serialised.
    pub(super) departing: VecDeque<Departing>,
    /// Frames that left a wireless link.
    pub(super) frames: Frames,
}

/// Parts of the network that a link needs.
pub(super) struct Around<'a, W> {
    pub routes: &'a [Route],
    pub engine: &'a mut Engine<Event>,
    pub observer: &'a mut W,
}

impl DirectedLink {
    pub(super) fn new(link: Link<Box<Packet>>) -> Self {
        DirectedLink {
            link,
            wireless: false,
            spares_background: false,
            alarm: None,
            departing: VecDeque::new(),
            frames: Frames::default(),
        }
    }

    /// Takes a packet, and reports its outcome.
    pub(super) fn enter<W: Observer>(
        &mut self,
        now: Instant,
        id: DirectedLinkId,
        packet: Box<Packet>,
        mut around: Around<'_, W>,
    ) {
        self.serve(now, id, &mut around);
        let meta = packet.meta;
        let outcome = self.link.enqueue(now, packet, meta.len as usize);
        around.observer.offered(now, id, &meta, outcome);
        if self.wireless {
            around.note_departure(id, &mut self.departing, &meta, outcome);
        }
        self.serve(now, id, &mut around);
    }

    /// Lets a managed queue send the packets that are due.
    pub(super) fn serve<W: Observer>(
        &mut self,
        now: Instant,
        id: DirectedLinkId,
        around: &mut Around<'_, W>,
    ) {
        let DirectedLink { link, wireless, departing, .. } = self;
        link.serve(now, |packet, outcome| {
            around.observer.decided(now, id, &packet.meta, outcome);
            if *wireless {
                around.note_departure(id, departing, &packet.meta, outcome);
            }
        });
    }
}

impl<W> Around<'_, W> {
    /// Stores a frame that a wireless link has accepted, until its last bit has left.
    fn note_departure(
        &mut self,
        id: DirectedLinkId,
        departing: &mut VecDeque<Departing>,
        meta: &PacketMeta,
        outcome: EnqueueOutcome,
    ) {
        let EnqueueOutcome::Taken { departs, lost, retransmissions } = outcome else { return };
        let from = self.routes[meta.route.index()].from;
        departing.push_back(Departing { at: departs, len: meta.len, lost, retransmissions, from });
        self.engine.schedule(departs, Event::Departed(id));
    }
}

/// A packet that waits for the transmitter of a wireless link, or that is being transmitted.
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
    /// Number of frames in error that were retransmitted.
    pub retransmissions: u64,
    /// Number of frames in error that were abandoned.
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
        /// Station at which the packet leaves the radio.
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
