//! Requests and replies of AOMDV (Marina and Das 2001), with the additions of QAOMDV (Guo, Liu and Lian 2010,
//! §5.2).

use core::time::Duration;

use strandcast_proto::time::Instant;

use super::config::Disjoint;
use super::entry::Offer;
use super::path::Path;
use super::protocol::{ACTIVE_ROUTE, Aomdv};
use crate::address::Address;
use crate::counters::Origin;
use crate::message::{Message, Quality, Reply, Request, Trace};
use crate::node::Context;
use crate::output::{DropCause, NextHop, RoutingOutput};
use crate::qaomdv::{node_bandwidth, usable_bandwidth};
use crate::search::{NETWORK_DIAMETER, Step};
use crate::sequence::{ended, newer, newest};

/// Lifetime of a path that its destination announces (MY_ROUTE_TIMEOUT).
const MY_ROUTE: Duration = Duration::from_secs(10);
/// Lifetime of the reverse route to the source of a request (REV_ROUTE_LIFE).
const REVERSE_ROUTE: Duration = Duration::from_secs(6);
/// Maximum pause between requests. The maximum pause is MAX_RREQ_TIMEOUT of ns-2.35's AOMDV; its AODV waits 10 s.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

impl<B> Aomdv<B> {
    /// Sends a route request for the destination of `slot`, unless it is too early for this.
    pub(super) fn search(&mut self, context: &Context, slot: usize, out: &mut RoutingOutput<B>) {
        let destination = self.table.destination(slot);
        let entry = &mut self.table[slot];
        if entry.up {
            return;
        }
        let first = !entry.search.under_way();
        match entry.search.step(context.now, LONGEST_WAIT) {
            Step::Wait => {}
            Step::GiveUp => {
                self.counters.failures += 1;
                while let Some(datagram) = self.buffer.take(destination) {
                    self.counters.drop(out, datagram, DropCause::NoRoute);
                }
            }
            Step::Request(ttl) => {
                let wanted = entry.sequence;
                self.counters.discoveries += u64::from(first);
                self.send_request(context, slot, wanted, ttl, out);
            }
        }
    }

    /// QAOMDV: measures the paths of a destination again. The old paths stay in use meanwhile. The request asks for a
    /// sequence number that only the destination can give.
    pub(super) fn refresh(&mut self, context: &Context, slot: usize, out: &mut RoutingOutput<B>) {
        let Some(refresh) = self.qos.as_ref().and_then(|qos| qos.refresh) else { return };
        if context.now - self.table[slot].measured < refresh {
            return;
        }
        self.counters.discoveries += 1;
        let wanted = ended(self.table[slot].sequence);
        self.send_request(context, slot, wanted, NETWORK_DIAMETER, out);
    }

    fn send_request(
        &mut self,
        context: &Context,
        slot: usize,
        wanted: u32,
        ttl: u8,
        out: &mut RoutingOutput<B>,
    ) {
        self.table[slot].measured = context.now;
        self.sequence = self.sequence.wrapping_add(2);
        let request = Request {
            source: self.address,
            source_sequence: self.sequence,
            id: self.id,
            destination: self.table.destination(slot),
            destination_sequence: wanted,
            hops: 0,
            ttl,
            sent: context.now,
            first_hop: Some(self.address),
            quality: self
                .qos
                .as_ref()
                .map(|qos| Quality { bandwidth: qos.bandwidth(context), delay: Duration::ZERO }),
        };
        self.id = self.id.wrapping_add(1);
        self.transmit(Origin::Own, NextHop::All, Message::Request(request), Duration::ZERO, out);
    }

    /// Handles a route request. Each copy of a request may reveal another reverse route. Only the first copy is
    /// forwarded.
    pub(super) fn handle_request(
        &mut self,
        context: &Context,
        from: Address,
        mut request: Request,
        out: &mut RoutingOutput<B>,
    ) {
        if request.source == self.address {
            return;
        }
        let first = self.seen.insert(context.now, request.source, request.id);
        request.ttl = request.ttl.saturating_sub(1);
        if request.hops == 0 {
            request.first_hop = Some(self.address);
        }
        if let (Some(qos), Some(quality)) = (&self.qos, &mut request.quality) {
            quality.bandwidth = quality.bandwidth.min(qos.bandwidth(context));
            quality.delay += qos.delay(from);
        }
        let Some(reverse) = self.learn_reverse_route(context.now, from, &request) else { return };
        let back = self.slot(request.source);
        self.table[back].search.found(0);
        self.send_waiting(context, back, out);
        if request.destination == self.address {
            self.reply_as_destination(from, &request, out);
        } else if let Some(slot) =
            self.table.slot(request.destination).filter(|slot| self.fresh(*slot, &request))
        {
            if let Some(reverse) = reverse {
                self.reply_for(context.now, slot, from, reverse, &request, out);
            }
        } else if first && request.ttl > 0 {
            self.send_on(request, out);
        }
    }

