//! The driver's clock. The driver's clock returns real time as an [`Instant`] of the transport.

use strandcast_proto::time::Instant;

/// Counts the nanoseconds since it was created, by tokio's clock. Tokio's clock is monotonic, and tests can stop it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: tokio::time::Instant,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Clock { origin: tokio::time::Instant::now() }
    }

    /// Time since the clock was started.
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.origin.elapsed()
    }

    /// Converts `at` to tokio's clock. Returns `None` for a deadline that is not set ([`Instant::MAX`]) or that is
    /// beyond the range of the clock.
    pub fn deadline(&self, at: Instant) -> Option<tokio::time::Instant> {
        if at == Instant::MAX {
            return None;
        }
        self.origin.checked_add(at - Instant::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn reads_elapsed_time_and_reaches_deadlines() {
        let clock = Clock::start();
        assert_eq!(clock.now(), Instant::ZERO);
        let at = Instant::from_millis(1500);
        tokio::time::sleep_until(clock.deadline(at).unwrap()).await;
        assert_eq!(clock.now(), at);
        tokio::time::advance(Duration::from_nanos(7)).await;
        assert_eq!(clock.now(), Instant::from_nanos(1_500_000_007));
    }

    #[tokio::test(start_paused = true)]
    async fn an_unset_deadline_is_never_reached() {
        assert_eq!(Clock::start().deadline(Instant::MAX), None);
    }
}
