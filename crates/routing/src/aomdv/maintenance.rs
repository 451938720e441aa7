//! Loss of links in AOMDV: paths are removed one by one, and only the loss of the last path causes a route error.
//! Datagrams of a lost path continue on another path.

use core::time::Duration;

use super::protocol::{ACTIVE_ROUTE, Aomdv};
use crate::address::Address;
use crate::counters::Origin;
use crate::datagram::{Datagram, Packet};
use crate::message::Unreachable;
use crate::node::Context;
use crate::output::{DropCause, NextHop, RoutingOutput, Transmit};
use crate::sequence::{newer, newest};

/// Maximum number of times that a datagram may change to another path (AOMDV_MAX_SALVAGE_COUNT).
const SALVAGES: u8 = 10;

impl<B> Aomdv<B> {
    /// Forwards a datagram, or queues it until a path is found. `from` is the neighbour that sent the datagram.
    pub(super) fn route(
        &mut self,
        context: &Context,
        from: Option<Address>,
        datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    ) {
        let slot = self.slot(datagram.destination);
        let entry = &self.table[slot];
        if entry.up {
            let own = datagram.source == self.address;
            self.forward(context, slot, from, datagram, out);
            if own {
                self.refresh(context, slot, out);
            }
        } else if datagram.source == self.address {
            self.buffer.push(context.now, datagram, &mut self.counters, out);
            self.search(context, slot, out);
        } else {
            let lost = Unreachable { destination: datagram.destination, sequence: entry.sequence };
            self.send_errors(vec![lost], Origin::Own, Duration::ZERO, out);
            self.counters.drop(out, datagram, DropCause::NoRoute);
        }
    }

    /// Sends a datagram on one of the paths of an entry that has paths.
    fn forward(
        &mut self,
        context: &Context,
        slot: usize,
        from: Option<Address>,
        mut datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    ) {
        let own = datagram.source == self.address;
        let entry = &mut self.table[slot];
        match self.choice.apart(&entry.paths) {
            Some(true) if own => self.counters.apart += 1,
            Some(false) if own => self.counters.together += 1,
            _ => {}
        }
        let at = if own {
            self.choice.at_source(&entry.paths, &mut entry.turn, datagram.class)
        } else {
            self.choice.on_the_way(&entry.paths, from, datagram.class, datagram.label)
        };
        let path = &mut entry.paths[at];
        path.expires = context.now + ACTIVE_ROUTE;
        if own && self.choice.labels() {
            datagram.label = Some(path.last_hop);
        }
        let to = NextHop::Neighbour(path.next_hop);
        entry.report |= !own;
        let packet = Packet::Data(datagram);
        if let Some(qos) = &mut self.qos {
            qos.sent(packet.bytes());
        }
        out.transmit.push(Transmit { to, packet, after: Duration::ZERO });
    }

    /// Sends the datagrams that wait for a path.
    pub(super) fn send_waiting(&mut self, context: &Context, slot: usize, out: &mut RoutingOutput<B>) {
        self.buffer.expire(context.now, &mut self.counters, out);
        while self.table[slot].up
            && let Some(datagram) = self.buffer.take(self.table.destination(slot))
        {
            self.forward(context, slot, None, datagram, out);
        }
    }

    /// Handles the loss of the link to a neighbour.
    pub(super) fn lose(&mut self, neighbour: Address, out: &mut RoutingOutput<B>) {
        let mut lost = Vec::new();
        for (destination, entry) in self.table.iter_mut() {
            if entry.up && entry.remove(neighbour) && entry.paths.is_empty() {
                entry.end();
                if core::mem::take(&mut entry.report) {
                    lost.push(Unreachable { destination, sequence: entry.sequence });
                }
            }
        }
        if !lost.is_empty() {
            self.send_errors(lost, Origin::Own, Duration::ZERO, out);
        }
    }

    /// Sends a datagram on another path after a link failed, if the entry has one.
    pub(super) fn salvage(
        &mut self,
        context: &Context,
        mut datagram: Datagram<B>,
        out: &mut RoutingOutput<B>,
    ) {
        let slot = self.table.slot(datagram.destination).filter(|slot| self.table[*slot].up);
        match slot.filter(|_| datagram.salvaged < SALVAGES) {
            Some(slot) => {
                datagram.salvaged += 1;
                self.counters.salvages += 1;
                self.forward(context, slot, None, datagram, out);
            }
            None => self.counters.drop(out, datagram, DropCause::LinkFailed),
        }
    }

    /// Handles a route error: a neighbour has lost its paths to these destinations.
    pub(super) fn handle_error(&mut self, from: Address, list: &[Unreachable], out: &mut RoutingOutput<B>) {
        let mut passed_on = Vec::new();
        for lost in list {
            let Some(entry) = self.table.get_mut(lost.destination) else { continue };
            if !entry.up || newer(entry.sequence, lost.sequence) || !entry.remove(from) {
                continue;
            }
            entry.highest_received = newest(entry.highest_received, lost.sequence);
            if entry.paths.is_empty() {
                entry.end();
                if core::mem::take(&mut entry.report) {
                    passed_on.push(Unreachable { destination: lost.destination, sequence: entry.sequence });
                }
            }
        }
        if !passed_on.is_empty() {
            let after = self.jitter();
            self.send_errors(passed_on, Origin::Forwarded, after, out);
        }
    }

    /// Ends expired paths and continues searches (as ns-2.35 does every 500 ms).
    pub(super) fn look_through(&mut self, context: &Context, out: &mut RoutingOutput<B>) {
        for slot in 0..self.table.len() {
            let destination = self.table.destination(slot);
            let entry = &mut self.table[slot];
            if entry.up {
                entry.paths.retain(|path| path.expires >= context.now);
                if entry.paths.is_empty() {
                    entry.end();
                    while let Some(datagram) = self.buffer.take(destination) {
                        self.counters.drop(out, datagram, DropCause::NoRoute);
                    }
                }
            } else if self.buffer.contains(destination) {
                self.search(context, slot, out);
            }
        }
    }
}
