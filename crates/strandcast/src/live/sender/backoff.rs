//! Pause before a sender connects again. The pause reduces the load of a receiver that ends many associations one after
//! the other.

use std::time::Duration;

use tokio::time::Instant;

/// Time without a loss after which the series of pauses starts again with the shortest one.
const FRESH: Duration = Duration::from_secs(60);
/// Pause after the second loss. The pause doubles up to the longest pause.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(8);

/// Recent losses.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    last: Option<Instant>,
    pause: Duration,
}

impl Backoff {
    /// Returns the pause after an association that was lost at `now`.
    pub(super) fn next(&mut self, now: Instant) -> Duration {
        let fresh = self.last.is_none_or(|last| now - last >= FRESH);
        self.last = Some(now);
        self.pause = if fresh { Duration::ZERO } else { (self.pause * 2).clamp(FIRST, LONGEST) };
        self.pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_loss_costs_no_time_and_more_of_them_ever_more() {
        let (begun, mut backoff) = (Instant::now(), Backoff::default());
        let mut after = |s: u64| backoff.next(begun + Duration::from_secs(s)).as_secs();
        assert_eq!([after(0), after(1), after(2), after(5), after(10), after(20)], [0, 1, 2, 4, 8, 8]);
        assert_eq!([after(79), after(139), after(140)], [8, 0, 1]);
    }
}
