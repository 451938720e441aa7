//! Interface between AOMDV and its node.

use strandcast_proto::time::Instant;

use super::protocol::{Aomdv, LOOK};
use crate::address::Address;
use crate::counters::{Counters, Origin};
use crate::datagram::{Datagram, Packet};
use crate::message::Message;
use crate::node::{Body, Context, Link, PathReport, Routing, arrive};
use crate::output::{DropCause, NextHop, RoutingOutput};
use crate::search::INFINITE_HOPS;

impl<B: Body> Routing<B> for Aomdv<B> {
    fn originate(&mut self, context: &Context, datagram: Datagram<B>, out: &mut RoutingOutput<B>) {
        if datagram.destination == self.address {
            return out.deliver.push(datagram);
        }
        let Some(scheduler) = &mut self.scheduler else {
            return self.route(context, None, datagram, out);
        };
        if let Err(surplus) = scheduler.push(datagram) {
            self.counters.drop(out, surplus, DropCause::SplitQueue);
        }
        self.drain(context, out);
    }

    fn handle_datagram(
        &mut self,
        context: &Context,
        link: Link,
        datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    ) {
        if let Some(qos) = &mut self.qos {
            qos.on_received(link.from, link.delay);
        }
        if let Some(datagram) = arrive(self.address, datagram, &mut self.counters, out) {
            self.route(context, Some(link.from), datagram, out);
        }
    }

    fn handle_message(
        &mut self,
        context: &Context,
        link: Link,
        message: Message,
        out: &mut RoutingOutput<B>,
    ) {
        if let (Some(qos), Message::Reply(_) | Message::Probe) = (&mut self.qos, &message) {
            qos.on_received(link.from, link.delay);
        }
        match message {
            Message::Request(request) => self.handle_request(context, link.from, request, out),
            Message::Reply(reply) => self.handle_reply(context, link.from, reply, out),
            Message::Error(list) => self.handle_error(link.from, &list, out),
            Message::Hello { sequence } => self.handle_hello(context, link.from, sequence, out),
            Message::Probe => {}
        }
    }

    fn handle_link_failure(
        &mut self,
        context: &Context,
        to: Address,
        packet: Packet<B>,
        queued: &mut dyn FnMut() -> Option<Packet<B>>,
        out: &mut RoutingOutput<B>,
    ) {
        // ns-2.35: only data reveal a lost link.
        let Packet::Data(datagram) = packet else { return };
        if self.hellos.is_some() {
            return self.counters.drop(out, datagram, DropCause::LinkFailed);
        }
        self.lose(to, out);
        self.salvage(context, datagram, out);
        while let Some(packet) = queued() {
            if let Packet::Data(datagram) = packet {
                self.salvage(context, datagram, out);
            }
        }
    }

    fn handle_reclaimed(
        &mut self,
        context: &Context,
        _to: Address,
        packet: Packet<B>,
        out: &mut RoutingOutput<B>,
    ) {
        if let Packet::Data(datagram) = packet {
            self.salvage(context, datagram, out);
        }
    }

    fn handle_room(&mut self, context: &Context, out: &mut RoutingOutput<B>) {
        self.drain(context, out);
    }

    fn handle_timeout(&mut self, context: &Context, out: &mut RoutingOutput<B>) {
        if self.qos.as_mut().is_some_and(|qos| qos.handle_timeout(context)) {
            let after = self.jitter();
            self.transmit(Origin::Own, NextHop::All, Message::Probe, after, out);
        }
        self.greet(context.now, out);
        while self.next_look <= context.now {
            self.next_look += LOOK;
            self.look_through(context, out);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let others = [self.hellos.as_ref().map(|h| h.next()), self.qos.as_ref().map(|q| q.next())];
        others.into_iter().flatten().chain([self.next_look]).min()
    }

    fn paths(&self, _now: Instant, destination: Address) -> Vec<PathReport> {
        let Some(entry) = self.table.get(destination) else { return Vec::new() };
        let order = self.choice.order(&entry.paths);
        let report = |at: usize| {
            let path = &entry.paths[at];
            PathReport {
                next_hop: path.next_hop,
                last_hop: Some(path.last_hop),
                hops: path.hops,
                bandwidth: path.quality.map(|quality| quality.bandwidth),
                delay: path.quality.map(|quality| quality.delay),
                sequence: Some(entry.sequence),
                advertised: Some(entry.advertised).filter(|hops| *hops != INFINITE_HOPS),
            }
        };
        order.into_iter().map(report).collect()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn waiting(&self) -> usize {
        self.buffer.len() + self.scheduler.as_ref().map_or(0, |scheduler| scheduler.len())
    }
}

impl<B: Body> Aomdv<B> {
    /// Sends datagrams from the queues of the split while the interface queue has room. Retransmissions come first.
    fn drain(&mut self, context: &Context, out: &mut RoutingOutput<B>) {
        while out.transmit.len() < context.room
            && let Some(datagram) = self.scheduler.as_mut().and_then(|scheduler| scheduler.pop())
        {
            self.route(context, None, datagram, out);
        }
    }
}
