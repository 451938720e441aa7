//! Numbers compared with their descriptions.

use std::sync::Arc;

use proptest::prelude::*;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use super::{Every, Law, Number, NumberError, Offset, Shape, Trace, Varying, law};

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

/// Means of draws that are moved into a range, against the closed forms of [`Law::mean`].
#[test]
fn laws_within_a_range_have_their_means() {
    const N: usize = 200_000;
    let normal = Shape::Normal { mean: 0.02, deviation: 0.1 };
    let cases = [
        (normal, 0.0, 1.0),
        (normal, 0.01, 0.05),
        (Shape::Normal { mean: 20.0, deviation: 40.0 }, 0.0, 1e9),
        (Shape::Lognormal { mean: 3.0, deviation: 1.5 }, 0.0, 1e9),
        (Shape::Lognormal { mean: 3.0, deviation: 1.5 }, 2.0, 4.0),
        (Shape::Pareto { mean: 2.0, shape: 1.5 }, 0.0, 200.0),
        (Shape::Pareto { mean: 2.0, shape: 4.0 }, 1.6, 3.0),
        (Shape::Pareto { mean: 2.0, shape: 4.0 }, 0.0, 1.0),
    ];
    for (shape, low, high) in cases {
        let law = Law { shape, low, high, correlation: 0.0 };
        let mut random = Seeds::new(7, 0).stream("law");
        let mut draws = law::Draws::Law { law, last: None };
        let values: Vec<f64> = (0..N).map(|_| draws.next(&mut random)).collect();
        let mean = values.iter().sum::<f64>() / N as f64;
        let deviation = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / N as f64).sqrt();
        let error = 4.0 * deviation / (N as f64).sqrt() + 1e-12;
        assert!((mean - law.mean()).abs() <= error, "{law:?}: {mean}, {}", law.mean());
    }
    // 0.02 Φ(0.2) + 0.1 φ(0.2): all below zero are moved to it.
    let law = Law { shape: normal, low: 0.0, high: 1e9, correlation: 0.0 };
    assert!((law.mean() - (0.02 * 0.579_259_7 + 0.1 * 0.391_042_7)).abs() < 1e-7, "{}", law.mean());
}

/// Draws of a law, with their mean, standard deviation and autocorrelation.
fn sample(shape: Shape, correlation: f64, n: usize) -> (Vec<f64>, f64, f64) {
    let law = Law { shape, low: -1e9, high: 1e9, correlation };
    let mut number = varying(Number::Drawn { law, every: Every::Packet }, Instant::ZERO);
    let values: Vec<f64> = (0..n).map(|_| number.at(at(0))).collect();
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
    (values, mean, variance.sqrt())
}

#[test]
fn laws_have_their_means_and_deviations() {
    const N: usize = 100_000;
    let root = (N as f64).sqrt();
    let (_, mean, deviation) = sample(Shape::Normal { mean: 40.0, deviation: 5.0 }, 0.0, N);
    // Standard errors: σ/√n of the mean, σ/√2n of the deviation.
    assert!((mean - 40.0).abs() < 4.0 * 5.0 / root, "{mean}");
    assert!((deviation - 5.0).abs() < 4.0 * 5.0 / (2f64.sqrt() * root), "{deviation}");
    let (values, mean, deviation) = sample(Shape::Lognormal { mean: 3.0, deviation: 1.5 }, 0.0, N);
    assert!((mean - 3.0).abs() < 4.0 * 1.5 / root, "{mean}");
    // The variance of a variance is (kurtosis - 1) σ⁴ / n; with w = exp(s²) = 1.25 the kurtosis is w⁴ + 2w³ + 3w² - 3.
    let w = 1.25f64;
    let kurtosis = w * w * (w * w + 2.0 * w + 3.0) - 3.0;
    let error = 1.5 * ((kurtosis - 1.0).sqrt() / 2.0) / root;
    assert!((deviation - 1.5).abs() < 4.0 * error, "{deviation}, {error}");
    // Half of all are below the median, mean / √w.
    let below = values.iter().filter(|v| **v < 3.0 / w.sqrt()).count() as f64 / N as f64;
    assert!((below - 0.5).abs() < 4.0 * 0.5 / root, "{below}");
    // Pareto: the least value is mean · (shape - 1) / shape, and P(x > 2 · least) = 2^-shape.
    let (values, mean, deviation) = sample(Shape::Pareto { mean: 2.0, shape: 4.0 }, 0.0, N);
    assert!((mean - 2.0).abs() < 4.0 * deviation / root, "{mean}");
    assert!(values.iter().all(|v| *v >= 1.5));
    let above = values.iter().filter(|v| **v > 3.0).count() as f64 / N as f64;
    assert!((above - 0.0625).abs() < 4.0 * (0.0625f64 * 0.9375).sqrt() / root, "{above}");
}

