//! The link itself.

use super::{Delay, LinkConfig, LinkStats, Payload};
use crate::loss::Loss;
use core::time::Duration;
use std::collections::VecDeque;
use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::Instant;

const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// One direction of a link: drop-tail queue, transmitter, random loss, propagation.
///
/// Use: `enqueue` what is sent, `poll` until `None` whenever `poll_timeout` is due. Time must not go back.
///
/// Model: a packet waits until the transmitter is free, is serialised in length × 8 / rate (rounding does not add up
/// while the transmitter is busy), passes the loss models, propagates. In a FIFO all of this is known when the packet
/// enters, so its fate is drawn then and only its arrival is an event; polling late changes nothing but the moment
/// of delivery. Limits: the link adds no overhead (the caller gives the IP-level length), its rate is constant, and
/// it drops only at the tail. Validation: exact serialisation times, the mean wait of M/D/1, conservation of packets
/// under random use.
#[derive(Debug)]
pub struct Link<P> {
    config: LinkConfig,
    losses: Vec<Loss>,
    random: Streams,
    /// When each waiting packet will start to be serialised, lost ones too; ascending.
    starts: VecDeque<Instant>,
    /// When the transmitter has served all packets accepted so far.
    busy_until: Instant,
    /// By how much the true `busy_until` is later, in 1/rate nanoseconds.
    remainder: u128,
    /// Serialisation times of all packets accepted so far.
    serialisation: Duration,
    /// No packet that keeps its order arrives earlier.
    last_arrival: Instant,
    /// Propagating packets by arrival: those in order, and those held up. Since these are all held up for the same time,
    /// each ring is sorted by itself.
    in_order: VecDeque<Flight<P>>,
    held_up: VecDeque<Flight<P>>,
    black_hole: bool,
    down: bool,
    stats: LinkStats,
}

/// A random stream a purpose, so that switching one on leaves the others' draws alone.
#[derive(Debug)]
struct Streams {
    delay: Random,
    reorder: Random,
    duplicate: Random,
    corrupt: Random,
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
        let loss = |(i, &model)| Loss::new(model, seeds.stream(&format!("loss/{i}")));
        Link {
            losses: config.losses.iter().enumerate().map(loss).collect(),
            random: Streams {
                delay: seeds.stream("delay"),
                reorder: seeds.stream("reorder"),
                duplicate: seeds.stream("duplicate"),
                corrupt: seeds.stream("corrupt"),
            },
            config,
            starts: VecDeque::new(),
            busy_until: Instant::ZERO,
            remainder: 0,
            serialisation: Duration::ZERO,
            last_arrival: Instant::ZERO,
            in_order: VecDeque::new(),
            held_up: VecDeque::new(),
            black_hole: false,
            down: false,
            stats: LinkStats::default(),
        }
    }

    /// Gives the link a packet of `len` bytes at IP level. Returns whether it was taken: `false` if the link is down or
    /// its queue full. What happens to it later only the statistics tell.
    pub fn enqueue(&mut self, now: Instant, packet: P, len: usize) -> bool {
        self.stats.offered.add(len);
        if self.down {
            self.stats.dropped_down.add(len);
            return false;
        }
        while self.starts.front().is_some_and(|&start| start <= now) {
            self.starts.pop_front();
        }
        if self.busy_until > now {
            if self.starts.len() >= self.config.queue_packets {
                self.stats.dropped_queue.add(len);
                return false;
            }
            self.starts.push_back(self.busy_until);
            self.stats.max_queue = self.stats.max_queue.max(self.starts.len());
        }
        self.serialise(now, len);
        // `|`, not `||`: each model must see every packet.
        if self.losses.iter_mut().fold(false, |lost, loss| lost | loss.next_is_lost()) {
            self.stats.dropped_loss.add(len);
        } else {
            self.propagate(packet, len);
        }
        true
    }

    /// When to poll next; `None`: not before the next `enqueue`.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let in_order = self.in_order.front().map(|flight| flight.arrival);
        let held_up = self.held_up.front().map(|flight| flight.arrival);
        in_order.into_iter().chain(held_up).min()
    }

    /// The next packet that has arrived by `now`, in order of arrival.
    pub fn poll(&mut self, now: Instant) -> Option<P> {
        loop {
            let arrival = self.poll_timeout().filter(|&arrival| arrival <= now)?;
            let ring = match self.in_order.front() {
                Some(flight) if flight.arrival == arrival => &mut self.in_order,
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

    /// Takes the link down: what waits and what propagates is dropped, and new packets are refused, until it is up again.
    /// Poll first: what has arrived and was not fetched is dropped, too.
    pub fn set_down(&mut self, now: Instant, down: bool) {
        self.down = down;
        if !down {
            return;
        }
        for flight in self.in_order.drain(..).chain(self.held_up.drain(..)) {
            self.stats.dropped_down.add(flight.len);
        }
        self.starts.clear();
        self.serialisation = self.busy_time(now);
        self.busy_until = now.min(self.busy_until);
        self.remainder = 0;
        self.last_arrival = Instant::ZERO;
    }

    /// How many packets wait at `now`, without the one being serialised.
    pub fn waiting(&self, now: Instant) -> usize {
        self.starts.len() - self.starts.partition_point(|&start| start <= now)
    }

    /// For how long until `now` the transmitter has been serialising.
    pub fn busy_time(&self, now: Instant) -> Duration {
        self.serialisation.saturating_sub(self.busy_until.saturating_since(now))
    }

    /// What has happened so far.
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    /// What the link is like.
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// How much room the rings have.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> [usize; 3] {
        [self.starts.capacity(), self.in_order.capacity(), self.held_up.capacity()]
    }

    /// Books the transmitter for a packet of `len` bytes.
    fn serialise(&mut self, now: Instant, len: usize) {
        if now > self.busy_until {
            self.busy_until = now;
            self.remainder = 0;
        }
        let Some(rate) = self.config.rate_bps.map(u128::from) else { return };
        let scaled = len as u128 * 8 * NANOS_PER_SECOND + self.remainder;
        let time = Duration::from_nanos((scaled / rate).try_into().unwrap_or(u64::MAX));
        self.remainder = scaled % rate;
        self.serialisation += time;
        self.busy_until += time;
    }

    /// Sends a packet whose serialisation ends at `busy_until` on its way.
    fn propagate(&mut self, packet: P, len: usize) {
        let delay = match self.config.delay {
            Delay::Fixed(delay) => delay,
            Delay::Uniform { min, max } => {
                let range = u64::try_from((max - min).as_nanos()).unwrap_or(u64::MAX - 1);
                min + Duration::from_nanos(self.random.delay.below(range + 1))
            }
        };
        let in_order = (self.busy_until + delay).max(self.last_arrival);
        let held_up = self.config.reorder.filter(|reorder| self.random.reorder.chance(reorder.probability));
        let arrival = match held_up {
            Some(reorder) => in_order + reorder.extra,
            None => in_order,
        };
        // Also after a packet that is held up: the others then arrive as they would without reordering.
        self.last_arrival = in_order;
        let copy = self.random.duplicate.chance(self.config.duplicate).then(|| packet.clone());
        if copy.is_some() {
            self.stats.duplicated.add(len);
        }
        for mut packet in core::iter::once(packet).chain(copy) {
            if self.random.corrupt.chance(self.config.corrupt) {
                packet.corrupt(&mut self.random.corrupt);
                self.stats.corrupted.add(len);
            }
            let ring = if held_up.is_some() {
                self.stats.reordered.add(len);
                &mut self.held_up
            } else {
                &mut self.in_order
            };
            ring.push_back(Flight { arrival, packet, len });
        }
    }
}
