//! Places ticks of an axis at round numbers.

/// Smallest and largest end of an axis. Beyond them, steps may be zero or infinite in floating point. A smaller value
/// counts as no value.
const RANGE: [f64; 2] = [1e-9, 1e300];

/// Returns about `wanted` values of an axis. They start at zero, their step is 1, 2 or 5 times a power of ten, and the
/// last value is at least `max`.
pub(super) fn ticks(max: f64, wanted: usize) -> Vec<f64> {
    let wanted = wanted.max(1);
    let [least, most] = RANGE;
    let max = if max.is_finite() && max >= least { max.min(most) } else { 1.0 };
    let step = nice_step(max / wanted as f64);
    let last = ((max / step - 1e-9).ceil().max(1.0) as usize).min(wanted + 1);
    (0..=last).map(|i| i as f64 * step).collect()
}

fn nice_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    match rough / power {
        m if m <= 1.0 => power,
        m if m <= 2.0 => 2.0 * power,
        m if m <= 5.0 => 5.0 * power,
        _ => 10.0 * power,
    }
}

/// Formats the label of a tick without trailing zeros.
pub(super) fn label(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover() {
        assert_eq!(ticks(1.17, 4), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(ticks(100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(0.0, 4), ticks(1.0, 4));
        assert_eq!(ticks(f64::NAN, 4), ticks(1.0, 4));
        for max in [0.003, 0.7, 1.0, 26.4, 2000.0, 123_456.0] {
            let ticks = ticks(max, 5);
            assert!(*ticks.last().unwrap() >= max && ticks.len() <= 8, "{max}: {ticks:?}");
        }
    }

    /// A line of statistics may contain any number.
    #[test]
    fn no_value_gives_many_ticks_or_ticks_that_are_not_finite() {
        let hostile = [5e-324, f64::MIN_POSITIVE, 1e-10, 1e-9, 1e300, 1e308, f64::MAX, u64::MAX as f64];
        for max in hostile.into_iter().chain([-1.0, f64::INFINITY, f64::NEG_INFINITY]) {
            for wanted in [0, 1, 4, 10] {
                let ticks = ticks(max, wanted);
                let finite = ticks.iter().all(|tick| tick.is_finite());
                assert!(finite && (2..=wanted.max(1) + 2).contains(&ticks.len()), "{max:e}: {ticks:?}");
            }
        }
        assert_eq!(ticks(5e-324, 4), ticks(1.0, 4));
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([label(0.0), label(0.5), label(20.0), label(0.25)], ["0", "0.5", "20", "0.25"]);
    }
}
