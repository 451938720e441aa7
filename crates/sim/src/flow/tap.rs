//! The ends of a flow whose packets come from programs outside the simulation.

use std::collections::VecDeque;

use bytes::Bytes;
use strandcast_proto::time::Instant;

use crate::net::{Agent, AgentOutput, Body, Framing, Outgoing, Packet, RouteId};

/// One end: it sends the IP packets that a program outside hands to it, and keeps those that arrive.
#[derive(Debug)]
pub struct Tap {
    /// Route of each path.
    routes: Vec<RouteId>,
    outgoing: Vec<Outgoing>,
    arrived: VecDeque<Arrival>,
}

/// An IP packet that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Path by which the packet arrived.
    pub path: u8,
    /// Time of its arrival.
    pub at: Instant,
    /// The packet, from its IP header on.
    pub packet: Bytes,
}

impl Tap {
    /// Creates an end that sends over `routes`, one for each path.
    pub fn new(routes: Vec<RouteId>) -> Self {
        Tap { routes, outgoing: Vec::new(), arrived: VecDeque::new() }
    }

    /// Sends a packet over a path at the next run. A packet for a path that does not exist is dropped.
    pub fn send(&mut self, path: u8, packet: Bytes) {
        let Some(&route) = self.routes.get(usize::from(path)) else { return };
        let len = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        self.outgoing.push(Outgoing {
            route,
            len,
            payload: len,
            retransmission: false,
            framing: Framing::default(),
            body: Body::Ip(packet),
        });
    }

    /// Returns the oldest packet that has arrived.
    pub fn receive(&mut self) -> Option<Arrival> {
        self.arrived.pop_front()
    }
}

impl Agent for Tap {
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, _: &mut AgentOutput) {
        let Body::Ip(bytes) = packet.take_body() else { return };
        self.arrived.push_back(Arrival { path: packet.meta.path, at: now, packet: bytes });
    }

    fn run(&mut self, _: Instant, out: &mut AgentOutput) {
        out.packets.append(&mut self.outgoing);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
