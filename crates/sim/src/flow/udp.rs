//! The two ends of a UDP flow.

use strandcast_proto::time::Instant;

use super::Feed;
use crate::net::{Agent, AgentOutput, Body, Datagram, Framing, Outgoing, Packet, RouteId, TraceEvent};

/// Sender of a source's messages by UDP, without feedback.
#[derive(Debug)]
pub struct UdpSender {
    feed: Feed,
    route: RouteId,
    /// Bytes of the IP and UDP headers per datagram.
    header: u32,
    message: u64,
}

impl UdpSender {
    /// Creates a sender of the messages of `feed`, at their times.
    pub fn new(feed: Feed, route: RouteId, header: u32) -> Self {
        UdpSender { feed, route, header, message: 0 }
    }
}

impl Agent for UdpSender {
    fn handle_packet(&mut self, _: Instant, _: &mut Packet, _: &mut AgentOutput) {}

    fn run(&mut self, now: Instant, out: &mut AgentOutput) {
        while let Some(emission) = self.feed.peek(now) {
            let datagram = Datagram { message: self.message, submitted: emission.at };
            out.events.push(TraceEvent::Submitted { message: self.message, bytes: emission.bytes });
            out.packets.push(Outgoing {
                route: self.route,
                len: emission.bytes + self.header,
                payload: emission.bytes,
                retransmission: false,
                framing: Framing::default(),
                body: Body::Udp(datagram),
            });
            self.message += 1;
            self.feed.take();
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.feed.next_at()
    }
}

/// Receiver of datagrams.
#[derive(Debug, Default)]
pub struct UdpSink {
    seen: u64,
}

impl Agent for UdpSink {
    fn handle_packet(&mut self, _: Instant, packet: &mut Packet, out: &mut AgentOutput) {
        let Body::Udp(Datagram { message, submitted }) = packet.body else { return };
        let meta = packet.meta;
        out.events.push(TraceEvent::Arrived {
            path: meta.path,
            sent: meta.sent,
            wire: meta.len,
            payload: meta.payload,
            sequence: Some(message as u32),
            // Only links duplicate datagrams, and a copy follows its original immediately.
            new: message >= self.seen,
        });
        self.seen = self.seen.max(message + 1);
        out.events.push(TraceEvent::Delivered { message, bytes: meta.payload, submitted });
    }

    fn run(&mut self, _: Instant, _: &mut AgentOutput) {}

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