    /// Stores the reverse route to the source of a request. Returns `None` if the request is useless. Returns
    /// `Some(None)` if only its route is useless.
    fn learn_reverse_route(
        &mut self,
        now: Instant,
        from: Address,
        request: &Request,
    ) -> Option<Option<(Address, Address)>> {
        let hops = request.hops.saturating_add(1);
        let last_hop = request.first_hop.unwrap_or(from);
        let bandwidth = |q: Quality| usable_bandwidth(q.bandwidth, hops);
        let quality = request.quality.map(|q| Quality { bandwidth: bandwidth(q), ..q });
        let path = Path { next_hop: from, last_hop, hops, expires: now + REVERSE_ROUTE, quality };
        let slot = self.slot(request.source);
        let entry = &mut self.table[slot];
        match entry.offer(now, request.source_sequence, request.hops, path, &self.rules) {
            Offer::Taken(_) => Some(Some((from, last_hop))),
            Offer::Full => Some(None),
            // The destination may still answer: the reply chooses a reverse route itself.
            Offer::Overlapping => {
                let useful = request.destination != self.address
                    || match self.rules.disjoint {
                        Disjoint::Link => hops.saturating_sub(entry.shortest()) <= self.rules.difference,
                        Disjoint::Node => {
                            entry.with_last_hop(last_hop).is_some_and(|at| hops <= entry.paths[at].hops)
                        }
                    };
                useful.then_some(None)
            }
            Offer::TooLong | Offer::Old => None,
        }
    }

    /// Forwards the first copy of a request, with the length that was announced under this sequence number.
    fn send_on(&mut self, mut request: Request, out: &mut RoutingOutput<B>) {
        if let Some(entry) = self.table.get(request.destination) {
            request.destination_sequence = newest(entry.sequence, request.destination_sequence);
        }
        let Some(back) = self.table.get_mut(request.source).filter(|entry| entry.up) else { return };
        request.hops = back.advertise();
        if self.rules.disjoint == Disjoint::Node {
            request.first_hop = back.paths.first().map(|path| path.last_hop);
        }
        let answered = self.seen.get_mut(request.source, request.id);
        if let (Some(answered), Some(quality)) = (answered, request.quality) {
            answered.delay = quality.delay;
        }
        let after = self.jitter();
        self.transmit(Origin::Forwarded, NextHop::All, Message::Request(request), after, out);
    }

    /// Answers a request as the destination. Copies from different neighbours are answered regardless of their first
    /// hop, up to the maximum number of paths (Marina and Das 2001). ns-2.35 answers any number of copies that are as
    /// short as the node's path with the same first hop.
    fn reply_as_destination(&mut self, from: Address, request: &Request, out: &mut RoutingOutput<B>) {
        let Some(answered) = self.seen.get_mut(request.source, request.id) else { return };
        if self.rules.disjoint == Disjoint::Link && answered.replies >= self.rules.paths {
            return;
        }
        answered.replies += 1;
        if newer(request.destination_sequence, self.sequence) {
            self.sequence = request.destination_sequence.wrapping_add(1);
        }
        self.sequence = self.sequence.wrapping_add(self.sequence & 1);
        let hops = request.hops.saturating_add(1);
        let reply = Reply {
            source: request.source,
            destination: self.address,
            destination_sequence: self.sequence,
            hops: 0,
            ttl: NETWORK_DIAMETER,
            lifetime: MY_ROUTE,
            sent: request.sent,
            trace: Some(Trace { id: request.id, first_hop: from }),
            quality: request.quality.map(|q| Quality { bandwidth: usable_bandwidth(q.bandwidth, hops), ..q }),
        };
        let to = NextHop::Neighbour(from);
        self.transmit(Origin::Own, to, Message::Reply(reply), Duration::ZERO, out);
    }

    /// Returns whether this node has a route that is new enough to answer the request (RFC 3561 §6.6).
    fn fresh(&self, slot: usize, request: &Request) -> bool {
        let entry = &self.table[slot];
        entry.up && !newer(request.destination_sequence, entry.sequence)
    }

