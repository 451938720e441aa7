//! Test whether a path's losses coincide with long queues.
//!
//! The rank of a queueing delay is the share of recent delays that were shorter. A radio loses packets at any length of
//! the queue. The ranks of its losses are between 0 and 1, and 0.5 on average. This holds if a queue or jitter causes
//! the delays, and also if there are no delays. A full queue loses packets at the longest delays of the path, even if
//! these delays are short. The mean rank is then near 1. If other flows keep a queue full all the time, the mean rank
//! stays far below 1. Losses then do not depend on the window of this flow.
//!
//! The delays are taken from randomly drawn packets, because losses also hit packets at random. The packets of a
//! picture leave as a burst, in which each packet waits for the packets before it. The delay of the first packet of a
//! burst is therefore shorter than the delay of most packets.
//!
//! The same delays show whether other flows keep the queue filled (test of Copa, Arun and Balakrishnan 2018). If only
//! this flow fills a queue, the queue is nearly empty at least once in 16 round trips.
//!
//! `ASSUMED`: the constants.

use smallvec::SmallVec;

use strandcast_proto::time::{Duration, Instant};

use crate::estimate::MIN_QUEUE;

/// Number of queueing delays that are kept, and number of delays that are taken per round trip. The delays thus cover
/// the last 16 round trips.
const KEPT: usize = 64;
const PER_TRIP: u32 = 4;
/// Number of delays that are needed for a rank.
const ENOUGH: usize = 16;
/// Number of losses that suffice to show whether losses coincide with long queues.
const KNOWN: u32 = 8;
/// Reciprocal of the weight of a loss in the mean. With this weight, the mean rank of random losses is within 0.04 of
/// one half most of the time.
const WEIGHT: u32 = 32;
/// Number of losses that the initial mean stands for.
const PRIOR: u32 = 4;
/// Mean rank above which losses coincide with long queues.
const LONG: f64 = 0.65;
/// Number of standard deviations. While few losses are known, the mean rank must also exceed one half by this amount.
const SURE: f64 = 3.0;
/// Standard deviation of a rank that is distributed uniformly between 0 and 1: 1/√12, rounded.
const DEVIATION: f64 = 0.289;
/// Rank below which a loss is never attributed to a full queue. A loss at a queue shorter than [`MIN_QUEUE`] is not
/// attributed to a full queue either.
const MEDIAN: f64 = 0.5;

/// Shares of a window that remain after a full queue: the half of RFC 9260, and the share of RFC 9438. The second one
/// applies while other flows keep the queue filled.
pub const HALF: f64 = 0.5;
pub const BESIDE: f64 = 0.7;
/// Share of the longest queue. If the queue was never shorter than this share, other flows fill it (Copa).
const STANDS: f64 = 0.1;

/// Queueing delay of one packet that was drawn at random from several packets.
#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    /// Queueing delay in seconds.
    queue: f64,
    /// Number of packets from which the delay was drawn.
    packets: u32,
}

/// Recent queueing delays, and mean rank of the delays at losses.
#[derive(Debug)]
pub(super) struct Ranks {
    /// Delays that were drawn. Once the list is full, the delay at `next` is the oldest one.
    late: SmallVec<[Drawn; KEPT]>,
    next: usize,
    /// The current draw, and the time at which it began.
    drawn: Drawn,
    at: Instant,
    /// State of the draws (Knuth's MMIX generator). Every path draws the same sequence. One sequence suffices, because
    /// the choice of a packet must only be independent of the structure of its burst.
    draw: u64,
    /// Mean rank of losses.
    mean: f64,
    losses: u32,
}

impl Default for Ranks {
    fn default() -> Self {
        let drawn = Drawn::default();
        Ranks { late: SmallVec::new(), next: 0, drawn, at: Instant::ZERO, draw: 0, mean: 0.5, losses: 0 }
    }
}

impl Ranks {
    /// Takes the queueing delay in seconds of `packets` packets that were acknowledged.
    pub fn seen(&mut self, now: Instant, srtt: Option<Duration>, queue: f64, packets: u32) {
        self.drawn.packets = self.drawn.packets.saturating_add(packets);
        self.draw = self.draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (self.draw >> 33) as u32 % self.drawn.packets.max(1) < packets {
            self.drawn.queue = queue;
        }
        if packets == 0 || now.saturating_since(self.at) < srtt.unwrap_or_default() / PER_TRIP {
            return;
        }
        self.at = now;
        let drawn = std::mem::take(&mut self.drawn);
        match self.late.get_mut(self.next) {
            Some(oldest) => *oldest = drawn,
            None => self.late.push(drawn),
        }
        self.next = (self.next + 1) % KEPT;
    }

    /// Share of recent packets whose queue was shorter. Packets with an equal queue count half.
    fn rank(&self, queue: f64) -> f64 {
        let (mut shorter, mut all) = (0.0, 0.0);
        for late in &self.late {
            let packets = f64::from(late.packets);
            all += packets;
            if late.queue < queue {
                shorter += packets;
            } else if late.queue == queue {
                shorter += packets / 2.0;
            }
        }
        if all > 0.0 { shorter / all } else { 0.0 }
    }

    /// Returns whether the queue was never nearly empty recently. Other flows may then keep it filled.
    pub fn stands(&self) -> bool {
        let range = |(least, most): (f64, f64), late: &Drawn| (least.min(late.queue), most.max(late.queue));
        let (least, most) = self.late.iter().fold((f64::INFINITY, 0.0), range);
        self.late.len() == KEPT && least > STANDS * most
    }

    /// Share of the window that remains after a full queue. `alone` is true if the association has one path.
    pub fn left(&self, alone: bool) -> f64 {
        // The data in that queue may belong to another path of the association. RFC 6356 assumes that a loss halves the
        // window, whether or not the paths are found to share the queue.
        if self.stands() && alone { BESIDE } else { HALF }
    }

