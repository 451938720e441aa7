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
    /// Longest lateness since `since`; `before` is the longest lateness of the previous period.
    now: Duration,
    before: Duration,
    since: Instant,
    /// Time at which a spurious retransmission last widened the window.
    widened: Option<Instant>,
    /// Time at which the loss of the next overtaken chunk is decided.
    pub at: Option<Instant>,
}

impl Reordering {
    fn passes(&mut self, now: Instant) {
        let age = now.saturating_since(self.since);
        if age > MEMORY {
            let before = if age > 2 * MEMORY { Duration::ZERO } else { self.now };
            (self.since, self.before, self.now) = (now, before, Duration::ZERO);
        }
    }

    /// Records that a chunk was acknowledged `lateness` after the first SACK that missed it.
    pub fn late_by(&mut self, now: Instant, lateness: Duration) {
        self.passes(now);
        self.now = self.now.max(lateness.min(LATEST));
    }

    /// Records that a chunk was retransmitted although it had already arrived, at an unknown time. The window widens at
    /// most once per round trip (RFC 8985 §6.2 step 4).
    pub fn widen(&mut self, now: Instant, round_trip: Duration) {
        if self.widened.is_some_and(|at| now.saturating_since(at) < round_trip) {
            return;
        }
        self.widened = Some(now);
        let wider = (self.longest() * 2).max(round_trip / 4).max(MIN_STEP);
        self.late_by(now, wider);
    }

    fn longest(&self) -> Duration {
        self.now.max(self.before)
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
}
