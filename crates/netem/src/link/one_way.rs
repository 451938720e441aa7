//! One direction of a link.

use std::collections::VecDeque;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::backlog::Queued;
use super::managed::Managed;
use super::policer::Bucket;
use super::transmitter::Transmitter;
use super::{Count, LinkConfig, LinkStats, Payload};
use crate::loss::Loss;
use crate::number::Varying;

/// One direction of a link. Its stages are policer, queue, transmitter, random loss, retransmission and propagation.
///
/// The caller calls `enqueue` for each packet to send. At each `poll_timeout`, it calls `poll` until that returns
/// `None`. The times of these calls must not decrease. Before these calls, `serve` reports the outcome of packets that
/// [wait](EnqueueOutcome::Waits) in a managed queue.
///
/// Model: a packet waits until the transmitter is free. A packet whose turn has come is serialised, passes the loss
/// models, and propagates. Rounding errors do not add up while the transmitter is busy. If a loss model drops the
/// packet and the link retransmits, the packet is sent again immediately. A drop-tail queue determines the outcome of a
/// packet when the packet enters it, even at a varying rate. Random losses are therefore drawn at that time, and only
/// the arrival is an event. A managed queue chooses the next packet when the transmitter becomes free. If the caller
/// polls late, only the delivery is delayed. Limits: the link adds no overhead (the caller gives the length at IP
/// level), and it does not mark packets (ECN). Validation: exact serialisation times for any course of the rate, the
/// mean wait of M/D/1, conservation of packets under random use, delays of packets that overtake each other, and the
/// rules of CoDel and FQ-CoDel.
#[derive(Debug)]
pub struct Link<P> {
    config: LinkConfig,
    policer: Option<Bucket>,
    /// The queue, if it is a managed queue.
    managed: Option<Box<Managed<P>>>,
    /// Time of the last arrival at the managed queue.
    latest: Instant,
    transmitter: Transmitter,
    delay: Delay,
    losses: Vec<Loss>,
    random: Streams,
    /// Packets whose last bit had not left the transmitter at the time of the last arrival, in order. All but the first
    /// wait.
    pending: VecDeque<Pending>,
    /// Total bytes of the pending packets.
    pending_bytes: u64,
    /// Time at which the transmitter finishes all accepted packets.
    busy_until: Instant,
    /// Latest arrival time of all accepted packets, without extra delays. If the link keeps the order of packets, no
    /// later packet arrives before this time.
    last_arrival: Instant,
    /// Propagating packets in the order of arrival: the first ring has packets without the extra delay, the second ring
    /// packets with it. The extra delay is constant. If the link keeps the order of packets, each ring therefore grows
    /// only at its end.
    prompt: VecDeque<Flight<P>>,
    held_up: VecDeque<Flight<P>>,
    black_hole: bool,
    down: bool,
    /// Counters, without the pending packets and without times.
    stats: LinkStats,
    /// Total busy time of the transmitter and total waiting time, both in nanoseconds, for all packets accepted so far.
    /// If a packet waits for ever, these times soon exceed 64 bits.
    busy_ns: u128,
    wait_ns: u128,
}

/// Outcome of offering a packet to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnqueueOutcome {
    /// The packet waits for the transmitter. A packet at the transmitter is sent, unless the link goes down before.
    Taken {
        /// Time at which the packet's last bit leaves the transmitter for the last time. The time is [`Instant::MAX`]
        /// if the rate stays 0.
        departs: Instant,
        /// True if a loss model drops the packet after the transmitter and the link does not retransmit it again.
        lost: bool,
        /// Number of retransmissions of the packet by the link.
        retransmissions: u8,
    },
    /// The packet waits in a managed queue, which has not decided on it yet.
    Waits,
    /// The packet was dropped because the queue was full.
    QueueFull,
    /// The policer dropped the packet.
    Policed,
    /// The managed queue dropped the packet to keep waiting times short.
    Managed,
    /// The packet was dropped because the link was down.
    Down,
}

/// Propagation delay of a link. Nearly all links have a constant delay.
#[derive(Debug)]
enum Delay {
    /// Constant delay in nanoseconds.
    Constant(u64),
    Varying(Varying),
}

