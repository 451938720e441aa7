//! AODV: requests, replies and errors (RFC 3561 §6), as ns-2.35 implements them.

use core::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::config::{AodvConfig, FirstSearch, Repair};
use super::entry::{Entry, State};
use crate::address::Address;
use crate::buffer::SendBuffer;
use crate::counters::{Counters, Origin};
use crate::datagram::{Datagram, Packet};
use crate::message::{Message, Reply, Request, Unreachable};
use crate::output::{DropCause, NextHop, RoutingOutput, Transmit};
use crate::search::{NETWORK_DIAMETER, Step};
use crate::seen::Seen;
use crate::sequence::{announced, newer, newest};
use crate::table::Table;

/// Lifetime of a route that is in use (ACTIVE_ROUTE_TIMEOUT).
const ACTIVE_ROUTE: Duration = Duration::from_secs(10);
/// Lifetime of a route that its destination announces (MY_ROUTE_TIMEOUT).
const MY_ROUTE: Duration = Duration::from_secs(10);
/// Lifetime of the reverse route to the source of a request (REV_ROUTE_LIFE).
const REVERSE_ROUTE: Duration = Duration::from_secs(6);
/// Maximum pause between requests (MAX_RREQ_TIMEOUT).
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Longest time by which nodes delay their broadcasts at random, after they received one message.
const JITTER: f64 = 0.01;
/// Time between datagrams that waited for a route. In ns-2.35, it leaves time for ARP.
pub(super) const SPACING: Duration = Duration::from_millis(10);
/// Interval at which expired routes are removed from the table.
pub(super) const LOOK: Duration = Duration::from_millis(500);

/// State of AODV on one node.
#[derive(Clone, Debug)]
pub struct Aodv<B> {
    pub(super) address: Address,
    pub(super) config: AodvConfig,
    /// Sequence number for routes to this node.
    sequence: u32,
    /// Number of the next route request of this node.
    id: u32,
    pub(super) table: Table<Entry>,
    seen: Seen<()>,
    pub(super) buffer: SendBuffer<B>,
    jitter: Random,
    pub(super) next_look: Instant,
    /// Destinations in local repair, each with the time at which the repair fails if no route is found.
    pub(super) repairs: Vec<(Instant, Address)>,
    pub(super) counters: Counters,
}

impl<B> Aodv<B> {
    /// Creates AODV on the node `address`, with the node's `seeds`.
    pub fn new(address: Address, config: AodvConfig, seeds: &Seeds) -> Self {
        Aodv {
            address,
            config,
            sequence: 2,
            id: 1,
            table: Table::default(),
            seen: Seen::default(),
            buffer: SendBuffer::default(),
            jitter: seeds.stream("jitter"),
            next_look: Instant::ZERO + LOOK,
            repairs: Vec::new(),
            counters: Counters::default(),
        }
    }

    pub(super) fn slot(&mut self, destination: Address) -> usize {
        let ring = self.config.search == FirstSearch::Ring;
        self.table.slot_or_insert(destination, || Entry::new(ring))
    }

    /// Forwards a datagram, or queues it until a route is found.
    pub(super) fn route(&mut self, now: Instant, datagram: Datagram<B>, out: &mut RoutingOutput<B>) {
        let slot = self.slot(datagram.destination);
        let entry = &self.table[slot];
        if entry.usable() {
            self.forward(now, slot, datagram, Duration::ZERO, out);
        } else if datagram.source == self.address {
            self.buffer.push(now, datagram, &mut self.counters, out);
            self.search(now, slot, out);
        } else if entry.state == State::InRepair {
            self.buffer.push(now, datagram, &mut self.counters, out);
        } else {
            // RFC 3561 §6.11 (ii).
            let lost = Unreachable { destination: datagram.destination, sequence: entry.sequence };
            self.send_errors(vec![lost], Origin::Own, Duration::ZERO, out);
            self.counters.drop(out, datagram, DropCause::NoRoute);
        }
    }

    /// Sends a datagram to the next hop of a usable route.
    fn forward(
        &mut self,
        now: Instant,
        slot: usize,
        datagram: Datagram<B>,
        after: Duration,
        out: &mut RoutingOutput<B>,
    ) {
        let entry = &mut self.table[slot];
        entry.expires = now + ACTIVE_ROUTE;
        let to = NextHop::Neighbour(entry.next_hop);
        out.transmit.push(Transmit { to, packet: Packet::Data(datagram), after });
    }

