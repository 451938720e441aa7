//! Numbers compared with their descriptions.

use std::sync::Arc;

use proptest::prelude::*;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use super::{Every, Number, NumberError, Trace, Varying};

fn varying(number: Number, origin: Instant) -> Varying {
    Varying::new(&number, Seeds::new(1, 0).stream("number"), origin)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn drawn(every: Every) -> Number {
    Number::Uniform { low: 2.0, high: 6.0, every }
}

/// Values at times in milliseconds.
fn values(number: &mut Varying, times: &[u64]) -> Vec<f64> {
    times.iter().map(|&time| number.at(at(time))).collect()
}

#[test]
fn steps_hold_from_their_time_on() {
    let steps = Number::Steps(vec![(ms(10), 1.0), (ms(20), 2.0), (ms(40), 3.0)]);
    let mut number = varying(steps.clone(), Instant::ZERO);
    assert_eq!(
        values(&mut number, &[0, 10, 19, 20, 39, 40, 999, 20, 0]),
        [1., 1., 1., 2., 2., 3., 3., 2., 1.]
    );
    assert_eq!(number.next_change(at(20)), Some(at(40)));
    assert_eq!((number.next_change(at(39)), number.next_change(at(40))), (Some(at(40)), None));
    let mut later = varying(steps.clone(), at(1000));
    assert_eq!(values(&mut later, &[0, 1019, 1020]), [1.0, 1.0, 2.0]);
    assert_eq!(later.next_change(at(1020)), Some(at(1040)));
    assert_eq!((steps.range(), steps.mean()), ((1.0, 3.0), 3.0));
}

#[test]
fn a_trace_begins_again() {
    let points = vec![(ms(0), 1.0), (ms(10), 2.0), (ms(30), 7.0)];
    let trace = Trace::new(points.clone(), Some(ms(40))).expect("a trace");
    let number = Number::Trace(Arc::new(trace.clone()));
    assert_eq!(number.mean(), (10.0 + 20.0 * 2.0 + 10.0 * 7.0) / 40.0);
    let mut number = varying(number, at(100));
    assert_eq!(
        values(&mut number, &[99, 100, 110, 130, 139, 140, 150, 531]),
        [1., 1., 2., 7., 7., 1., 2., 7.]
    );
    let changes: Vec<_> = [100, 115, 130, 140].into_iter().map(|t| number.next_change(at(t))).collect();
    assert_eq!(changes, [110, 130, 140, 150].map(|t| Some(at(t))));
    // The trace repeats at its last time: the last value never holds.
    let mut number = varying(Number::Trace(Arc::new(trace.repeating().expect("it ends after 0"))), at(0));
    assert_eq!(values(&mut number, &[29, 30, 40, 60]), [2.0, 1.0, 2.0, 1.0]);
    assert_eq!(number.next_change(at(15)), Some(at(30)));
    let once = Trace::new(points, None).expect("a trace");
    let mut number = varying(Number::Trace(Arc::new(once)), at(0));
    assert_eq!((number.at(at(9999)), number.next_change(at(9999))), (7.0, None));
}

#[test]
fn draws_come_as_often_as_asked() {
    let mut run = varying(drawn(Every::Run), Instant::ZERO);
    let value = run.at(at(0));
    assert!((2.0..6.0).contains(&value) && run.constant() == Some(value));
    assert!(values(&mut run, &[1, 10, 100]).iter().all(|&v| v == value));
    let mut packet = varying(drawn(Every::Packet), Instant::ZERO);
    let values = values(&mut packet, &[5; 10_000]);
    assert!(values.iter().all(|value| (2.0..6.0).contains(value)));
    // Var U(2, 6) = 16/12.
    let mean = values.iter().sum::<f64>() / 1e4;
    assert!((mean - 4.0).abs() < 4.0 * (16.0 / 12.0f64).sqrt() / 100.0, "{mean}");
    assert_eq!(packet.next_change(at(5)), None);
}

proptest! {
    /// A value drawn per period depends on the period alone, independently of earlier queries; it is drawn
    /// from the range.
    #[test]
    fn draws_of_periods_depend_on_time_alone(
        times in prop::collection::vec(0..2_000u64, 1..100), period in 1..200u64, origin in 0..100u64
    ) {
        let number = drawn(Every::Period(ms(period)));
        let mut every_period = varying(number.clone(), at(origin));
        let all: Vec<f64> = (0..=2000 / period).map(|n| every_period.at(at(origin + n * period))).collect();
        prop_assert!(all.iter().all(|value| (2.0..6.0).contains(value)));
        prop_assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
        let mut asked = varying(number, at(origin));
        for time in times {
            let n = time.saturating_sub(origin) / period;
            prop_assert_eq!(asked.at(at(time)), all[n as usize], "{} ms", time);
            prop_assert_eq!(asked.next_change(at(time)), Some(at(origin + (n + 1) * period)));
        }
    }

    /// The value is constant until the next change, and querying the change has no effect.
    #[test]
    fn values_hold_until_the_next_change(
        points in prop::collection::vec((1..1000u64, -9.0..9.0f64), 1..20), more in prop::option::of(1..1000u64), begin in 0..50_000u64,
    ) {
        let mut time = 0;
        let points: Vec<_> = points
            .into_iter()
            .map(|(after, value)| { time += after; (Duration::from_nanos(time), value) })
            .collect();
        let repeat = more.map(|more| Duration::from_nanos(time + more));
        let number = Number::Trace(Arc::new(Trace::new(points.clone(), repeat).expect("times ascend")));
        let mut number = varying(number, Instant::ZERO);
        let expected = |ns: u64| {
            let ns = repeat.map_or(ns, |repeat| ns % repeat.as_nanos() as u64);
            points.iter().rev().find(|point| point.0.as_nanos() <= u128::from(ns)).unwrap_or(&points[0]).1
        };
        let value = number.at(Instant::from_nanos(begin));
        let next = number.next_change(Instant::from_nanos(begin)).map_or(begin + 2000, |next| next.as_nanos());
        prop_assert!(begin < next);
        for ns in begin..next.min(begin + 2000) {
            prop_assert_eq!((number.at(Instant::from_nanos(ns)), expected(ns)), (value, value), "{} ns", ns);
        }
        prop_assert_eq!(number.at(Instant::from_nanos(next)), expected(next));
    }
}

#[test]
fn what_is_no_number_is_refused() {
    let uniform = |low, high, every| Number::Uniform { low, high, every };
    let short = Duration::from_nanos(999);
    for (number, error) in [
        (uniform(2.0, 1.0, Every::Run), NumberError::Range { low: 2.0, high: 1.0 }),
        (uniform(0.0, 1.0, Every::Period(short)), NumberError::Period(short)),
        (Number::Constant(f64::INFINITY), NumberError::NotFinite(f64::INFINITY)),
        (Number::Steps(vec![]), NumberError::Empty),
        (Number::Steps(vec![(ms(1), 1.0), (ms(1), 2.0)]), NumberError::NotAscending(ms(1))),
    ] {
        assert_eq!(number.validate(), Err(error));
    }
    let points = || vec![(ms(0), 1.0), (ms(5), 2.0)];
    assert_eq!(Trace::new(points(), Some(ms(4))), Err(NumberError::Repeat(ms(4))));
    assert!(Trace::new(points(), Some(ms(5))).is_ok());
    assert_eq!(
        Trace::new(vec![(ms(0), 1.0)], None).expect("a trace").repeating(),
        Err(NumberError::Repeat(ms(0)))
    );
}

#[test]
fn csv_is_read_with_comments_and_a_heading() {
    let text = "# measured\n\ntime_s, rate_bps # SI\r\n0, 1e6\r\n 0.5 ,2000000\n12,0 # outage\n";
    let trace = Trace::from_csv(text).expect("a trace");
    assert_eq!(trace.points(), [(ms(0), 1e6), (ms(500), 2e6), (ms(12_000), 0.0)]);
    assert_eq!(trace.repeat(), None);
    assert_eq!(trace.repeating().map(|trace| trace.repeat()), Ok(Some(ms(12_000))));
}

#[test]
fn bad_lines_are_named() {
    for (text, error) in [
        ("", "line 1: the trace is empty; write lines of time_s,value"),
        ("time,value\n# nothing\n", "line 1: the trace is empty; write lines of time_s,value"),
        ("0,1\n1;2\n", "line 2: `1;2` has no comma; write time_s,value"),
        ("0,1\n\n1,fast\n", "line 3: `fast` is not a value; write a plain number"),
        ("0,1\n1 s,2\n", "line 2: `1 s` is not a time in seconds; write a plain number"),
        ("0,1\n1,inf\n", "line 2: `inf` is not a value; write a plain number"),
        ("0,1\n-1,2\n", "line 2: -1 s is not a valid time of a run; write seconds from 0 on"),
        ("a,b\nc,d\n", "line 2: `c` is not a time in seconds; write a plain number"),
        ("1,5\n", "line 1: the first time must be 0; shift the times or add a line for 0"),
        ("0,1\n2,2\n2,3\n", "line 3: times must ascend; sort the lines and keep one for each time"),
    ] {
        assert_eq!(Trace::from_csv(text).map_err(|e| e.to_string()), Err(error.to_owned()), "{text:?}");
    }
}

#[test]
fn durations_become_seconds_and_come_back() {
    for ns in [0, 1, 20_000_000, 123_456_789, 99_999_999_999] {
        let Number::Constant(seconds) = Number::from(Duration::from_nanos(ns)) else { panic!("constant") };
        assert_eq!((seconds * 1e9).round() as u64, ns);
    }
}
