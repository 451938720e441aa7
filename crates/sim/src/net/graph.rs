//! Links and routes of a network.

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
    /// The emulated link.
    pub link: Link<Box<Packet>>,
    /// True if the link counts its frames. A link that counts its frames reports the counts to agents whose routes
    /// begin with it.
    pub wireless: bool,
    /// True if the random loss of this link spares background load.
    pub spares_background: bool,
    pub(super) alarm: Option<Instant>,
    /// Packets of a wireless link that are not completely serialised yet.
    pub(super) departing: VecDeque<Departing>,
    /// Counts of the frames that left a wireless link.
    pub(super) frames: Frames,
}

/// Other parts of the network that a link needs.
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

    /// Adds a packet to the link, and reports the packet's outcome.
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

    /// Lets a managed queue send the packets whose turn has come.
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
    /// Records a frame that a wireless link accepted, until its last bit has left.
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

/// A packet of a wireless link that waits for the transmitter or is being transmitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departing {
    pub at: Instant,
    pub len: u32,
    pub lost: bool,
    /// Number of retransmissions of the packet by the link.
    pub retransmissions: u8,
    pub from: AgentId,
}

/// Counts of the frames that a wireless link sent. Each transmission counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frames {
    pub sent: u64,
    /// Number of frame errors after which the link retransmitted the frame.
    pub retransmissions: u64,
    /// Number of frame errors after which the link gave up the frame.
    pub failed: u64,
}

impl Frames {
    /// Counts a frame that has left its link. Returns the report for the frame's sender.
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

/// A step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The route leads over a link.
    Link(DirectedLinkId),
    /// The route leads over a radio, from one station to another. Packets go hop by hop along the routes of the
    /// routers.
    Radio {
        /// The radio of this step.
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
    /// Agent that sends on the route.
    pub from: AgentId,
    /// Agent that receives from the route.
    pub to: AgentId,
    /// Number of the path in its flow.
    pub path: u8,
    /// Steps of the route, in order.
    pub steps: Vec<Step>,
    /// Random delay of packets in the sending host.
    pub(super) nic: Option<Nic>,
}
