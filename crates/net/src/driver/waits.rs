//! Measures how long the data of a client wait, for each reason.

use strandcast_proto::association::{HeldBy, HeldTimes};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;

/// Follows one association. Each update must follow after the association has sent everything that it may send.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// The association. `None`: no waiting times are measured.
    pub of: Option<AssociationId>,
    times: HeldTimes,
    /// The current reason, and the time at which it began.
    current: Option<(HeldBy, Instant)>,
}

impl Waits {
    /// Records the current reason. Call this after all possible output at `now` was sent.
    pub fn update(&mut self, now: Instant, endpoint: &Endpoint) {
        let Some(association) = self.of.and_then(|id| endpoint.association(id)) else { return };
        self.stands(now, association.held_back(now).map(|held| held.by));
    }

    fn stands(&mut self, now: Instant, by: Option<HeldBy>) {
        if let Some((before, since)) = self.current {
            if by == Some(before) {
                return;
            }
            self.times.add(before, now.saturating_since(since));
        }
        self.current = by.map(|by| (by, now));
    }

    /// Returns the waiting times up to `now`.
    pub fn until(&self, now: Instant) -> HeldTimes {
        let mut times = self.times;
        if let Some((by, since)) = self.current {
            times.add(by, now.saturating_since(since));
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_those_between_two_looks() {
        let (at, ms) = (Instant::from_millis, Duration::from_millis);
        let mut waits = Waits::default();
        for (now, by) in [
            (0, Some(HeldBy::Handshake)),
            (100, None),
            (150, Some(HeldBy::Pacing)),
            (160, Some(HeldBy::Pacing)),
            (170, Some(HeldBy::CongestionWindow)),
            (200, Some(HeldBy::Pacing)),
        ] {
            waits.stands(at(now), by);
        }
        let times = waits.until(at(300));
        assert_eq!(times.of(HeldBy::Handshake), ms(100));
        assert_eq!(times.of(HeldBy::Pacing), ms(20 + 100));
        assert_eq!(times.of(HeldBy::CongestionWindow), ms(30));
        assert_eq!(times.iter().map(|(_, time)| time).sum::<Duration>(), ms(250));
    }
}
