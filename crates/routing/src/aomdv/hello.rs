//! HELLO messages, by which ns-2.35's AOMDV detects lost links (RFC 3561 §6.9, §6.10).

use core::time::Duration;

use strandcast_proto::time::Instant;

use super::protocol::Aomdv;
use crate::address::Address;
use crate::counters::Origin;
use crate::message::{Message, Reply, Trace};
use crate::node::Context;
use crate::output::{NextHop, RoutingOutput};

/// Lifetime of the path to a neighbour after its HELLO.
const LIFETIME: Duration = Duration::from_secs(4);

impl<B> Aomdv<B> {
    /// Sends a HELLO if a path is in use. Also removes neighbours that were silent for too long.
    pub(super) fn greet(&mut self, now: Instant, out: &mut RoutingOutput<B>) {
        let Some(hellos) = &mut self.hellos else { return };
        if hellos.due(now) && self.table.any(|entry| entry.up) {
            let hello = Message::Hello { sequence: self.sequence };
            self.transmit(Origin::Own, NextHop::All, hello, Duration::ZERO, out);
        }
        while let Some(neighbour) = self.hellos.as_mut().and_then(|hellos| hellos.silent(now)) {
            self.sequence = self.sequence.wrapping_add(2);
            self.lose(neighbour, out);
            out.reclaim.push(neighbour);
        }
    }

    /// Handles a HELLO, which is a route reply whose destination is its sender.
    pub(super) fn handle_hello(
        &mut self,
        context: &Context,
        from: Address,
        sequence: u32,
        out: &mut RoutingOutput<B>,
    ) {
        let Some(hellos) = &mut self.hellos else { return };
        hellos.on_received(context.now, from);
        let reply = Reply {
            source: self.address,
            destination: from,
            destination_sequence: sequence,
            hops: 0,
            ttl: 1,
            lifetime: LIFETIME,
            sent: context.now,
            trace: Some(Trace { id: 0, first_hop: self.address }),
            quality: None,
        };
        self.handle_reply(context, from, reply, out);
    }
}
