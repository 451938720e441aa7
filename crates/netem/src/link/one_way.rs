//! The link itself.

use std::collections::VecDeque;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::transmitter::Transmitter;
use super::{Count, LinkConfig, LinkStats, Payload, QueueLimit};
use crate::loss::Loss;
use crate::number::Varying;

/// One direction of a link: drop-tail queue, transmitter, random loss, retransmission, propagation.
///
/// Use: `enqueue` what is sent, `poll` until `None` whenever `poll_timeout` is due. Time must not go back.
///
/// Model: a packet waits until the transmitter is free, is serialised (rounding does not add up while the transmitter
/// is busy), passes the loss models, is sent again at once if they took it and the link does that, propagates. In a FIFO all of this is known when the packet enters, also at a rate
/// that varies, so its fate is drawn then and only its arrival is an event; polling late changes nothing but the
/// moment of delivery. Limits: the link adds no overhead (the caller gives the IP-level length), and it drops only at
/// the tail. Validation: exact serialisation times at any course of the rate, the mean wait of M/D/1, conservation of
/// packets under random use, delays of packets that overtake each other.
#[derive(Debug)]
pub struct Link<P> {
    config: LinkConfig,
    transmitter: Transmitter,
    delay: Delay,
    losses: Vec<Loss>,
    random: Streams,
    /// Packets whose last bit had not left the transmitter when the last one came, in order; all but the first wait.
    pending: VecDeque<Pending>,
    /// Bytes of all of them.
    pending_bytes: u64,
    /// When the transmitter has served all packets taken so far.
    busy_until: Instant,
    /// Latest arrival of the packets so far, without the time for which some are held up. Where the link keeps order, no packet
    /// arrives earlier.
    last_arrival: Instant,
    /// Propagating packets by arrival: those that are not held up, and those that are. All of the latter are held up for the same
    /// time, so that each ring grows at its end alone where the link keeps order.
    prompt: VecDeque<Flight<P>>,
    held_up: VecDeque<Flight<P>>,
    black_hole: bool,
    down: bool,
    /// Without what the pending packets will add, and without times.
    stats: LinkStats,
    /// Nanoseconds for which the transmitter will have had packets when it has served all it has, and for which they
    /// will have waited. With a packet that waits for ever each is more than 64 bits hold, soon.
    busy_ns: u128,
    wait_ns: u128,
}

/// The outcome of offering a packet to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnqueueOutcome {
    /// It waits its turn and leaves the transmitter then, unless the link goes down before.
    Taken {
        /// When its last bit leaves the transmitter, for the last time; [`Instant::MAX`] at a rate that stays 0.
        departs: Instant,
        /// A loss model takes it behind the transmitter, and the link doesn't send it again.
        lost: bool,
        /// How many times the link has sent it again by then.
        retransmissions: u8,
    },
    /// The queue was full.
    QueueFull,
    /// The link was down.
    Down,
}

/// A constant is by far the most frequent delay.
#[derive(Debug)]
enum Delay {
    /// Nanoseconds.
    Constant(u64),
    Varying(Varying),
}

/// One random stream per purpose, so that enabling one does not change the draws of the others.
#[derive(Debug)]
struct Streams {
    reorder: Random,
    duplicate: Random,
    corrupt: Random,
}

/// A packet as the transmitter sees it.
#[derive(Clone, Copy, Debug)]
struct Pending {
    departs: Instant,
    len: usize,
    lost: bool,
    retransmissions: u8,
}

#[derive(Debug)]
struct Flight<P> {
    arrival: Instant,
    packet: P,
    len: usize,
}

impl<P: Payload> Link<P> {
    /// A link that is up and empty, with random streams of its own under `label`.
    ///
    /// # Panics
    /// If [`LinkConfig::validate`] refuses `config`.
    pub fn new(config: LinkConfig, seeds: &Seeds, label: &str) -> Self {
        if let Err(error) = config.validate() {
            panic!("link {label}: {error}");
        }
        let seeds = seeds.child(label);
        let origin = config.origin;
        let delay = Varying::new(&config.delay, seeds.stream("delay"), origin);
        let loss = |(i, model)| Loss::new(model, &seeds, &format!("loss/{i}"), origin);
        Link {
            transmitter: Transmitter::new(&config.rate, seeds.stream("rate"), origin),
            delay: match delay.constant() {
                Some(delay) => Delay::Constant(nanos(delay)),
                None => Delay::Varying(delay),
            },
            losses: config.losses.iter().enumerate().map(loss).collect(),
            random: Streams {
                reorder: seeds.stream("reorder"),
                duplicate: seeds.stream("duplicate"),
                corrupt: seeds.stream("corrupt"),
            },
            config,
            pending: VecDeque::new(),
            pending_bytes: 0,
            busy_until: Instant::ZERO,
            last_arrival: Instant::ZERO,
            prompt: VecDeque::new(),
            held_up: VecDeque::new(),
            black_hole: false,
            down: false,
            stats: LinkStats::default(),
            busy_ns: 0,
            wait_ns: 0,
        }
    }