#[test]
fn correlated_draws_keep_their_law_and_forget_by_powers() {
    const N: usize = 200_000;
    let rho = 0.8f64;
    let (values, mean, deviation) = sample(Shape::Normal { mean: 10.0, deviation: 2.0 }, rho, N);
    // The mean of an autoregressive process has the variance σ²/n · (1 + ρ)/(1 - ρ); its variance that of ρ².
    let root = (N as f64).sqrt();
    assert!((mean - 10.0).abs() < 4.0 * 2.0 / root * ((1.0 + rho) / (1.0 - rho)).sqrt(), "{mean}");
    let wider = ((1.0 + rho * rho) / (1.0 - rho * rho)).sqrt();
    assert!((deviation - 2.0).abs() < 4.0 * 2.0 / (2f64.sqrt() * root) * wider, "{deviation}");
    for lag in [1, 2, 5, 20] {
        let pairs = values.iter().zip(&values[lag..]);
        let products: f64 = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum();
        let correlation = products / ((N - lag) as f64 * deviation * deviation);
        // Bartlett: the variance is at most (1 + ρ²)/(1 - ρ²)/n.
        let expected = libm::pow(rho, lag as f64);
        assert!(
            (correlation - expected).abs() < 4.0 * wider / root,
            "lag {lag}: {correlation}, not {expected}"
        );
    }
}

#[test]
fn draws_stay_within_their_range_and_depend_on_time_alone() {
    let law =
        Law { shape: Shape::Normal { mean: 1.0, deviation: 9.0 }, low: 0.0, high: 2.0, correlation: 0.9 };
    let number = Number::Drawn { law, every: Every::Period(ms(10)) };
    assert_eq!((number.range(), number.mean()), ((0.0, 2.0), 1.0));
    let mut forward = varying(number.clone(), at(0));
    let all: Vec<f64> = (0..100).map(|n| forward.at(at(10 * n))).collect();
    assert!(all.iter().all(|v| (0.0..=2.0).contains(v)) && all.contains(&0.0) && all.contains(&2.0));
    let mut back = varying(number, at(0));
    for n in (0..100).rev() {
        assert_eq!(back.at(at(10 * n as u64 + 3)), all[n]);
    }
}

#[test]
fn a_trace_begins_where_it_is_told_and_one_of_several_is_drawn() {
    let trace = |value: f64| {
        let points = (0..100).map(|n| (ms(10 * n), value + n as f64)).collect();
        Arc::new(Trace::new(points, Some(ms(1000))).expect("a trace"))
    };
    let fixed = |offset| Number::Traces { traces: vec![trace(0.0)], offset: Offset::Fixed(ms(offset)) };
    let mut number = varying(fixed(985), at(100));
    assert_eq!(values(&mut number, &[0, 100, 104, 105, 115, 1100]), [98., 98., 98., 99., 0., 98.]);
    assert_eq!(number.next_change(at(100)), Some(at(105)));
    assert_eq!(number.next_change(at(106)), Some(at(115)));
    let random = |seed| {
        let traces = vec![trace(0.0), trace(1000.0)];
        let number = Number::Traces { traces, offset: Offset::Random };
        Varying::new(&number, Seeds::new(seed, 0).stream("number"), at(0)).at(at(0))
    };
    let begins: Vec<f64> = (0..1000).map(random).collect();
    assert_eq!(begins[..5], (0..5).map(random).collect::<Vec<_>>());
    let second = begins.iter().filter(|v| **v >= 1000.0).count() as f64;
    assert!((second - 500.0).abs() < 4.0 * 1000f64.sqrt() / 2.0, "{second}");
    // A uniform time: its mean is 49.5 of 100 steps, with a standard error of 28.9/√1000.
    let mean = begins.iter().map(|v| v % 1000.0).sum::<f64>() / 1000.0;
    assert!((mean - 49.5).abs() < 4.0 * 28.9 / 1000f64.sqrt(), "{mean}");
    let endless = Arc::new(Trace::new(vec![(ms(0), 1.0)], None).expect("a trace"));
    let number = Number::Traces { traces: vec![endless], offset: Offset::Random };
    assert_eq!(number.validate(), Err(NumberError::Endless));
}

/// Numbers of one cause are equal whatever stream they are given, those of another are not.
#[test]
fn a_cause_moves_all_its_numbers_alike() {
    let draw = |cause, label| {
        let number = Box::new(drawn(Every::Period(ms(10))));
        let mut number =
            Varying::new(&Number::Caused { cause, number }, Seeds::new(1, 0).stream(label), Instant::ZERO);
        values(&mut number, &[0, 10, 20, 30])
    };
    assert_eq!(draw(7, "a"), draw(7, "b"));
    assert_ne!(draw(7, "a"), draw(8, "a"));
}
