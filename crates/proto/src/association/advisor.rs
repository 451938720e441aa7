//! Times at which the scheme is asked for its advice to an encoder.

use crate::time::{Duration, Instant};

/// Minimum time between two requests for advice.
const LEAST: Duration = Duration::from_millis(100);

/// Time of the last request.
#[derive(Debug, Default)]
pub(super) struct Advisor(Option<Instant>);

impl Advisor {
    /// Returns whether the scheme is to be asked after an event.
    #[inline]
    pub fn is_due(&mut self, now: Instant) -> bool {
        let due = self.0.is_none_or(|at| now - at >= LEAST);
        if due {
            self.0 = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_asked_ten_times_a_second_at_the_most() {
        let mut advisor = Advisor::default();
        let due = [0, 50, 99, 100, 150, 199, 1000, 1099].map(|ms| advisor.is_due(Instant::from_millis(ms)));
        assert_eq!(due, [true, false, false, true, false, false, true, false]);
    }
}
