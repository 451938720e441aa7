//! The two ends of a flow whose packets come from programs outside the simulation.

use std::collections::VecDeque;

use bytes::Bytes;
use strandcast_proto::time::Instant;

use crate::net::{Agent, AgentOutput, Body, Framing, Outgoing, Packet, RouteId};

/// One end of such a flow. The end sends the IP packets that an outside program passes to it, and keeps packets that
/// arrive.
#[derive(Debug)]
pub struct Tap {
    /// Route of each path.
    routes: Vec<RouteId>,
    outgoing: Vec<Outgoing>,
    arrived: VecDeque<Arrival>,
}

/// An IP packet that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Path by which the packet arrived.
    pub path: u8,
    /// Time at which the packet arrived.
    pub at: Instant,
    /// Bytes of the packet, starting with its IP header.
    pub packet: Bytes,
}

impl Tap {
    /// Creates an end that sends over `routes`. Each path has one route.
    pub fn new(routes: Vec<RouteId>) -> Self {
        Tap { routes, outgoing: Vec::new(), arrived: VecDeque::new() }
    }

    /// Queues a packet, which is sent over a path at the next run. If the path does not exist, the packet is dropped.
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

    /// Removes and returns the oldest packet that has arrived.
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