/// Random streams, one per purpose. Enabling a feature therefore does not change the random numbers of the others.
#[derive(Debug)]
struct Streams {
    reorder: Random,
    duplicate: Random,
    corrupt: Random,
}

/// A packet in the transmitter, or waiting for it.
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
    /// Returns a link that is up and empty. The random streams of the link have the label `label`.
    ///
    /// # Panics
    /// Panics if [`LinkConfig::validate`] rejects `config`.
    pub fn new(config: LinkConfig, seeds: &Seeds, label: &str) -> Self {
        if let Err(error) = config.validate() {
            panic!("link {label}: {error}");
        }
        let seeds = seeds.child(label);
        let origin = config.origin;
        let delay = Varying::new(&config.delay, seeds.stream("delay"), origin);
        let loss = |(i, model)| Loss::new(model, &seeds, &format!("loss/{i}"), origin);
        Link {
            policer: config.policer.map(Bucket::new),
            managed: Managed::new(config.queue.discipline, || seeds.stream("flows").u64()).map(Box::new),
            latest: Instant::ZERO,
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

    /// Offers a packet of `len` bytes at IP level to the link. Returns the outcome.
    pub fn enqueue(&mut self, now: Instant, packet: P, len: usize) -> EnqueueOutcome {
        self.stats.offered.add(len);
        if self.down {
            self.stats.dropped_down.add(len);
            return EnqueueOutcome::Down;
        }
        self.serve(now, |_, _| ());
        self.settle(now);
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, len)) {
            self.stats.dropped_queue.add(len);
            return EnqueueOutcome::Policed;
        }
        if !self.has_room(len) {
            self.stats.dropped_queue.add(len);
            return EnqueueOutcome::QueueFull;
        }
        if let Some(managed) = &mut self.managed {
            self.latest = now;
            managed.push(packet.flow(), Queued { packet, len, since: now });
            let waiting = managed.len() - usize::from(self.busy_until <= now);
            self.stats.max_queue = self.stats.max_queue.max(waiting);
            return EnqueueOutcome::Waits;
        }
        let pending = self.send(now, &packet, len);
        self.stats.max_queue = self.stats.max_queue.max(self.pending.len() - 1);
        let Pending { departs, lost, retransmissions, .. } = pending;
        if departs < Instant::MAX && !lost {
            self.propagate(departs, packet, len);
        }
        EnqueueOutcome::Taken { departs, lost, retransmissions }
    }

    /// Lets the transmitter take the packets of a managed queue whose turn comes until `now`. Calls the function
    /// `decided` for each packet that the transmitter takes, and for each packet that the queue drops.
    pub fn serve(&mut self, now: Instant, mut decided: impl FnMut(&P, EnqueueOutcome)) {
        let Some(mut managed) = self.managed.take() else { return };
        let limit = self.config.queue.limit;
        while managed.len() > 0 {
            let (latest, turn, mut wait) = (self.latest, self.turn(), 0);
            let stats = &mut self.stats;
            let mut drop = |at: Instant, packet: Queued<P>, outcome| {
                stats.dropped_queue.add(packet.len);
                wait += (at - packet.since).as_nanos();
                decided(&packet.packet, outcome);
            };
            managed.trim(limit, &mut |packet| drop(latest, packet, EnqueueOutcome::QueueFull));
            let mut early = |packet| drop(turn, packet, EnqueueOutcome::Managed);
            let next = (turn <= now).then(|| managed.pop(turn, &mut early));
            self.wait_ns += wait;
            let Some(next) = next else { break };
            let Some(Queued { packet, len, since }) = next else { continue };
            self.settle(turn);
            let Pending { departs, lost, retransmissions, .. } = self.send(since, &packet, len);
            decided(&packet, EnqueueOutcome::Taken { departs, lost, retransmissions });
            if departs < Instant::MAX && !lost {
                self.propagate(departs, packet, len);
            }
        }
        self.managed = Some(managed);
    }

    /// Passes a packet that arrived at `now` to the transmitter.
    fn send(&mut self, now: Instant, packet: &P, len: usize) -> Pending {
        let start = self.busy_until.max(now);
        let pending = self.transmit(now, len, packet.is_spared());
        let departs = pending.departs;
        self.busy_ns += u128::from(departs.as_nanos() - start.as_nanos());
        self.wait_ns += u128::from(start.as_nanos() - now.as_nanos());
        self.pending.push_back(pending);
        self.pending_bytes += len as u64;
        pending
    }

    /// Transmits a packet until it is not lost, or until the retransmissions are used up.
    fn transmit(&mut self, now: Instant, len: usize, spared: bool) -> Pending {
        let mut retransmissions = 0;
        loop {
            let departs = self.transmitter.serve(now, self.busy_until, len);
            self.busy_until = departs;
            // A packet that never leaves is not lost. `|`, not `||`: each model must process every packet.
            let lost = departs < Instant::MAX
                && self.losses.iter_mut().fold(false, |lost, loss| lost | loss.next_is_lost(departs, len));
            let lost = lost && !spared;
            if !lost || retransmissions == self.config.retries {
                return Pending { departs, len, lost, retransmissions };
            }
            retransmissions += 1;
        }
    }

    /// Returns the time of the next poll; `None` until the next `enqueue`.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let turn = self.managed.as_ref().filter(|managed| managed.len() > 0).map(|_| self.turn());
        self.next_arrival().into_iter().chain(turn).min().filter(|&at| at < Instant::MAX)
    }

    /// Returns the time at which the transmitter takes the next packet of a managed queue. An idle transmitter takes a
    /// packet at its arrival, so it is never idle while packets wait.
    fn turn(&self) -> Instant {
        self.busy_until.max(self.latest)
    }

    fn next_arrival(&self) -> Option<Instant> {
        let prompt = self.prompt.front().map(|flight| flight.arrival);
        let held_up = self.held_up.front().map(|flight| flight.arrival);
        prompt.into_iter().chain(held_up).min()
    }

    /// Returns the next packet that has arrived until `now`, in order of arrival.
    pub fn poll(&mut self, now: Instant) -> Option<P> {
        self.serve(now, |_, _| ());
        loop {
            let arrival = self.next_arrival().filter(|&arrival| arrival <= now)?;
            let ring = match self.prompt.front() {
                Some(flight) if flight.arrival == arrival => &mut self.prompt,
                _ => &mut self.held_up,
            };
            let flight = ring.pop_front().expect("next_arrival named the front of one of the two rings");
            if self.black_hole {
                self.stats.dropped_black_hole.add(flight.len);
            } else {
                self.stats.delivered.add(flight.len);
                return Some(flight.packet);
            }
        }
    }

    /// Turns the black hole of the link on or off. A black hole drops every packet that reaches the end of the link,
    /// including packets that were sent before. The sender is not notified.
    pub fn set_black_hole(&mut self, on: bool) {
        self.black_hole = on;
    }

    /// Takes the link down, or brings it up. A link that goes down drops waiting and propagating packets. A link that
    /// is down drops new packets until it is up again. The caller decides whether the sender is notified by
    /// [`EnqueueOutcome::Down`]. Packets that have arrived must be polled before this call. Packets that were not
    /// polled are also dropped. Returns the dropped packets and copies that would have arrived.
    pub fn set_down(&mut self, now: Instant, down: bool) -> Vec<P> {
        self.down = down;
        if !down {
            return Vec::new();
        }
        self.settle(now);
        (self.busy_ns, self.wait_ns) = self.times(now);
        // The rings contain all packets that were not lost and will leave; a packet with a copy counts twice.
        let nowhere = |pending: &Pending| pending.lost || pending.departs == Instant::MAX;
        for pending in self.pending.drain(..).filter(nowhere) {
            self.stats.dropped_down.add(pending.len);
        }
        let mut dropped = Vec::new();
        for flight in self.prompt.drain(..).chain(self.held_up.drain(..)) {
            self.stats.dropped_down.add(flight.len);
            dropped.push(flight.packet);
        }
        for waiting in self.managed.iter_mut().flat_map(|managed| managed.drain()) {
            self.stats.dropped_down.add(waiting.len);
            dropped.push(waiting.packet);
        }
        self.pending_bytes = 0;
        self.busy_until = now.min(self.busy_until);
        self.last_arrival = Instant::ZERO;
        dropped
    }

    /// Returns the number of packets waiting at `now`, without the packet in the transmitter.
    pub fn waiting(&self, now: Instant) -> usize {
        if let Some(managed) = &self.managed {
            return managed.len();
        }
        (self.pending.len() - self.served(now)).saturating_sub(1)
    }

    /// Returns the statistics until `now`. The time `now` must not precede the last call that had a time.
    pub fn stats_at(&self, now: Instant) -> LinkStats {
        let mut stats = self.stats;
        for pending in self.pending.range(..self.served(now)) {
            pending.leave(&mut stats);
        }
        let (busy, wait) = self.times(now);
        LinkStats { busy_time: from_nanos(busy), queue_time: from_nanos(wait), ..stats }
    }

    /// Returns the number of bits that the transmitter could send after `from` and until `to`; `None` if it is
    /// unlimited.
    pub fn capacity_bits(&self, from: Instant, to: Instant) -> Option<f64> {
        self.transmitter.capacity_bits(from, to)
    }

    /// Returns the configuration of the link.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Returns the capacities of the rings.
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

    /// Returns whether a packet of `len` bytes may enter, after a call of [`settle`](Self::settle).
    fn has_room(&self, len: usize) -> bool {
        if let Some(managed) = &self.managed {
            // The transmitter takes at once what comes while it is idle.
            return self.pending.is_empty() || managed.has_room(self.config.queue.limit, len);
        }
        let in_service = match self.pending.front() {
            None if !self.config.queue.in_service => return true,
            Some(first) if !self.config.queue.in_service => (1, first.len as u64),
            _ => (0, 0),
        };
        let (packets, bytes) = (self.pending.len() - in_service.0, self.pending_bytes - in_service.1);
        self.config.queue.limit.holds(packets + 1, bytes + len as u64)
    }

    /// Returns the number of pending packets that have left the transmitter until `now`.
    fn served(&self, now: Instant) -> usize {
        self.pending.partition_point(|pending| pending.departs <= now)
    }

    /// Returns the busy time and the waiting time until `now`, in nanoseconds. The future part of the totals is
    /// subtracted.
    fn times(&self, now: Instant) -> (u128, u128) {
        let busy = self.busy_ns - (self.busy_until - now).as_nanos();
        // Each waits until the previous one has left.
        let mut left = self.pending.range(self.served(now)..);
        left.next_back();
        let wait = left.map(|before| (before.departs - now).as_nanos()).sum::<u128>();
        let managed = self.managed.as_ref().map_or(0, |managed| managed.waited(now));
        (busy, self.wait_ns - wait + managed)
    }

    /// Starts the propagation of a packet whose last bit leaves the transmitter at `departs`.
    fn propagate(&mut self, departs: Instant, packet: P, len: usize) {
        let delay = match &mut self.delay {
            Delay::Constant(delay) => *delay,
            Delay::Varying(delay) => nanos(delay.at(departs)),
        };
        let propagated = Instant::from_nanos(departs.as_nanos().saturating_add(delay));
        let overtakes = !self.config.keep_order && propagated < self.last_arrival;
        // This includes a packet with extra delay: the others then arrive as they would without reordering.
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
        let Link { config, random, stats, .. } = self;
        let mut fly = |mut packet: P| {
            if happens(&mut random.corrupt, config.corrupt) {
                packet.corrupt(&mut random.corrupt);
                stats.corrupted.add(len);
            }
            if held_up.is_some() || overtakes {
                stats.reordered.add(len);
            }
            insert(ring, Flight { arrival, packet, len });
        };
        fly(packet);
        if let Some(copy) = copy {
            fly(copy);
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

/// Inserts a packet after the packets that arrive earlier or at the same time. The place is nearly always the end.
fn insert<P>(ring: &mut VecDeque<Flight<P>>, flight: Flight<P>) {
    match ring.back() {
        Some(last) if last.arrival > flight.arrival => {
            let place = ring.partition_point(|other| other.arrival <= flight.arrival);
            ring.insert(place, flight);
        }
        _ => ring.push_back(flight),
    }
}

/// Returns true with probability `p`. A random number is drawn only if `p` is above 0, because most links do not damage
/// or duplicate packets.
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
