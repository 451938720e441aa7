//! Properties of estimators that hold whatever a path does.

use proptest::prelude::*;
use strandcast_proto::time::{Duration, Instant};

use super::*;

const LONGEST: Duration = Duration::from_millis(200);

/// Gaps in ns, many of them 0, and lengths.
fn departures() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let gap = prop_oneof![2 => Just(0), 5 => 1..2_000_000u64, 1 => 0..20_000_000_000u64];
    prop::collection::vec((gap, 0..3000u64), 2..200)
}

/// BW_e after these departures.
fn bandwidth(departures: &[(u64, u64)], bytes: u64) -> Option<f64> {
    let mut bandwidth = Bandwidth::new(BandwidthConfig::default());
    let mut now = Instant::ZERO;
    for (gap, length) in departures {
        now += Duration::from_nanos(*gap);
        bandwidth.departed(now, length * bytes, LONGEST);
    }
    bandwidth.bytes_per_second()
}

#[derive(Clone, Debug)]
enum Event {
    Loss,
    Close,
    Sent,
    Acked(u64),
}

fn events() -> impl Strategy<Value = Vec<(u64, Option<u64>, Event)>> {
    let event = prop_oneof![
        Just(Event::Loss),
        Just(Event::Close),
        Just(Event::Sent),
        (0..100_000u64).prop_map(Event::Acked)
    ];
    let srtt = prop_oneof![1 => Just(None), 5 => (0..3000u64).prop_map(Some)];
    prop::collection::vec((0..5000u64, srtt, event), 1..200)
}

proptest! {
    /// Algorithm 1 is linear in lengths; a filter of positive samples stays positive.
    #[test]
    fn bandwidth_is_linear_in_lengths(departures in departures()) {
        let once = bandwidth(&departures, 1);
        prop_assert!(once.is_none_or(|bw| bw.is_finite() && bw >= 0.0), "{:?}", once);
        prop_assert_eq!(bandwidth(&departures, 2), once.map(|bw| 2.0 * bw));
        let first_gap = departures[1..].iter().any(|(gap, _)| *gap > 0);
        prop_assert_eq!(once.is_some(), first_gap, "an estimate as soon as time has passed");
    }

    /// Intervals as a scheme ends them: at a loss event that triggers it, or when their time is over.
    #[test]
    fn intervals_keep_their_bounds(events in events()) {
        let config = IntervalConfig::default();
        let mut interval = EstimationInterval::new(config, Instant::ZERO);
        let mut rate = TransmissionRate::new(Instant::ZERO);
        let mut now = Instant::ZERO;
        for (after, srtt, event) in events {
            now += Duration::from_millis(after);
            let srtt = srtt.map(Duration::from_millis);
            let close = match event {
                Event::Loss => {
                    let close = interval.loss_event(now, srtt);
                    let shortest = srtt.unwrap_or_default().max(config.least);
                    prop_assert!(!close || now - interval.started() >= shortest);
                    close
                }
                Event::Close => now >= interval.ends(),
                Event::Sent => { rate.sent(now); false }
                Event::Acked(bytes) => { rate.acked(bytes); false }
            };
            if close {
                interval.close(now, srtt);
                rate.close(now, srtt);
                let least = config.least.max(2 * srtt.unwrap_or_default());
                prop_assert!(interval.length() >= least && interval.length() <= config.most);
                prop_assert_eq!(interval.started(), now);
            }
            prop_assert!(interval.ends() > interval.started());
            let r_e = rate.bytes_per_second();
            prop_assert!(r_e.is_finite() && r_e >= 0.0);
        }
    }

    /// More frames in error are a lower ratio, longer frames with as many in error a higher one.
    #[test]
    fn the_effective_ratio_falls_with_errors(
        word in 0..Modulation::WORDS.len(), frames in 1..100_000u64, share in 0.0..1.0f64, bytes in 20.0..9000.0f64,
    ) {
        let modulation = Modulation::from_word(Modulation::WORDS[word]).expect("a word of the list");
        let ratio = |errors: u64, bytes: f64| {
            let mut esnr = EffectiveSnr::new(modulation);
            esnr.close(frames, errors, bytes);
            esnr.snr()
        };
        let errors = (frames as f64 * share) as u64;
        let snr = ratio(errors, bytes);
        prop_assert!(snr.value().is_finite() && snr.value() >= 0.0);
        prop_assert!(ratio(errors + 1, bytes) <= snr);
        prop_assert!(ratio(errors, 2.0 * bytes) >= snr);
    }

    #[test]
    fn the_reference_is_one_of_the_answers(asked in prop::collection::vec((0..5000u64, prop::collection::vec((0..9000u64, 1..3000u64), 0..3)), 1..30)) {
        let mut reference = ReferenceRtt::new();
        let (mut now, mut told) = (0, vec![]);
        for (after, answers) in asked {
            now += after;
            reference.asked(Instant::from_millis(now));
            for (ago, rtt) in answers {
                let rtt = Duration::from_millis(rtt);
                reference.answered(Instant::from_millis(now.saturating_sub(ago)), Some(rtt));
                told.push(rtt);
            }
        }
        prop_assert!(reference.get().is_none_or(|rtt| told.contains(&rtt)));
    }
}