    /// Offers the link a packet of `len` bytes at IP level and returns the outcome.
    pub fn enqueue(&mut self, now: Instant, packet: P, len: usize) -> EnqueueOutcome {
        self.stats.offered.add(len);
        if self.down {
            self.stats.dropped_down.add(len);
            return EnqueueOutcome::Down;
        }
        self.settle(now);
        if !self.has_room(len) {
            self.stats.dropped_queue.add(len);
            return EnqueueOutcome::QueueFull;
        }
        let start = self.busy_until.max(now);
        let pending = self.transmit(now, len, packet.is_spared());
        let Pending { departs, lost, retransmissions, .. } = pending;
        self.busy_ns += u128::from(departs.as_nanos() - start.as_nanos());
        self.wait_ns += u128::from(start.as_nanos() - now.as_nanos());
        self.pending.push_back(pending);
        self.pending_bytes += len as u64;
        self.stats.max_queue = self.stats.max_queue.max(self.pending.len() - 1);
        if departs < Instant::MAX && !lost {
            self.propagate(departs, packet, len);
        }
        EnqueueOutcome::Taken { departs, lost, retransmissions }
    }

    /// Sends a packet until it is not lost or given up.
    fn transmit(&mut self, now: Instant, len: usize, spared: bool) -> Pending {
        let mut retransmissions = 0;
        loop {
            let departs = self.transmitter.serve(now, self.busy_until, len);
            self.busy_until = departs;
            // What never leaves meets no loss. `|`, not `||`: each model must see every packet.
            let lost = departs < Instant::MAX
                && self.losses.iter_mut().fold(false, |lost, loss| lost | loss.next_is_lost(departs, len));
            let lost = lost && !spared;
            if !lost || retransmissions == self.config.retries {
                return Pending { departs, len, lost, retransmissions };
            }
            retransmissions += 1;
        }
    }