    /// Sends the datagrams that waited for this route. The first leaves after `after`, and the others follow `spacing`
    /// apart. Returns the time at which the next datagram may leave.
    pub(super) fn send_waiting(
        &mut self,
        now: Instant,
        slot: usize,
        mut after: Duration,
        spacing: Duration,
        out: &mut RoutingOutput<B>,
    ) -> Duration {
        self.buffer.expire(now, &mut self.counters, out);
        while let Some(datagram) = self.buffer.take(self.table.destination(slot)) {
            self.forward(now, slot, datagram, after, out);
            after += spacing;
        }
        after
    }

    /// Drops the datagrams that wait for `destination`.
    pub(super) fn drop_waiting(&mut self, destination: Address, out: &mut RoutingOutput<B>) {
        while let Some(datagram) = self.buffer.take(destination) {
            self.counters.drop(out, datagram, DropCause::NoRoute);
        }
    }

    /// Sends a route request for the destination of `slot`, unless it is too early for this (RFC 3561 §6.3, §6.4).
    pub(super) fn search(&mut self, now: Instant, slot: usize, out: &mut RoutingOutput<B>) {
        let destination = self.table.destination(slot);
        let entry = &mut self.table[slot];
        if entry.usable() {
            return;
        }
        let first = !entry.search.under_way();
        let ttl = match entry.search.step(now, LONGEST_WAIT) {
            Step::Wait => return,
            Step::GiveUp => {
                self.counters.failures += 1;
                return self.drop_waiting(destination, out);
            }
            Step::Request(ttl) => ttl,
        };
        self.counters.discoveries += u64::from(first);
        self.sequence = self.sequence.wrapping_add(2);
        let request = Request {
            source: self.address,
            source_sequence: self.sequence,
            id: self.id,
            destination,
            destination_sequence: entry.sequence,
            hops: 1,
            ttl,
            sent: now,
            first_hop: None,
            quality: None,
        };
        self.id = self.id.wrapping_add(1);
        let message = Message::Request(request);
        self.counters.transmit(out, Origin::Own, NextHop::All, message, Duration::ZERO);
    }

    /// Handles a route request (RFC 3561 §6.5).
    pub(super) fn handle_request(
        &mut self,
        now: Instant,
        from: Address,
        mut request: Request,
        out: &mut RoutingOutput<B>,
    ) {
        if request.source == self.address || !self.seen.insert(now, request.source, request.id) {
            return;
        }
        request.ttl = request.ttl.saturating_sub(1);
        self.learn_reverse_route(now, from, &request, out);
        let known = self.table.get(request.destination).map_or(0, |entry| entry.sequence);
        if request.destination == self.address {
            self.sequence = announced(newest(self.sequence, request.destination_sequence));
            self.reply(&request, 1, self.sequence, MY_ROUTE, out);
        } else if let Some(slot) =
            self.table.slot(request.destination).filter(|slot| self.may_answer(*slot, &request))
        {
            self.answer(now, slot, &request, out);
        } else if request.ttl > 0 {
            request.hops = request.hops.saturating_add(1);
            request.destination_sequence = newest(known, request.destination_sequence);
            let after = self.jitter();
            self.counters.transmit(out, Origin::Forwarded, NextHop::All, Message::Request(request), after);
        }
    }

    /// Stores the reverse route to the source of a route request.
    fn learn_reverse_route(
        &mut self,
        now: Instant,
        from: Address,
        request: &Request,
        out: &mut RoutingOutput<B>,
    ) {
        let slot = self.slot(request.source);
        let entry = &mut self.table[slot];
        entry.expires = entry.expires.max(now + REVERSE_ROUTE);
        if !entry.improved_by(request.source_sequence, request.hops) {
            return;
        }
        entry.update(request.source_sequence, request.hops, from, entry.expires);
        if entry.search.under_way() {
            entry.search.found(request.hops);
            entry.expires = now + ACTIVE_ROUTE;
        }
        self.send_waiting(now, slot, Duration::ZERO, Duration::ZERO, out);
    }

    /// Returns whether this node may answer a route request (RFC 3561 §6.6). As in ns-2.35, a node whose route is in
    /// repair also answers. An answer of a node in repair causes no loop, because the length and the sequence number of
    /// the route do not change.
    fn may_answer(&self, slot: usize, request: &Request) -> bool {
        let entry = &self.table[slot];
        let alive = entry.usable() || (self.config.repair == Repair::Ns2 && entry.finite());
        alive && !newer(request.destination_sequence, entry.sequence)
    }

