//! Transmitters whose rate changes.

use std::sync::Arc;

use super::*;
use crate::link::Opportunities;
use crate::number::{Trace, Varying};

fn varying(number: Number) -> LinkConfig {
    LinkConfig { rate: Rate::Varying(number), ..LinkConfig::default() }
}

fn steps(steps: &[(u64, f64)]) -> Number {
    Number::Steps(steps.iter().map(|&(ms, value)| (Duration::from_millis(ms), value)).collect())
}

/// Time at which a packet's last bit leaves, in nanoseconds.
fn departs(link: &mut Link<Packet>, now: Instant, len: usize) -> u64 {
    match link.enqueue(now, packet(0), len) {
        EnqueueOutcome::Taken { departs, .. } => departs.as_nanos(),
        outcome => panic!("{outcome:?}"),
    }
}

/// 8 Mbit/s send 1000 bytes in 1 ms.
#[test]
fn a_packet_in_service_feels_every_change_of_the_rate() {
    let mut link = link(varying(steps(&[(0, 8e6), (10, 0.0), (20, 4e6), (22, 16e6)])), 1);
    assert_eq!(departs(&mut link, ms(0), 1000), 1_000_000);
    assert_eq!(departs(&mut link, ms(9), 1000), 10_000_000, "just before it stands still");
    assert_eq!(departs(&mut link, ms(9), 500), 21_000_000, "from 20 ms on at half the rate");
    assert_eq!(departs(&mut link, ms(21), 1500), 22_500_000, "1 ms at 4 Mbit/s, 0.5 ms at 16 Mbit/s");
    assert_eq!(departs(&mut link, ms(30), 2000), 31_000_000);
}

#[test]
fn times_of_a_rate_count_from_the_origin() {
    let config = LinkConfig { origin: ms(10_000), ..varying(steps(&[(0, 8e6), (1000, 16e6)])) };
    let mut link = link(config, 1);
    assert_eq!(departs(&mut link, ms(0), 1000), 1_000_000, "before it the first value holds");
    assert_eq!(departs(&mut link, ms(10_999), 2000), 11_000_500_000);
}

/// Departures computed in advance become invalid.
#[test]
fn a_link_that_comes_up_has_the_rate_of_that_time() {
    let period = Every::Period(Duration::from_millis(1));
    let drawn = Number::Uniform { low: 1e6, high: 9e6, every: period };
    for number in [steps(&[(0, 8e6), (10, 80e6)]), drawn] {
        let mut busy = link(varying(number.clone()), 1);
        assert!((0..1000).all(|id| take(&mut busy, ms(0), id, 1000)));
        busy.set_down(ms(1), true);
        busy.set_down(ms(2), false);
        let mut idle = link(varying(number), 1);
        assert_eq!(departs(&mut busy, ms(2), 5000), departs(&mut idle, ms(2), 5000));
    }
}

#[test]
fn a_rate_that_stays_at_zero_keeps_its_packets() {
    let second = Duration::from_secs(1);
    let dead = Trace::new(vec![(Duration::ZERO, 0.0)], Some(second)).expect("a trace");
    let never = Number::Uniform { low: 0.0, high: 0.4, every: Every::Period(second) };
    for number in [steps(&[(0, 8e6), (1, 0.0)]), Number::Trace(Arc::new(dead)), never] {
        let losses = vec![LossModel::bursts(0.5, 2.0)];
        let mut link = link(LinkConfig { losses, queue: Queue::packets(2), ..varying(number.clone()) }, 1);
        let first = departs(&mut link, ms(2), 1000);
        assert_eq!(Instant::from_nanos(first), Instant::MAX, "{number:?}");
        let taken: Vec<bool> = (0..4).map(|id| take(&mut link, ms(4), id, 1000)).collect();
        assert_eq!((taken, link.waiting(ms(5))), (vec![true, true, false, false], 2));
        assert_eq!((link.poll_timeout(), link.poll(END)), (None, None));
        let stats = link.stats_at(ms(10));
        assert_eq!(stats.busy_time, Duration::from_millis(8));
        assert_eq!(stats.queue_time, Duration::from_millis(2 * 6));
        assert_eq!((stats.served, stats.dropped_queue.packets), (Count::default(), 2));
        link.set_down(ms(10), true);
        let stats = link.stats_at(ms(20));
        assert_eq!((stats.dropped_down.packets, stats.queue_time), (3, Duration::from_millis(12)));
    }
}

/// Work done by `t`, in bit · ns, of a rate that changes at whole milliseconds.
fn work(rate: &mut Varying, t: u64) -> u128 {
    let mut at = |ms: u64| rate.at(Instant::from_millis(ms)).round() as u128;
    let whole: u128 = (0..t / 1_000_000).map(|ms| at(ms) * 1_000_000).sum();
    whole + at(t / 1_000_000) * u128::from(t % 1_000_000)
}