    /// Answers a request as an intermediate node. Each path to the destination is announced once, and each reverse
    /// route is used once. With node-disjoint paths, the node sends only one reply.
    fn reply_for(
        &mut self,
        now: Instant,
        slot: usize,
        from: Address,
        reverse: (Address, Address),
        request: &Request,
        out: &mut RoutingOutput<B>,
    ) {
        let Some(answered) = self.seen.get_mut(request.source, request.id) else { return };
        let entry = &mut self.table[slot];
        let unused = |path: &&Path| !answered.forward.contains(&(path.next_hop, path.last_hop));
        let forward = match self.rules.disjoint {
            Disjoint::Node => entry.paths.first().filter(|_| answered.replies == 0),
            Disjoint::Link => {
                entry.paths.iter().find(unused).filter(|_| !answered.reverse.contains(&reverse))
            }
        };
        let Some(forward) = forward.copied() else { return };
        answered.replies += 1;
        answered.reverse.push(reverse);
        answered.forward.push((forward.next_hop, forward.last_hop));
        entry.report = true;
        let hops = request.hops.saturating_add(1).saturating_add(forward.hops);
        let quality = request.quality.zip(forward.quality).map(|(behind, ahead)| Quality {
            bandwidth: ahead.bandwidth.min(usable_bandwidth(behind.bandwidth, hops)),
            delay: behind.delay + ahead.delay,
        });
        let reply = Reply {
            source: request.source,
            destination: request.destination,
            destination_sequence: entry.sequence,
            hops: entry.advertise(),
            ttl: NETWORK_DIAMETER,
            lifetime: forward.expires - now,
            sent: request.sent,
            trace: Some(Trace { id: request.id, first_hop: forward.last_hop }),
            quality,
        };
        let to = NextHop::Neighbour(from);
        self.transmit(Origin::Own, to, Message::Reply(reply), Duration::ZERO, out);
    }

    /// Handles a route reply, which contains a path to its destination. The reply is forwarded over a reverse route
    /// that no earlier reply to this request has taken.
    pub(super) fn handle_reply(
        &mut self,
        context: &Context,
        from: Address,
        mut reply: Reply,
        out: &mut RoutingOutput<B>,
    ) {
        let Some(trace) = reply.trace.filter(|_| reply.destination != self.address) else { return };
        let behind =
            self.seen.get_mut(reply.source, trace.id).map_or(Duration::ZERO, |answered| answered.delay);
        if let Some(quality) = &mut reply.quality {
            quality.delay = quality.delay.saturating_sub(behind);
        }
        let path = Path {
            next_hop: from,
            last_hop: trace.first_hop,
            hops: reply.hops.saturating_add(1),
            expires: context.now + reply.lifetime,
            quality: reply.quality,
        };
        let slot = self.slot(reply.destination);
        let offer =
            self.table[slot].offer(context.now, reply.destination_sequence, reply.hops, path, &self.rules);
        if !matches!(offer, Offer::Taken(_)) {
            return;
        }
        self.table[slot].search.found(0);
        self.send_waiting(context, slot, out);
        reply.ttl = reply.ttl.saturating_sub(1);
        if reply.source != self.address && reply.ttl > 0 {
            self.send_reply_on(context.now, slot, (path.next_hop, path.last_hop), reply, trace, out);
        }
    }

    fn send_reply_on(
        &mut self,
        now: Instant,
        slot: usize,
        forward: (Address, Address),
        mut reply: Reply,
        trace: Trace,
        out: &mut RoutingOutput<B>,
    ) {
        let Some(answered) = self.seen.get_mut(reply.source, trace.id) else { return };
        let Some(back) = self.table.get_mut(reply.source).filter(|entry| entry.up) else { return };
        let unused = |path: &&mut Path| !answered.reverse.contains(&(path.next_hop, path.last_hop));
        let reverse = match self.rules.disjoint {
            Disjoint::Node => back.paths.first_mut().filter(|_| answered.replies == 0),
            Disjoint::Link if answered.forward.contains(&forward) => None,
            Disjoint::Link => back.paths.iter_mut().find(unused),
        };
        let Some(reverse) = reverse else { return };
        let hops = reply.hops.saturating_add(1).saturating_add(reverse.hops);
        answered.replies += 1;
        answered.reverse.push((reverse.next_hop, reverse.last_hop));
        answered.forward.push(forward);
        reverse.expires = now + ACTIVE_ROUTE;
        let (to, behind, before) = (reverse.next_hop, reverse.quality, reverse.hops);
        let entry = &mut self.table[slot];
        entry.report = true;
        reply.hops = entry.advertise();
        if self.rules.disjoint == Disjoint::Node
            && let Some(first) = entry.paths.first()
        {
            reply.trace = Some(Trace { first_hop: first.last_hop, ..trace });
        }
        if let (Some(quality), Some(behind)) = (&mut reply.quality, behind) {
            quality.delay += behind.delay;
            // The reply has the least bandwidth of the path that the first copy of the request took. Its two numbers do
            // not say where on that path: a return path that is wider than the first one keeps the first one's.
            let node = node_bandwidth(behind.bandwidth, before);
            quality.bandwidth = quality.bandwidth.min(usable_bandwidth(node, hops));
        }
        let to = NextHop::Neighbour(to);
        self.transmit(Origin::Forwarded, to, Message::Reply(reply), Duration::ZERO, out);
    }
}