    /// Records that data were lost while the queueing delay was `queue`.
    pub fn lost(&mut self, queue: f64) {
        if self.late.len() >= ENOUGH {
            self.losses = (self.losses + 1).min(WEIGHT);
            let weight = (self.losses + PRIOR).min(WEIGHT);
            self.mean += (self.rank(queue) - self.mean) / f64::from(weight);
        }
    }

    /// Returns whether a full queue caused a loss at this queueing delay. Returns `None` if too few losses are known.
    pub fn blame(&self, queue: f64) -> Option<bool> {
        let losses = f64::from(self.losses);
        let chance = SURE * DEVIATION * losses.sqrt() / (losses + f64::from(PRIOR));
        (self.losses >= KNOWN)
            .then(|| queue >= MIN_QUEUE && self.mean > LONG.max(MEDIAN + chance) && self.rank(queue) > MEDIAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: Option<Duration> = Some(Duration::from_millis(100));

    /// Queues of 1, 2, … 16 ms follow each other repeatedly, four per round trip. In each sixteen, a loss occurs at a
    /// queue of `at` ms.
    fn after(sixteens: u64, at: impl Fn(u64) -> f64) -> Ranks {
        let mut ranks = Ranks::default();
        for n in 0..16 * sixteens {
            ranks.seen(Instant::from_millis(25 * (n + 1)), TRIP, (n % 16 + 1) as f64 / 1e3, 1);
            if n % 16 == 15 {
                ranks.lost(at(n / 16) / 1e3);
            }
        }
        ranks
    }

    #[test]
    fn losses_at_the_longest_queues_are_a_full_queues() {
        let ranks = after(10, |_| 16.0);
        assert_eq!(ranks.blame(0.016), Some(true));
        assert_eq!(ranks.blame(0.004), Some(false), "not one at a short queue");
    }

    /// Losses occur at any length of the queue, as on a radio.
    #[test]
    fn losses_at_any_queue_are_random() {
        let ranks = after(40, |n| (n * 7 % 16 + 1) as f64);
        assert!((ranks.mean - 0.5).abs() < 0.06, "{}", ranks.mean);
        assert_eq!(ranks.blame(0.016), Some(false));
    }

    #[test]
    fn eight_losses_have_to_be_known() {
        assert_eq!(after(7, |_| 16.0).blame(0.016), None);
        assert_eq!(after(8, |_| 16.0).blame(0.016), Some(true));
    }

    /// The limit is three standard deviations: 0.705 after eight losses. A mean rank of 0.66 may therefore occur by
    /// chance.
    #[test]
    fn few_losses_have_to_be_clear() {
        for (at, mean, congestion) in [(13.0, 0.687, false), (15.0, 0.771, true)] {
            let ranks = after(8, |_| at);
            assert!((ranks.mean - mean).abs() < 0.001, "{}", ranks.mean);
            assert_eq!(ranks.blame(0.016), Some(congestion), "at {at} ms of 16");
        }
        assert_eq!(after(64, |_| 13.0).blame(0.016), Some(true), "many are clear");
    }

    /// Hosts need up to 2 ms to wake up.
    #[test]
    fn a_delay_of_hosts_is_no_queue() {
        assert_eq!(after(64, |_| 16.0).blame(0.0019), Some(false));
    }

    /// If a queue is always full or never exists, it has no long delays.
    #[test]
    fn equal_queues_are_no_evidence() {
        let mut ranks = Ranks::default();
        for n in 0..100 {
            ranks.seen(Instant::from_millis(25 * (n + 1)), TRIP, 0.01, 1);
            ranks.lost(0.01);
        }
        assert_eq!(ranks.mean, 0.5);
        assert_eq!(ranks.blame(0.01), Some(false));
    }

    #[test]
    fn a_queue_that_is_never_nearly_empty_stands() {
        for (least, stands) in [(3, true), (2, false), (1, false)] {
            let mut ranks = Ranks::default();
            for n in 0..70 {
                ranks.seen(
                    Instant::from_millis(25 * (n + 1)),
                    TRIP,
                    if n == 40 { f64::from(least) } else { 20.0 },
                    1,
                );
            }
            assert_eq!(ranks.stands(), stands, "{least} of 20");
        }
        assert!(!after(1, |_| 16.0).stands(), "too few are known");
    }

    /// The packets of a picture wait for the packets before them, up to 8 ms in a burst. A loss may hit any of these
    /// packets.
    #[test]
    fn random_losses_of_bursts_are_random() {
        let mut ranks = Ranks::default();
        for n in 0..4000u64 {
            let (picture, packet) = (n / 16, n % 16);
            let queue = packet as f64 / 2e3;
            ranks.seen(Instant::from_millis(40 * (picture + 1)), TRIP, queue, 1);
            if n * 7 % 20 == 0 {
                ranks.lost(queue);
            }
        }
        assert!((ranks.mean - 0.5).abs() < 0.1, "{}", ranks.mean);
    }

    /// The test uses four delays per round trip, of the last sixteen round trips.
    #[test]
    fn old_queues_are_forgotten() {
        let mut ranks = Ranks::default();
        let second = |ranks: &mut Ranks, from: u64, ms: f64| {
            (0..1000).for_each(|n| ranks.seen(Instant::from_millis(from + n), TRIP, ms / 1e3, 1));
        };
        second(&mut ranks, 1000, 20.0);
        assert_eq!((ranks.late.len(), ranks.rank(0.01)), (40, 0.0));
        second(&mut ranks, 2000, 1.0);
        second(&mut ranks, 3000, 1.0);
        assert_eq!((ranks.late.len(), ranks.rank(0.01)), (64, 1.0));
    }
}