fn numbers() -> impl Strategy<Value = Number> {
    let value = || prop_oneof![2 => 0.0..20e6, 1 => Just(0.0), 1 => 0.0..200.0];
    let point = || (1..20u64, value());
    let points = move || {
        (value(), prop::collection::vec(point(), 0..8)).prop_map(|(first, rest)| {
            let mut at = 0;
            let later = rest.into_iter().map(|(after, value)| {
                at += after;
                (Duration::from_millis(at), value)
            });
            core::iter::once((Duration::ZERO, first)).chain(later).collect::<Vec<_>>()
        })
    };
    prop_oneof![
        points().prop_map(Number::Steps),
        (points(), 0..30u64).prop_map(|(points, more)| {
            let last = points.last().expect("there is a first").0;
            let repeat = last + Duration::from_millis(more.max(u64::from(last.is_zero())));
            Number::Trace(Arc::new(Trace::new(points, Some(repeat)).expect("times ascend")))
        }),
        (1..10u64, 0.0..10e6).prop_map(|(ms, high)| Number::Uniform {
            low: 0.0,
            high,
            every: Every::Period(Duration::from_millis(ms)),
        }),
    ]
}

proptest! {
    /// Packets are sent back to back. The packet that ends at byte n leaves in the nanosecond in which the
    /// integral of the rate reaches 8 n, found by adding up millisecond by millisecond.
    #[test]
    fn what_is_served_is_the_integral_of_the_rate(
        number in numbers(), seed: u64, lens in prop::collection::vec(1..1500usize, 1..40)
    ) {
        let mut link = link(varying(number.clone()), seed);
        let mut rate = Varying::new(&number, Seeds::new(seed, 0).child("link").stream("rate"), Instant::ZERO);
        let mut owed = 0;
        for len in lens {
            owed += len as u128 * 8_000_000_000;
            let at = departs(&mut link, Instant::ZERO, len);
            // A second covers the 20 longest traces; longer times are not added up here.
            if at > 1_000_000_000 {
                prop_assert!(work(&mut rate, 1_000_000_000) <= owed);
                break;
            }
            let (done, next) = (work(&mut rate, at), work(&mut rate, at + 1));
            if done == owed {
                prop_assert!(work(&mut rate, at - 1) < owed, "late at {at} ns");
            } else {
                prop_assert!(done < owed && owed < next, "{done} < {owed} < {next} at {at} ns");
            }
        }
    }

    /// The capacity in bits, for computing utilisation.
    #[test]
    fn capacity_is_the_integral_of_the_rate(number in numbers(), seed: u64, from in 0..300u64, more in 0..300u64) {
        let link = link(varying(number.clone()), seed);
        let mut rate = Varying::new(&number, Seeds::new(seed, 0).child("link").stream("rate"), Instant::ZERO);
        let mut bits = |ms: u64| work(&mut rate, ms * 1_000_000) as f64 / 1e9;
        let expected = bits(from + more) - bits(from);
        let capacity = link.capacity_bits(ms(from), ms(from + more)).expect("a finite rate");
        prop_assert!((capacity - expected).abs() < 1e-3, "{capacity}, expected {expected}");
    }
}

#[test]
fn a_rate_drawn_for_a_packet_is_its_own() {
    let mut link = link(varying(Number::Uniform { low: 1e6, high: 2e6, every: Every::Packet }), 1);
    let times: Vec<u64> =
        (0..1000).map(|i| departs(&mut link, ms(i * 100), 1000) - i * 100_000_000).collect();
    assert!(times.iter().all(|&time| (4_000_000..8_000_001).contains(&time)));
    // The mean of 8000 / U(1e6, 2e6) is 8 ms · ln 2, its variance 64 ms² (1/2 - ln² 2).
    let mean = times.iter().sum::<u64>() as f64 / 1e9;
    let ln2 = core::f64::consts::LN_2;
    let error = 8.0 * (0.5 - ln2 * ln2).sqrt() / 1000f64.sqrt();
    assert!((mean - 8.0 * ln2).abs() < 4.0 * error, "{mean} ms");
}

/// A rate drawn once is constant from then on.
#[test]
fn a_rate_drawn_for_a_run_differs_by_seed_only() {
    let rate = |seed| {
        let mut link = link(varying(Number::Uniform { low: 1e6, high: 2e6, every: Every::Run }), seed);
        let first = departs(&mut link, ms(0), 1000);
        let second = departs(&mut link, ms(500), 1000) - 500_000_000;
        assert_eq!(first, second, "seed {seed}");
        first
    };
    assert_ne!(rate(1), rate(2));
}

fn slots(text: &str) -> LinkConfig {
    let trace = Opportunities::parse(text).expect("a trace");
    LinkConfig { rate: Rate::Opportunities(Arc::new(trace)), ..LinkConfig::default() }
}

