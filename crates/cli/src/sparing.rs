//! Limits lines that peers cause, so that a flood of them cannot fill a disk.

use std::time::{Duration, Instant};

/// Number of lines that may be printed without a pause.
const AT_ONCE: u32 = 100;
/// Interval after which one more line is permitted.
const EVERY: Duration = Duration::from_secs(2);

/// Prints lines up to a limit. The next line has the number of lines that were left out.
#[derive(Debug)]
pub(crate) struct Sparing {
    left: u32,
    /// Time at which the number of permitted lines last increased.
    since: Instant,
    omitted: u64,
}

impl Sparing {
    pub(crate) fn new(now: Instant) -> Sparing {
        Sparing { left: AT_ONCE, since: now, omitted: 0 }
    }

    /// Returns the number of lines that were left out before this line, if this line may be printed. Returns `None` if
    /// too many lines were printed recently.
    pub(crate) fn admits(&mut self, now: Instant) -> Option<u64> {
        let more = now.saturating_duration_since(self.since).as_nanos() / EVERY.as_nanos();
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(more).min(AT_ONCE);
        self.since = if self.left == AT_ONCE { now } else { self.since + EVERY * more };
        if self.left == 0 {
            self.omitted += 1;
            return None;
        }
        self.left -= 1;
        Some(std::mem::take(&mut self.omitted))
    }

    /// Counts lines that were left out before they reached this function.
    pub(crate) fn omit(&mut self, lines: u64) {
        self.omitted += lines;
    }

    /// Prints a line, unless too many lines were printed recently.
    pub(crate) fn line(&mut self, now: Instant, text: &str, mut print: impl FnMut(&str)) {
        match self.admits(now) {
            None => {}
            Some(0) => print(text),
            Some(omitted) => print(&counted(text, omitted)),
        }
    }
}

/// Adds to a line the number of earlier lines that were left out.
pub(crate) fn counted(text: &str, omitted: u64) -> String {
    match omitted {
        0 => text.to_owned(),
        _ => format!("{text} ({omitted} lines like this were left out)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a thousand lines per second for an hour.
    #[test]
    fn a_flood_of_lines_is_a_hundred_and_thirty_a_minute() {
        let start = Instant::now();
        let mut sparing = Sparing::new(start);
        let mut printed: Vec<String> = Vec::new();
        for ms in 0..3_600_000 {
            sparing.line(start + Duration::from_millis(ms), "refused", |line| printed.push(line.to_owned()));
        }
        assert_eq!(printed.len(), 100 + 1799);
        assert!(printed[..100].iter().all(|line| line == "refused"));
        assert_eq!(printed[100], "refused (1900 lines like this were left out)");
        assert_eq!(printed[101], "refused (1999 lines like this were left out)");
        // After a pause each line is printed again.
        let later = start + Duration::from_secs(4000);
        for _ in 0..100 {
            sparing.line(later, "refused", |line| printed.push(line.to_owned()));
        }
        assert_eq!(printed.len(), 1899 + 100);
    }
}
