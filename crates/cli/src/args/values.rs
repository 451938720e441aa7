//! Values of options.

use std::time::Duration;

use strandcast::live::Retry;

/// Parses the time for which a sender keeps trying.
pub(super) fn retry(text: &str) -> Result<Retry, String> {
    match text {
        "forever" => Ok(Retry::Forever),
        _ => seconds(text).map(Retry::For).map_err(|e| format!("{e}, or forever")),
    }
}

/// Parses a whole number from `least` to `most`. The error message ends with `what`, the meaning of the number.
pub(super) fn whole<T: TryFrom<u64>>(
    least: u64,
    most: u64,
    what: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number: &u64| (least..=most).contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("{text} is not a whole number from {least} to {most}: {what}"))
    }
}

/// Parses a bit rate of 1 kbit/s to 10 Gbit/s.
pub(super) fn bit_rate(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit.trim_end_matches("it/s").trim_end_matches("ps").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => f64::NAN,
    };
    let rate =
        number.trim().parse::<f64>().ok().map(|n| n * factor).filter(|rate| (1e3..=1e10).contains(rate));
    let rate = rate.ok_or_else(|| {
        format!("{text:?} is not a rate from 1kbit/s to 10Gbit/s, as in 4Mbit/s or 4000000")
    })?;
    Ok(rate as u64)
}

/// Parses a latency in milliseconds.
pub(super) fn latency(text: &str) -> Result<u32, String> {
    whole(20, 60_000, "milliseconds")(text)
}

/// Parses a number of seconds, which may have a fraction and must not be zero.
pub(super) fn some_seconds(text: &str) -> Result<Duration, String> {
    let least = Duration::from_millis(100);
    seconds(text)
        .ok()
        .filter(|time| *time >= least)
        .ok_or_else(|| format!("{text:?} is not a time of 0.1 s or more"))
}

/// Parses a number of seconds, which may have a fraction.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().filter(|s: &f64| s.is_finite() && (0.0..=1e9).contains(s));
    parsed.map(Duration::from_secs_f64).ok_or_else(|| format!("{text:?} is not a number of seconds"))
}

/// Parses a positive duration with a unit, or in seconds.
pub(super) fn step(text: &str) -> Result<Duration, String> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let factor = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        "min" => 60.0,
        _ => return Err(format!("{text:?} is not a duration, as in 100ms or 0.5s")),
    };
    let parsed = number.trim().parse().ok().map(|n: f64| n * factor).filter(|s| (1e-6..=1e9).contains(s));
    parsed
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("{text:?} is not a duration of at least 1us, as in 100ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units() {
        for (text, bps) in [
            ("4Mbit/s", 4_000_000),
            ("800 kbit/s", 800_000),
            ("4000000", 4_000_000),
            ("1.5M", 1_500_000),
            ("2Gbps", 2_000_000_000),
        ] {
            assert_eq!(bit_rate(text), Ok(bps), "{text}");
        }
        for text in ["", "fast", "0", "-1M", "5MB/s", "1e99", "4 furlongs"] {
            assert!(bit_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn steps_have_units() {
        for (text, ms) in [("100ms", 100), ("0.5 s", 500), ("2", 2000), ("1 min", 60_000)] {
            assert_eq!(step(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "0", "-1s", "1h2", "ms", "nan", "inf", "1e-9"] {
            assert!(step(text).is_err(), "{text}");
        }
    }

    #[test]
    fn retry_in_seconds_or_forever() {
        assert_eq!(retry("forever"), Ok(Retry::Forever));
        assert_eq!(retry("1.5"), Ok(Retry::For(Duration::from_millis(1500))));
        assert!(retry("-1").is_err() && retry("nan").is_err());
    }
}