    /// When to poll next; `None`: not before the next `enqueue`.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let prompt = self.prompt.front().map(|flight| flight.arrival);
        let held_up = self.held_up.front().map(|flight| flight.arrival);
        prompt.into_iter().chain(held_up).min().filter(|&at| at < Instant::MAX)
    }

    /// The next packet that has arrived by `now`, in order of arrival.
    pub fn poll(&mut self, now: Instant) -> Option<P> {
        loop {
            let arrival = self.poll_timeout().filter(|&arrival| arrival <= now)?;
            let ring = match self.prompt.front() {
                Some(flight) if flight.arrival == arrival => &mut self.prompt,
                _ => &mut self.held_up,
            };
            let flight = ring.pop_front().expect("poll_timeout named the front of one of the two rings");
            if self.black_hole {
                self.stats.dropped_black_hole.add(flight.len);
            } else {
                self.stats.delivered.add(flight.len);
                return Some(flight.packet);
            }
        }
    }

    /// While on, everything that arrives is swallowed, also what was sent before; the sender notices nothing.
    pub fn set_black_hole(&mut self, on: bool) {
        self.black_hole = on;
    }

    /// Takes the link down: what waits and what propagates is dropped, and so are new packets, until it is up again.
    /// The sender learns of it from [`EnqueueOutcome::Down`] or not at all, as the caller chooses. Poll first: what has arrived
    /// and was not fetched is dropped, too. Gives those that were dropped and would have arrived, copies among them.
    pub fn set_down(&mut self, now: Instant, down: bool) -> Vec<P> {
        self.down = down;
        if !down {
            return Vec::new();
        }
        self.settle(now);
        (self.busy_ns, self.wait_ns) = self.times(now);
        // In the rings is all that has not been lost and will leave; a packet whose copy is there, too, counts twice.
        let nowhere = |pending: &Pending| pending.lost || pending.departs == Instant::MAX;
        for pending in self.pending.drain(..).filter(nowhere) {
            self.stats.dropped_down.add(pending.len);
        }
        let mut dropped = Vec::new();
        for flight in self.prompt.drain(..).chain(self.held_up.drain(..)) {
            self.stats.dropped_down.add(flight.len);
            dropped.push(flight.packet);
        }
        self.pending_bytes = 0;
        self.busy_until = now.min(self.busy_until);
        self.last_arrival = Instant::ZERO;
        dropped
    }

    /// How many packets wait at `now`, without the one in the transmitter.
    pub fn waiting(&self, now: Instant) -> usize {
        (self.pending.len() - self.served(now)).saturating_sub(1)
    }

    /// What has happened until `now`, which is not before the last call with a time.
    pub fn stats_at(&self, now: Instant) -> LinkStats {
        let mut stats = self.stats;
        for pending in self.pending.range(..self.served(now)) {
            pending.leave(&mut stats);
        }
        let (busy, wait) = self.times(now);
        LinkStats { busy_time: from_nanos(busy), queue_time: from_nanos(wait), ..stats }
    }

    /// How many bits the transmitter could send after `from` and until `to`; `None`: any number.
    pub fn capacity_bits(&self, from: Instant, to: Instant) -> Option<f64> {
        self.transmitter.capacity_bits(from, to)
    }

    /// What the link is like.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// How much room the rings have.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> [usize; 3] {
        [self.pending.capacity(), self.prompt.capacity(), self.held_up.capacity()]
    }

    /// Counts the packets that have left the transmitter.
    fn settle(&mut self, now: Instant) {
        while let Some(pending) = self.pending.pop_front_if(|pending| pending.departs <= now) {
            self.pending_bytes -= pending.len as u64;
            pending.leave(&mut self.stats);
        }
    }

    /// Whether a packet may enter, after [`settle`](Self::settle).
    fn has_room(&self, len: usize) -> bool {
        let in_service = match self.pending.front() {
            None if !self.config.queue.in_service => return true,
            Some(first) if !self.config.queue.in_service => (1, first.len as u64),
            _ => (0, 0),
        };
        match self.config.queue.limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.pending.len() - in_service.0 < limit,
            QueueLimit::Bytes(limit) => self.pending_bytes - in_service.1 + len as u64 <= limit,
        }
    }

    /// How many of the pending packets have left the transmitter by `now`.
    fn served(&self, now: Instant) -> usize {
        self.pending.partition_point(|pending| pending.departs <= now)
    }

    /// Busy and waiting times until `now`, in nanoseconds: the whole without what is still to come.
    fn times(&self, now: Instant) -> (u128, u128) {
        let busy = self.busy_ns - (self.busy_until - now).as_nanos();
        // Each waits until the one before has left.
        let mut left = self.pending.range(self.served(now)..);
        left.next_back();
        let wait = left.map(|before| (before.departs - now).as_nanos()).sum::<u128>();
        (busy, self.wait_ns - wait)
    }

    /// Sends a packet whose last bit leaves the transmitter at `departs` on its way.
    fn propagate(&mut self, departs: Instant, packet: P, len: usize) {
        let delay = match &mut self.delay {
            Delay::Constant(delay) => *delay,
            Delay::Varying(delay) => nanos(delay.at(departs)),
        };
        let propagated = Instant::from_nanos(departs.as_nanos().saturating_add(delay));
        let overtakes = !self.config.keep_order && propagated < self.last_arrival;
        // Also after a packet that is held up: the others then arrive as they would without reordering.
        self.last_arrival = self.last_arrival.max(propagated);
        let prompt = if self.config.keep_order { self.last_arrival } else { propagated };
        let held_up = self.config.reorder.filter(|reorder| self.random.reorder.chance(reorder.probability));
        let (arrival, ring) = match held_up {
            Some(reorder) => (prompt + reorder.extra, &mut self.held_up),
            None => (prompt, &mut self.prompt),
        };
        let copy = happens(&mut self.random.duplicate, self.config.duplicate).then(|| packet.clone());
        if copy.is_some() {
            self.stats.duplicated.add(len);
        }
        for mut packet in core::iter::once(packet).chain(copy) {
            if happens(&mut self.random.corrupt, self.config.corrupt) {
                packet.corrupt(&mut self.random.corrupt);
                self.stats.corrupted.add(len);
            }
            if held_up.is_some() || overtakes {
                self.stats.reordered.add(len);
            }
            insert(ring, Flight { arrival, packet, len });
        }
    }
}

impl Pending {
    fn leave(&self, stats: &mut LinkStats) {
        stats.served.add(self.len);
        let retransmissions = u64::from(self.retransmissions);
        stats.repeated += Count { packets: retransmissions, bytes: retransmissions * self.len as u64 };
        if self.lost {
            stats.dropped_loss.add(self.len);
        }
    }
}

/// Puts a packet behind those that arrive no later: nearly always at the end.
fn insert<P>(ring: &mut VecDeque<Flight<P>>, flight: Flight<P>) {
    match ring.back() {
        Some(last) if last.arrival > flight.arrival => {
            let place = ring.partition_point(|other| other.arrival <= flight.arrival);
            ring.insert(place, flight);
        }
        _ => ring.push_back(flight),
    }
}

/// Draws only if there is something to draw: most links damage and duplicate nothing.
fn happens(random: &mut Random, p: f64) -> bool {
    p > 0.0 && random.chance(p)
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

fn from_nanos(ns: u128) -> Duration {
    const PER_SECOND: u128 = 1_000_000_000;
    let seconds = u64::try_from(ns / PER_SECOND).unwrap_or(u64::MAX);
    Duration::new(seconds, (ns % PER_SECOND) as u32)
}
