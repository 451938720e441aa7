//! Round-trip time of one path, used in both directions. The round-trip time is measured with pairs of HEARTBEATs. A
//! SACK may return by another path, but a HEARTBEAT ACK does not.
//!
//! | Xu et al. (2015) | here |
//! |---|---|
//! | eq. 5: RTT_ref = min {RTT₁, RTT₂}, a pair each estimation interval | [`ReferenceRtt`] |
//!
//! `ASSUMED`: if only one HEARTBEAT of a pair is answered, its round-trip time is the value of the pair. If neither
//! HEARTBEAT is answered, the estimate does not change. An answer may arrive after the next pair was sent. Such an
//! answer counts for its own pair as long as the newer pair has no answer.

use strandcast_proto::time::{Duration, Instant};

/// The reference round-trip time of one path.
#[derive(Clone, Debug, Default)]
pub struct ReferenceRtt {
    /// Times at which the newest pair and the pair before it were sent.
    pairs: [Option<Instant>; 2],
    /// Time at which the measured pair left, and its round-trip time.
    value: Option<(Instant, Duration)>,
}

impl ReferenceRtt {
    /// Makes the state before the first measurement.
    pub fn new() -> Self {
        ReferenceRtt::default()
    }

    /// Records that a pair leaves at `now`.
    pub fn asked(&mut self, now: Instant) {
        self.pairs = [Some(now), self.pairs[0]];
    }

    /// Records that the HEARTBEAT that left at `sent` was answered. The round-trip time is given if it could be
    /// measured.
    pub fn answered(&mut self, sent: Instant, rtt: Option<Duration>) {
        let pair = self.pairs.into_iter().flatten().find(|&asked| asked <= sent);
        let (Some(pair), Some(rtt)) = (pair, rtt) else { return };
        match &mut self.value {
            Some((of, value)) if *of == pair => *value = rtt.min(*value),
            Some((of, _)) if *of > pair => {}
            value => *value = Some((pair, rtt)),
        }
    }

    /// RTT_ref. `None` before the first answer.
    pub fn get(&self) -> Option<Duration> {
        self.value.map(|(_, rtt)| rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Option<Duration> = |ms| Some(Duration::from_millis(ms));

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn eq_5_is_the_smaller_of_two() {
        for [first, second] in [[30, 20], [20, 30]] {
            let mut reference = ReferenceRtt::new();
            reference.asked(at(100));
            reference.answered(at(100), MS(first));
            assert_eq!(reference.get(), MS(first), "one answer counts");
            reference.answered(at(101), MS(second));
            assert_eq!(reference.get(), MS(20));
        }
    }

    #[test]
    fn the_newest_pair_replaces_the_one_before() {
        let mut reference = ReferenceRtt::new();
        reference.asked(at(0));
        reference.answered(at(0), MS(20));
        reference.asked(at(1000));
        assert_eq!(reference.get(), MS(20), "no answer leaves it");
        reference.answered(at(1000), MS(90));
        assert_eq!(reference.get(), MS(90), "also upwards");
        reference.answered(at(1000), MS(80));
        assert_eq!(reference.get(), MS(80));
    }

    #[test]
    fn late_answers_count_until_the_newer_pair_has_one() {
        let mut reference = ReferenceRtt::new();
        reference.asked(at(0));
        reference.asked(at(1000));
        reference.answered(at(0), MS(1400));
        reference.answered(at(0), MS(1300));
        assert_eq!(reference.get(), MS(1300));
        reference.answered(at(1000), MS(1500));
        reference.answered(at(0), MS(600));
        assert_eq!(reference.get(), MS(1500));
    }

    #[test]
    fn answers_without_a_question_or_a_time_are_nothing() {
        let mut reference = ReferenceRtt::new();
        reference.answered(at(5), MS(1));
        reference.asked(at(10));
        reference.answered(at(9), MS(1));
        reference.answered(at(10), None);
        assert_eq!(reference.get(), None);
        for pair in [20, 30, 40] {
            reference.asked(at(pair));
        }
        reference.answered(at(20), MS(1));
        assert_eq!(reference.get(), None, "older than the pair before");
    }
}
