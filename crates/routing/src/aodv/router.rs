//! Interface between AODV and its node: datagrams, link failures with local repair (RFC 3561 §6.12), and timers.

use core::time::Duration;

use strandcast_proto::time::Instant;

use super::config::Repair;
use super::entry::State;
use super::protocol::{Aodv, LOOK, SPACING};
use crate::address::Address;
use crate::counters::{Counters, Origin};
use crate::datagram::{Datagram, Packet};
use crate::message::{Message, Unreachable};
use crate::node::{Body, Context, Link, PathReport, Routing, arrive};
use crate::output::{DropCause, RoutingOutput};
use crate::sequence::ended;

impl<B: Body> Routing<B> for Aodv<B> {
    fn originate(&mut self, context: &Context, datagram: Datagram<B>, out: &mut RoutingOutput<B>) {
        if datagram.destination == self.address {
            return out.deliver.push(datagram);
        }
        self.route(context.now, datagram, out);
    }

    fn handle_datagram(
        &mut self,
        context: &Context,
        _link: Link,
        datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    ) {
        if let Some(datagram) = arrive(self.address, datagram, &mut self.counters, out) {
            self.route(context.now, datagram, out);
        }
    }

    fn handle_message(
        &mut self,
        context: &Context,
        link: Link,
        message: Message,
        out: &mut RoutingOutput<B>,
    ) {
        match message {
            Message::Request(request) => self.handle_request(context.now, link.from, request, out),
            Message::Reply(reply) => self.handle_reply(context.now, link.from, reply, out),
            Message::Error(list) => self.handle_error(link.from, &list, out),
            Message::Hello { .. } | Message::Probe => {}
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
        if self.repairs_here(to, &datagram) {
            return self.repair(context.now, datagram, out);
        }
        self.counters.drop(out, datagram, DropCause::LinkFailed);
        while let Some(packet) = queued() {
            if let Packet::Data(datagram) = packet {
                self.counters.drop(out, datagram, DropCause::LinkFailed);
            }
        }
        self.lose(to, out);
    }

    fn handle_reclaimed(
        &mut self,
        _context: &Context,
        _to: Address,
        packet: Packet<B>,
        out: &mut RoutingOutput<B>,
    ) {
        if let Packet::Data(datagram) = packet {
            self.counters.drop(out, datagram, DropCause::LinkFailed);
        }
    }

    fn handle_timeout(&mut self, context: &Context, out: &mut RoutingOutput<B>) {
        let now = context.now;
        while let Some(at) = self.repairs.iter().position(|(until, _)| *until <= now) {
            let (_, destination) = self.repairs.swap_remove(at);
            self.end_repair(destination, out);
        }
        while self.next_look <= now {
            self.next_look += LOOK;
            self.look_through(now, out);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let repair = self.repairs.iter().map(|(until, _)| *until).min();
        Some(repair.map_or(self.next_look, |until| until.min(self.next_look)))
    }

    fn paths(&self, _now: Instant, destination: Address) -> Vec<PathReport> {
        let usable = self.table.get(destination).filter(|entry| entry.usable());
        let report = usable.map(|entry| PathReport {
            next_hop: entry.next_hop,
            last_hop: None,
            hops: entry.hops,
            bandwidth: None,
            delay: None,
            sequence: Some(entry.sequence),
            advertised: None,
        });
        report.into_iter().collect()
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn waiting(&self) -> usize {
        self.buffer.len()
    }
}

impl<B: Body> Aodv<B> {
    /// Returns whether this node is nearer to the destination than to the source of `datagram`. RFC 3561 §6.12 repairs
    /// only the broken route. ns-2.35 repairs even if the route already has another next hop.
    fn repairs_here(&self, to: Address, datagram: &Datagram<B>) -> bool {
        let Some(entry) = self.table.get(datagram.destination) else { return false };
        let nearer = entry.finite() && datagram.hops > entry.hops;
        match self.config.repair {
            Repair::Ns2 => nearer,
            Repair::Rfc => nearer && entry.next_hop == to,
            Repair::Off => false,
        }
    }

    fn repair(&mut self, now: Instant, datagram: Datagram<B>, out: &mut RoutingOutput<B>) {
        let destination = datagram.destination;
        self.buffer.push(now, datagram, &mut self.counters, out);
        let slot = self.slot(destination);
        let entry = &mut self.table[slot];
        self.counters.repairs += u64::from(entry.state == State::Up);
        if self.config.repair == Repair::Rfc && entry.state == State::Up {
            entry.sequence = ended(entry.sequence);
        }
        entry.state = State::InRepair;
        self.search(now, slot, out);
        let Some(until) = self.table[slot].search.until() else { return };
        // ns-2.35 uses the time of the next request as if it were the time until it.
        let until = match self.config.repair {
            Repair::Ns2 => now + Duration::from_nanos(until.as_nanos()),
            Repair::Rfc | Repair::Off => until,
        };
        match self.repairs.iter_mut().find(|(_, repaired)| *repaired == destination) {
            Some(repair) => repair.0 = repair.0.min(until),
            None => self.repairs.push((until, destination)),
        }
    }

    /// Ends a local repair that failed. ns-2.35 sends no route error in this case, and keeps the sequence number. Nodes
    /// whose routes lead through this node could then answer the next request. Such an answer would cause a loop. For
    /// this reason, this implementation increases the sequence number.
    fn end_repair(&mut self, destination: Address, out: &mut RoutingOutput<B>) {
        let Some(entry) = self.table.get_mut(destination).filter(|entry| entry.state == State::InRepair)
        else {
            return;
        };
        if self.config.repair == Repair::Ns2 {
            return entry.end();
        }
        entry.down();
        let lost = Unreachable { destination, sequence: entry.sequence };
        self.send_errors(vec![lost], Origin::Own, Duration::ZERO, out);
        self.drop_waiting(destination, out);
    }

    /// Ends expired routes and continues searches (as ns-2.35 does every 500 ms).
    fn look_through(&mut self, now: Instant, out: &mut RoutingOutput<B>) {
        let mut after = Duration::ZERO;
        for slot in 0..self.table.len() {
            let destination = self.table.destination(slot);
            let entry = &mut self.table[slot];
            if entry.usable() && entry.expires < now {
                entry.end();
                self.drop_waiting(destination, out);
            } else if entry.usable() {
                after = self.send_waiting(now, slot, after, SPACING, out);
            } else if self.buffer.contains(destination) {
                self.search(now, slot, out);
            }
        }
    }
}
