//! The reordering window of a path, computed from the lateness of its overtaken packets. The file
//! `association/sender/reordering.rs` applies it.
//!
//! `ASSUMED`: the values of the constants below. RFC 8985 derives the window from the round-trip time, which says
//! nothing about jitter.

use crate::time::{Duration, Instant};

/// Period over which the longest lateness is recorded. A recorded lateness counts for one to two periods. For
/// comparison: handovers of LEO satellites occur every 15 s.
const MEMORY: Duration = Duration::from_secs(30);
/// Divisor of the longest lateness. The quotient is an additional wait, because the next packet may be later than all
/// packets before it.
const MARGIN: u32 = 4;
/// Minimum step by which a spurious retransmission widens the window.
const MIN_STEP: Duration = Duration::from_millis(2);
/// Maximum wait for an overtaken packet.
const LATEST: Duration = Duration::from_secs(1);

/// State of reordering on one path.
#[derive(Debug, Default)]
pub(crate) struct Reordering {
    /// Lateness of chunks that are known to have arrived late.
    proven: Longest,
    /// Lateness of chunks that seem to have arrived late, because an acknowledgement came soon after a retransmission.
    presumed: Longest,
    /// Least round-trip time of all paths when the longest presumed lateness was recorded.
    least: Duration,
    since: Instant,
    /// Time at which a spurious retransmission last widened the window.
    widened: Option<Instant>,
    /// Time at which the loss of the next overtaken chunk is decided.
    pub at: Option<Instant>,
}

/// Longest lateness of the present period, and of the period before it.
#[derive(Debug, Default)]
struct Longest {
    now: Duration,
    before: Duration,
}

impl Longest {
    fn get(&self) -> Duration {
        self.now.max(self.before)
    }

    fn push(&mut self, lateness: Duration) {
        self.now = self.now.max(lateness.min(LATEST));
    }
}

impl Reordering {
    fn passes(&mut self, now: Instant) {
        let age = now.saturating_since(self.since);
        if age > MEMORY {
            for kept in [&mut self.proven, &mut self.presumed] {
                kept.before = if age > 2 * MEMORY { Duration::ZERO } else { kept.now };
                kept.now = Duration::ZERO;
            }
            self.since = now;
        }
    }

    /// Records that a chunk was acknowledged `lateness` after the first SACK that missed it.
    pub fn late_by(&mut self, now: Instant, lateness: Duration) {
        self.passes(now);
        self.proven.push(lateness);
    }

    /// Records that a chunk seems to have arrived `lateness` after the first SACK that missed it. The chunk was
    /// acknowledged so soon after its retransmission that the first transmission must have arrived. `least` is the
    /// least round-trip time of all paths, which is the measure of "soon".
    pub fn seems_late_by(&mut self, now: Instant, lateness: Duration, least: Duration) {
        self.passes(now);
        if lateness >= self.presumed.get() {
            self.least = least;
        }
        self.presumed.push(lateness);
    }

    /// Records that a chunk was retransmitted although it had already arrived, at an unknown time. The window widens at
    /// most once per round trip (RFC 8985 §6.2 step 4).
    pub fn widen(&mut self, now: Instant, round_trip: Duration) {
        if self.widened.is_some_and(|at| now.saturating_since(at) < round_trip) {
            return;
        }
        self.widened = Some(now);
        let wider = (self.proven.get() * 2).max(round_trip / 4).max(MIN_STEP);
        self.late_by(now, wider);
    }

    /// Takes the least round-trip time of all paths. A least time that was measured with a full queue is too long. If
    /// the queue has become shorter since then, the chunks that seemed late may have been lost. Their lateness is then
    /// dropped.
    pub fn measured(&mut self, least: Duration) {
        if 4 * least < 3 * self.least {
            (self.presumed, self.least) = (Longest::default(), least);
        }
    }

    fn longest(&self) -> Duration {
        self.proven.get().max(self.presumed.get())
    }

    /// Returns the longest recent lateness of overtaken chunks.
    pub fn lateness(&mut self, now: Instant) -> Duration {
        self.passes(now);
        self.longest()
    }

    /// Returns the time to wait for an overtaken chunk.
    pub fn window(&mut self, now: Instant) -> Duration {
        let lateness = self.lateness(now);
        lateness + lateness / MARGIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_path_that_keeps_order_waits_for_nothing() {
        assert_eq!(Reordering::default().window(Instant::from_millis(5)), Duration::ZERO);
    }

    #[test]
    fn the_longest_lateness_counts_for_a_while_and_a_quarter_more() {
        let mut path = Reordering::default();
        path.late_by(Instant::from_millis(1000), ms(40));
        path.late_by(Instant::from_millis(2000), ms(20));
        assert_eq!(path.window(Instant::from_millis(3000)), ms(50));
        assert_eq!(path.window(Instant::from_millis(33_000)), ms(50), "for one period more");
        path.late_by(Instant::from_millis(40_000), ms(8));
        assert_eq!(path.window(Instant::from_millis(62_000)), ms(50));
        assert_eq!(path.window(Instant::from_millis(64_500)), ms(10));
        assert_eq!(path.window(Instant::from_millis(200_000)), Duration::ZERO);
    }

    #[test]
    fn spurious_retransmissions_of_unknown_lateness_double_the_window() {
        let (mut path, at) = (Reordering::default(), Instant::from_millis(1));
        path.widen(at, ms(100));
        path.widen(at + ms(99), ms(100));
        assert_eq!(path.longest(), ms(25), "once in a round trip");
        path.widen(at + ms(100), ms(100));
        assert_eq!(path.longest(), ms(50));
        (0..200).for_each(|n| path.widen(at + ms(100 * n), ms(100)));
        assert_eq!(path.window(at + ms(20_000)), LATEST + LATEST / MARGIN);
    }

    /// A path joins while another flow keeps its queue full: the least of all round trips is 87 ms, 31 ms without a
    /// queue. An acknowledgement 40 ms after a retransmission seems to be that of the first transmission.
    #[test]
    fn a_lateness_that_a_full_queue_explains_is_forgotten() {
        let (mut path, at) = (Reordering::default(), Instant::from_millis(1000));
        path.seems_late_by(at, ms(49), ms(87));
        path.seems_late_by(at, ms(5), ms(70));
        path.measured(ms(66));
        assert_eq!(path.longest(), ms(49), "less than a quarter below");
        path.measured(ms(31));
        assert_eq!(path.longest(), Duration::ZERO);
        path.seems_late_by(at, ms(12), ms(31));
        path.measured(ms(31));
        assert_eq!(path.longest(), ms(12), "judged by the true one");
    }

    /// A short path joins: the least round trip falls, but the other path still delivers late.
    #[test]
    fn a_proven_lateness_does_not_depend_on_round_trips() {
        let (mut path, at) = (Reordering::default(), Instant::from_millis(1000));
        path.late_by(at, ms(20));
        path.seems_late_by(at, ms(30), ms(80));
        path.measured(ms(10));
        assert_eq!(path.longest(), ms(20));
        path.widen(at, ms(80));
        assert_eq!(path.longest(), ms(40));
    }
}
