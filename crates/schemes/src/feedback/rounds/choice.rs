//! Choice of the better path, and initial rate on it (PST-rev, section 2.2). Rates are in bytes per second, times in
//! seconds.

use strandcast_proto::policy::PathId;
use strandcast_proto::time::{Duration, Instant};

use crate::estimate::PathRate;

/// Number of consecutive rounds for which a lead must last if there is hysteresis.
const ROUNDS: u8 = 3;
/// Least time between two switches if there is hysteresis.
const PAUSE: Duration = Duration::from_secs(2);
/// Least pause between two switches, in round-trip times.
const PAUSE_TRIPS: f64 = 10.0;

/// Properties of a path that are compared.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Standing {
    /// Rate_e.
    pub rate: f64,
    /// RTT.
    pub rtt: f64,
    /// RTT_min.
    pub least_rtt: f64,
    /// Mean packet size, bytes.
    pub packet_bytes: f64,
}

impl Standing {
    /// Returns the properties of a path that has a rate. Returns `None` for other paths.
    pub(super) fn of(path: &PathRate) -> Option<Self> {
        let (trip, packet_bytes) = (path.trip(), path.packet_bytes());
        Some(Standing { rate: path.rate()?, rtt: trip.rtt()?, least_rtt: trip.least()?, packet_bytes })
    }
}

/// Rate_new: rate on the path `ap` after a switch from the path `cp` (eqs 9, 11, 12, and bounds).
pub fn new_rate(cp: &Standing, ap: &Standing) -> f64 {
    let difference = cp.rtt - ap.rtt;
    let sign = if difference > 0.0 {
        1.0
    } else if difference < 0.0 {
        -1.0
    } else {
        0.0
    };
    let rate = cp.rate + sign * ap.rate * ap.least_rtt / cp.rtt;
    let least = (ap.packet_bytes / ap.rtt).max(cp.rate / 2.0).min(ap.rate);
    rate.clamp(least, ap.rate)
}

/// Condition under which a faster path is worth a switch.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    hysteresis: f64,
    leader: Option<PathId>,
    rounds: u8,
    last: Option<Instant>,
}

impl Trigger {
    /// Makes a trigger. `hysteresis` is a share of the current path's rate. A lead must be larger than this share. With
    /// 0, any lead suffices at once.
    pub fn new(hysteresis: f64) -> Self {
        Trigger { hysteresis, ..Trigger::default() }
    }

    /// Returns whether to switch to `ap`, which is the best of the other paths (Algorithm 1, line 4). It is called once
    /// per round of the current path `cp`.
    pub fn fires(&mut self, now: Instant, cp: &Standing, (path, ap): (PathId, &Standing)) -> bool {
        if ap.rate <= cp.rate * (1.0 + self.hysteresis) {
            self.rounds = 0;
            return false;
        }
        self.rounds = if self.leader == Some(path) { self.rounds.saturating_add(1) } else { 1 };
        self.leader = Some(path);
        let pause = PAUSE.as_secs_f64().max(PAUSE_TRIPS * cp.rtt);
        let recent = self.last.is_some_and(|t| (now - t).as_secs_f64() < pause);
        self.hysteresis == 0.0 || (self.rounds >= ROUNDS && !recent)
    }

    /// Records that a switch was decided.
    pub fn switched(&mut self, now: Instant) {
        (self.last, self.rounds, self.leader) = (Some(now), 0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const P1: PathId = PathId(1);

    fn standing(rate: f64, rtt: f64, least_rtt: f64) -> Standing {
        Standing { rate, rtt, least_rtt, packet_bytes: 0.1 }
    }

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 1e-9, "{got}, not {wanted}");
    }

    #[test]
    fn eqs_9_to_12_within_bounds_by_hand() {
        let slow = standing(4.0, 0.10, 0.09);
        near(new_rate(&slow, &standing(20.0, 0.08, 0.02)), 4.0 + 20.0 * 0.02 / 0.10); // 8: as printed
        near(new_rate(&slow, &standing(5.0, 0.08, 0.078)), 5.0); // 7.9 as printed: no more than the new path's
        near(new_rate(&slow, &standing(4.5, 0.10, 0.05)), 4.0); // sgn(0) = 0
        near(new_rate(&slow, &standing(5.0, 0.12, 0.02)), 3.0); // 4 - 1
        near(new_rate(&standing(1.0, 0.05, 0.05), &standing(1.2, 0.12, 0.11)), 0.5 + 1.0 / 3.0); // -1.64: 0.1 B / 0.12 s
        near(new_rate(&standing(3.0, 0.05, 0.05), &standing(3.3, 0.12, 0.11)), 1.5); // negative: half of the old one
        // The rate of a dead path may have been far higher than the rate of any other path.
        near(new_rate(&standing(100.0, 0.05, 0.05), &standing(3.0, 0.12, 0.11)), 3.0);
    }

    #[test]
    fn without_hysteresis_any_lead_is_enough() {
        let mut trigger = Trigger::new(0.0);
        let (cp, now) = (standing(100.0, 0.1, 0.1), Instant::from_millis(5));
        assert!(!trigger.fires(now, &cp, (P1, &standing(100.0, 0.1, 0.1))), "not higher");
        for _ in 0..3 {
            assert!(trigger.fires(now, &cp, (P1, &standing(100.1, 0.1, 0.1))));
            trigger.switched(now);
        }
    }

    #[test]
    fn hysteresis_asks_for_a_lasting_lead() {
        let mut trigger = Trigger::new(0.15);
        let cp = standing(100e3, 0.1, 0.1);
        let mut fires = |ms, path, rate| {
            let now = Instant::from_millis(ms);
            let fired = trigger.fires(now, &cp, (PathId(path), &standing(rate, 0.1, 0.1)));
            if fired {
                trigger.switched(now);
            }
            fired
        };
        assert!((0..20).all(|i| !fires(i, 1, 114e3)), "14 % is not a lead");
        let fired: Vec<bool> = (0..9).map(|i| fires(100 + i, 1, 120e3)).collect();
        assert_eq!(fired, [false, false, true, false, false, false, false, false, false], "once");
        assert!(!fires(2101, 1, 120e3), "less than 2 s ago");
        assert!(fires(2102, 1, 120e3));
        let mixed =
            [(5000, 1, 120e3), (5001, 1, 120e3), (5002, 2, 130e3), (5003, 2, 110e3), (5004, 2, 130e3)];
        assert!(mixed.into_iter().all(|(ms, path, rate)| !fires(ms, path, rate)), "in a row, and one path");
    }
}