    /// Sends the route reply of an intermediate node (RFC 3561 §6.6.2).
    fn answer(&mut self, now: Instant, slot: usize, request: &Request, out: &mut RoutingOutput<B>) {
        let (hops, sequence) = (self.table[slot].hops, self.table[slot].sequence);
        let lifetime = self.table[slot].expires - now;
        self.reply(request, hops.saturating_add(1), sequence, lifetime, out);
        let forward = self.table[slot].next_hop;
        let Some(back) = self.table.get_mut(request.source) else { return };
        back.add_precursor(forward);
        let back = back.next_hop;
        self.table[slot].add_precursor(back);
    }

    fn reply(
        &mut self,
        request: &Request,
        hops: u8,
        sequence: u32,
        lifetime: Duration,
        out: &mut RoutingOutput<B>,
    ) {
        let Some(back) = self.table.get(request.source).filter(|entry| entry.finite()) else { return };
        let reply = Reply {
            source: request.source,
            destination: request.destination,
            destination_sequence: sequence,
            hops,
            ttl: NETWORK_DIAMETER,
            lifetime,
            sent: request.sent,
            trace: None,
            quality: None,
        };
        let to = NextHop::Neighbour(back.next_hop);
        self.counters.transmit(out, Origin::Own, to, Message::Reply(reply), Duration::ZERO);
    }

    /// Handles a route reply (RFC 3561 §6.7).
    pub(super) fn handle_reply(
        &mut self,
        now: Instant,
        from: Address,
        mut reply: Reply,
        out: &mut RoutingOutput<B>,
    ) {
        if reply.destination == self.address {
            return;
        }
        let slot = self.slot(reply.destination);
        let entry = &mut self.table[slot];
        if !entry.improved_by(reply.destination_sequence, reply.hops) {
            return;
        }
        entry.update(reply.destination_sequence, reply.hops, from, now + reply.lifetime);
        entry.search.found(reply.hops);
        if reply.source == self.address {
            entry.search.measured(now - reply.sent, reply.hops);
        }
        self.send_waiting(now, slot, Duration::ZERO, SPACING, out);
        reply.ttl = reply.ttl.saturating_sub(1);
        if reply.source == self.address || reply.ttl == 0 {
            return;
        }
        let Some(back) = self.table.get_mut(reply.source).filter(|entry| entry.finite()) else { return };
        back.expires = now + ACTIVE_ROUTE;
        let back = back.next_hop;
        self.table[slot].add_precursor(back);
        reply.hops = reply.hops.saturating_add(1);
        let to = NextHop::Neighbour(back);
        self.counters.transmit(out, Origin::Forwarded, to, Message::Reply(reply), Duration::ZERO);
    }

    /// Handles a route error (RFC 3561 §6.11 (iii)).
    pub(super) fn handle_error(&mut self, from: Address, list: &[Unreachable], out: &mut RoutingOutput<B>) {
        let mut passed_on = Vec::new();
        let mut concerned = false;
        for lost in list {
            let Some(entry) = self.table.get_mut(lost.destination) else { continue };
            if !entry.finite() || entry.next_hop != from || newer(entry.sequence, lost.sequence) {
                continue;
            }
            concerned = true;
            entry.sequence = lost.sequence;
            entry.down();
            if !entry.precursors.is_empty() {
                entry.precursors.clear();
                passed_on.push(*lost);
            }
        }
        if concerned {
            // ns-2.35: all packets that wait for that neighbour are lost, for any destination.
            out.reclaim.push(from);
        }
        if !passed_on.is_empty() {
            let after = self.jitter();
            self.send_errors(passed_on, Origin::Forwarded, after, out);
        }
    }

    /// Handles the loss of the link to a neighbour, which ends all routes over this link (RFC 3561 §6.11 (i)). As in
    /// ns-2.35, the route error is broadcast even without precursors.
    pub(super) fn lose(&mut self, neighbour: Address, out: &mut RoutingOutput<B>) {
        self.sequence = self.sequence.wrapping_add(2);
        let mut lost = Vec::new();
        for (destination, entry) in self.table.iter_mut() {
            if entry.finite() && entry.next_hop == neighbour {
                entry.end();
                lost.push(Unreachable { destination, sequence: entry.sequence });
            }
            entry.precursors.retain(|precursor| *precursor != neighbour);
        }
        if !lost.is_empty() {
            self.send_errors(lost, Origin::Own, Duration::ZERO, out);
        }
    }

    pub(super) fn send_errors(
        &mut self,
        list: Vec<Unreachable>,
        origin: Origin,
        after: Duration,
        out: &mut RoutingOutput<B>,
    ) {
        self.counters.transmit(out, origin, NextHop::All, Message::Error(list), after);
    }

    fn jitter(&mut self) -> Duration {
        Duration::from_secs_f64(JITTER * self.jitter.unit())
    }
}
