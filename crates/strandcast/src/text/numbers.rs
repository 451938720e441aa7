//! Human-readable numbers: at most four digits and a unit.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

/// Returns a duration in milliseconds as text: `43 ms`.
pub fn ms(d: Duration) -> String {
    match d.as_secs_f64() * 1e3 {
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms => format!("{ms:.0} ms"),
    }
}

/// Returns a duration as text: `4.2 s`, `3:07`, `1:02:45`.
pub fn duration(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        0..60 => format!("{:.1} s", d.as_secs_f64()),
        60..3600 => format!("{}:{:02}", s / 60, s % 60),
        _ => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
    }
}

/// Returns a number with its noun: `1 message`, `1 234 messages`.
pub fn count(n: u64, what: &str) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    format!("{grouped} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns numbers of messages by cause, largest first: `capacity 12, burst 3`.
pub fn causes(of: &BTreeMap<&'static str, u64>) -> String {
    let mut all: Vec<_> = of.iter().collect();
    all.sort_by_key(|(_, messages)| Reverse(**messages));
    let each: Vec<String> = all.into_iter().map(|(cause, messages)| format!("{cause} {messages}")).collect();
    each.join(", ")
}

/// Returns the line of a summary on outages; `None` without outages.
pub fn outages(times: u64, longest_s: f64) -> Option<String> {
    let longest = duration(Duration::from_secs_f64(longest_s));
    (times > 0).then(|| format!("{}, the longest of {longest}", count(times, "outage")))
}

/// Returns the line of a summary on shifts of playout; `None` without shifts.
pub fn shifts(times: u64, largest_ms: f64, now_ms: f64) -> Option<String> {
    let time = |of_ms: f64| ms(Duration::from_secs_f64(of_ms / 1e3));
    let (largest, now) = (time(largest_ms), time(now_ms));
    let times = (times > 0).then(|| count(times, "time"))?;
    Some(format!("playout shifted {times}, by {largest} at most, {now} at the end"))
}

/// Parses a number of bytes with a unit: `256MiB`.
///
/// # Errors
/// Returns a line with the text and an example.
pub fn size(text: &str) -> Result<usize, String> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "" | "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => f64::from(1 << 20),
        "GiB" => f64::from(1 << 30),
        _ => return Err(format!("{text:?} is not a size, as in 256MiB or 1GB")),
    };
    let bytes = number.trim().parse().ok().map(|n: f64| n * factor).filter(|b| (0.0..1e15).contains(b));
    bytes.map(|b| b as usize).ok_or_else(|| format!("{text:?} is not a size, as in 256MiB or 1GB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_and_units() {
        assert_eq!(ms(Duration::from_micros(420)), "0.4 ms");
        assert_eq!(ms(Duration::from_millis(43)), "43 ms");
        assert_eq!(duration(Duration::from_millis(4200)), "4.2 s");
        assert_eq!(duration(Duration::from_secs(187)), "3:07");
        assert_eq!(duration(Duration::from_secs(3765)), "1:02:45");
        assert_eq!(count(1, "message"), "1 message");
        assert_eq!(count(1_234_567, "message"), "1 234 567 messages");
        assert_eq!(count(123, "byte"), "123 bytes");
    }
}
