//! The two ends of background load: a TCP connection, and datagrams in parallel to it.

use strandcast_proto::time::Instant;

use super::tcp::outgoing;
use crate::net::{Agent, AgentOutput, Body, Datagram, Framing, Outgoing, Packet, RouteId, TraceEvent};
use crate::tcp::{Config, Receiver, Sender};
use crate::traffic::{BackgroundEvent, BackgroundSource, Via};

/// Sender of the packets that a source of background load produces. At each new draw of the load, the TCP connection
/// drops its unsent backlog. UDP packets are sent immediately.
#[derive(Debug)]
pub struct BackgroundSender {
    source: BackgroundSource,
    next: Option<BackgroundEvent>,
    sender: Sender,
    route: RouteId,
    datagrams: u64,
    begun: bool,
}

impl BackgroundSender {
    /// Creates a sender that uses one route.
    pub fn new(mut source: BackgroundSource, sender: Sender, route: RouteId) -> Self {
        let next = source.next();
        BackgroundSender { source, next, sender, route, datagrams: 0, begun: false }
    }

    fn next_at(&self) -> Option<Instant> {
        self.next.map(|event| match event {
            BackgroundEvent::Packet { at, .. } | BackgroundEvent::Redraw { at, .. } => at,
        })
    }

    fn offer(&mut self, now: Instant, out: &mut AgentOutput) {
        while self.next_at().is_some_and(|at| at <= now) {
            match core::mem::replace(&mut self.next, self.source.next()) {
                Some(BackgroundEvent::Packet { bytes, via, .. }) => {
                    out.events.push(TraceEvent::Submitted { message: 0, bytes });
                    self.send(now, bytes, via, out);
                }
                Some(BackgroundEvent::Redraw { .. }) => {
                    self.sender.drop_backlog();
                    out.events.push(TraceEvent::Redrawn);
                }
                None => {}
            }
        }
    }

    fn send(&mut self, now: Instant, bytes: u32, via: Via, out: &mut AgentOutput) {
        match via {
            // The TCP header is added when the packet is sent; a packet smaller than a header still sends a
            // byte.
            Via::Tcp => {
                self.sender.write(u64::from(bytes.saturating_sub(self.sender.config().header).max(1)))
            }
            Via::Udp => {
                let body = Body::Udp(Datagram { message: self.datagrams, submitted: now });
                self.datagrams += 1;
                out.packets.push(Outgoing {
                    route: self.route,
                    len: bytes,
                    payload: bytes,
                    retransmission: false,
                    framing: Framing::default(),
                    body,
                });
            }
        }
    }
}

impl Agent for BackgroundSender {
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, _: &mut AgentOutput) {
        if let Body::Tcp(segment) = &packet.body {
            self.sender.handle_segment(now, segment);
        }
    }

    fn run(&mut self, now: Instant, out: &mut AgentOutput) {
        if !core::mem::replace(&mut self.begun, true) {
            self.sender.add_subflow(now);
        }
        self.offer(now, out);
        if self.sender.poll_timeout().is_some_and(|at| at <= now) {
            self.sender.handle_timeout(now);
        }
        while let Some(segment) = self.sender.poll_output(now) {
            out.packets.push(outgoing(self.route, segment, self.sender.config()));
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next_at().into_iter().chain(self.sender.poll_timeout()).min()
    }
}

/// Receiver of background load. The receiver acknowledges TCP packets.
#[derive(Debug)]
pub struct BackgroundSink {
    receiver: Receiver,
    config: Config,
    route: RouteId,
}

impl BackgroundSink {
    /// Creates a receiver that sends its acknowledgements over one route.
    pub fn new(config: Config, route: RouteId) -> Self {
        BackgroundSink { receiver: Receiver::new(config.clone()), config, route }
    }
}

impl Agent for BackgroundSink {
    fn handle_packet(&mut self, now: Instant, packet: &mut Packet, out: &mut AgentOutput) {
        let meta = packet.meta;
        let (sequence, new) = match &packet.body {
            Body::Tcp(segment) => {
                let arrival = self.receiver.handle_segment(now, segment);
                (Some(segment.seq as u32), arrival.is_some_and(|arrival| arrival.new))
            }
            Body::Udp(_) => (None, true),
            _ => return,
        };
        let (path, sent, wire, payload) = (meta.path, meta.sent, meta.len, meta.payload);
        out.events.push(TraceEvent::Arrived { path, sent, wire, payload, sequence, new });
    }

    fn run(&mut self, now: Instant, out: &mut AgentOutput) {
        if self.receiver.poll_timeout().is_some_and(|at| at <= now) {
            self.receiver.handle_timeout(now);
        }
        while let Some(segment) = self.receiver.poll_output(now) {
            out.packets.push(outgoing(self.route, segment, &self.config));
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.receiver.poll_timeout()
    }
}
