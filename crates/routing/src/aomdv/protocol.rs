//! AOMDV on one node: its state, and the part that is common to its messages.

use core::time::Duration;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

use super::config::{AomdvConfig, AomdvSplit, Detect, MultipathConfig};
use super::entry::{Entry, Rules};
use super::neighbours::Hellos;
use crate::address::Address;
use crate::buffer::SendBuffer;
use crate::counters::{Counters, Origin};
use crate::datagram::IP_HEADER;
use crate::message::{Message, Unreachable};
use crate::output::{NextHop, RoutingOutput};
use crate::qaomdv::{Estimators, Insert, QaomdvConfig};
use crate::seen::Seen;
use crate::split::{Choice, Scheduler};
use crate::table::Table;

/// Lifetime of a path that is in use (ACTIVE_ROUTE_TIMEOUT).
pub(super) const ACTIVE_ROUTE: Duration = Duration::from_secs(10);
/// Longest time by which nodes delay their broadcasts at random, after they received one message.
const JITTER: f64 = 0.01;
/// Interval at which expired paths are removed from the table.
pub(super) const LOOK: Duration = Duration::from_millis(500);

/// State of AOMDV on one node. With estimators, it is QAOMDV.
#[derive(Clone, Debug)]
pub struct Aomdv<B> {
    pub(super) address: Address,
    pub(super) rules: Rules,
    /// Sequence number for paths to this node.
    pub(super) sequence: u32,
    /// Number of the next route request of this node.
    pub(super) id: u32,
    pub(super) table: Table<Entry>,
    pub(super) seen: Seen<Answered>,
    pub(super) buffer: SendBuffer<B>,
    jitter: Random,
    pub(super) next_look: Instant,
    pub(super) hellos: Option<Hellos>,
    pub(super) qos: Option<Estimators>,
    /// Rule by which the node chooses paths.
    pub(super) choice: Choice,
    /// Queues of the split `mpr`, which separates retransmissions from originals.
    pub(super) scheduler: Option<Scheduler<B>>,
    pub(super) counters: Counters,
}

/// Record of a request that the node answered. The record ensures that each path is announced only once.
#[derive(Clone, Debug, Default)]
pub(super) struct Answered {
    /// Number of replies to the request.
    pub replies: usize,
    /// Announced paths to the destination, each with its next hop and last hop.
    pub forward: Vec<(Address, Address)>,
    /// Reverse routes to the source that replies have used.
    pub reverse: Vec<(Address, Address)>,
    /// QAOMDV: delay from the source, as stated in the forwarded request.
    pub delay: Duration,
}

impl<B> Aomdv<B> {
    /// Creates AOMDV on the node `address`, with the node's `seeds`.
    pub fn new(address: Address, config: &AomdvConfig, seeds: &Seeds) -> Self {
        let choice = match config.split {
            AomdvSplit::None => Choice::First,
            AomdvSplit::Even => Choice::Even,
        };
        Aomdv::with(address, &config.paths, choice, None, seeds)
    }

    /// Creates QAOMDV on the node `address`, with the node's `seeds`.
    pub fn qos(address: Address, config: &QaomdvConfig, seeds: &Seeds) -> Self {
        let estimators = Estimators::new(config, seeds);
        let mut router = Aomdv::with(address, &config.paths, config.choice(), Some(estimators), seeds);
        router.rules = Rules::new(&config.paths, true, config.insert == Insert::Better);
        router.scheduler = config.classifies().then(|| Scheduler::new(config.expedites()));
        router
    }

    fn with(
        address: Address,
        config: &MultipathConfig,
        choice: Choice,
        qos: Option<Estimators>,
        seeds: &Seeds,
    ) -> Self {
        let hellos = match config.detect {
            Detect::LinkLayer => None,
            Detect::Hello => Some(Hellos::new(seeds)),
        };
        Aomdv {
            address,
            rules: Rules::new(config, qos.is_some(), false),
            sequence: 2,
            id: 1,
            table: Table::default(),
            seen: Seen::default(),
            buffer: SendBuffer::default(),
            jitter: seeds.stream("jitter"),
            next_look: Instant::ZERO + LOOK,
            hellos,
            qos,
            choice,
            scheduler: None,
            counters: Counters::default(),
        }
    }

    pub(super) fn slot(&mut self, destination: Address) -> usize {
        self.table.slot_or_insert(destination, Entry::new)
    }

    pub(super) fn send_errors(
        &mut self,
        list: Vec<Unreachable>,
        origin: Origin,
        after: Duration,
        out: &mut RoutingOutput<B>,
    ) {
        self.transmit(origin, NextHop::All, Message::Error(list), after, out);
    }

    pub(super) fn transmit(
        &mut self,
        origin: Origin,
        to: NextHop,
        message: Message,
        after: Duration,
        out: &mut RoutingOutput<B>,
    ) {
        if let Some(qos) = &mut self.qos {
            qos.sent(IP_HEADER + message.bytes());
        }
        self.counters.transmit(out, origin, to, message, after);
    }

    pub(super) fn jitter(&mut self) -> Duration {
        Duration::from_secs_f64(JITTER * self.jitter.unit())
    }
}