/// Opportunities at 2, 2, 5, 10 and then at 12, 12, 15, 20, ... ms.
#[test]
fn packets_leave_with_the_opportunity_of_their_last_byte() {
    let mut link = link(slots("2\n2\n5\n10\n"), 1);
    for (at, len, leaves, why) in [
        (0, 1000, 2, "two thirds of the first"),
        (0, 1000, 2, "the other third and a third of the second"),
        (1, 1000, 2, "the rest of it"),
        (2, 1500, 5, "too late for 2 ms"),
        (5, 3000, 12, "those of 10 and 12 ms"),
        (6, 100, 12, "the other one of 12 ms"),
        (6, 1500, 15, "1400 bytes of that, and 100 of 15 ms"),
        (7, 1400, 15, "what was left"),
        (16, 1500, 20, "idle: what 15 ms left is lost"),
        (20, 1, 22, "one byte uses up an opportunity"),
        (31_234, 1500, 31_235, "after many rounds"),
        (31_234, 6000, 31_245, "10 ms carry 4 opportunities"),
    ] {
        assert_eq!(departs(&mut link, ms(at), len), leaves * 1_000_000, "{why}");
    }
    assert_eq!(link.capacity_bits(ms(2), ms(12)), Some(4.0 * 12_000.0), "after 2 ms, until 12 ms");
    assert_eq!(link.config().rate.mean_bps(), Some(4.0 * 12_000.0 / 0.010));
}

#[test]
fn a_trace_begins_at_the_origin() {
    let mut link = link(LinkConfig { origin: ms(1003), ..slots("2\n10\n") }, 1);
    for (at, leaves) in [(1003, 1005), (1005, 1013), (1013, 1015)] {
        assert_eq!(departs(&mut link, ms(at), 1500), leaves * 1_000_000);
    }
    let mut early = self::link(LinkConfig { origin: ms(1003), ..slots("2\n10\n") }, 1);
    assert_eq!(departs(&mut early, ms(0), 1500), 3_000_000, "it had already repeated");
}

#[test]
fn bad_lines_of_a_trace_are_named() {
    for (text, error) in [
        ("", "line 1: the trace is empty; write one whole number of milliseconds per line"),
        ("1\n2.5\n", "line 2: `2.5` is not a time; write one whole number of milliseconds per line"),
        ("1\n\n3\n", "line 2: `` is not a time; write one whole number of milliseconds per line"),
        ("1\n7\n-3\n", "line 3: `-3` is not a time; write one whole number of milliseconds per line"),
        ("1\n7\n3\n", "line 3: 3 ms comes after a later time; sort the lines"),
        ("0\n0\n", "line 2: the trace ends at 0 ms; its last time must be later"),
    ] {
        assert_eq!(Opportunities::parse(text).map_err(|e| e.to_string()), Err(error.to_owned()));
    }
    let trace = Opportunities::parse("0\r\n1\r\n").expect("line ends of another system");
    assert_eq!((trace.count(), trace.period()), (2, Duration::from_millis(1)));
}

proptest! {
    /// Comparison with mahimahi's method: a walk through all opportunities, each with its 1500 bytes for the
    /// waiting packets.
    #[test]
    fn opportunities_serve_like_a_walk_through_all_of_them(
        gaps in prop::collection::vec(0..4u64, 0..10), last in 1..4u64,
        packets in prop::collection::vec((0..9_000_000u64, 1..5000u64), 1..50),
    ) {
        let mut moments: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        moments.push(moments.last().unwrap_or(&0) + last);
        let text: String = moments.iter().map(|ms| format!("{ms}\n")).collect();
        let mut link = link(slots(&text), 1);
        let mut now = 0;
        let mut waiting = std::collections::VecDeque::new();
        let mut expected = Vec::new();
        for (id, &(after, len)) in packets.iter().enumerate() {
            now += after;
            waiting.push_back((now, len, id));
            expected.push(departs(&mut link, Instant::from_nanos(now), len as usize));
        }
        let period = moments[moments.len() - 1];
        let mut opportunities = (0..).flat_map(|cycle| moments.iter().map(move |ms| (cycle * period + ms) * 1_000_000));
        while !waiting.is_empty() {
            let (at, mut bytes) = (opportunities.next().expect("no end"), 1500);
            while let Some((came, len, id)) = waiting.front_mut().filter(|(came, ..)| *came < at && bytes > 0) {
                let part = bytes.min(*len);
                *len -= part;
                bytes -= part;
                if *len == 0 {
                    prop_assert_eq!(expected[*id], at, "packet {} that came at {} ns", *id, *came);
                    waiting.pop_front();
                }
            }
        }
    }
}

#[test]
fn delays_that_shrink_let_nobody_overtake() {
    let mut link = link(LinkConfig { delay: steps(&[(0, 0.050), (10, 0.005)]), ..LinkConfig::default() }, 1);
    for (id, at) in [0, 9, 10, 30, 50].into_iter().enumerate() {
        link.enqueue(ms(at), packet(id), 100);
    }
    let times: Vec<u64> = drain(&mut link).iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect();
    assert_eq!(times, [50, 59, 59, 59, 59], "55 ms would overtake the second");
}
