//! A month of a plan, which begins on the same day of each calendar month (UTC).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 86_400;

/// A month of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::live) struct Month {
    /// First day, in days since 1970.
    begin: u64,
    /// First day of the next month, in days since 1970.
    end: u64,
}

impl Month {
    /// The month that contains the time `at`. `day` is the day of the calendar month on which it begins, 1 to 28.
    pub(in crate::live) fn of(at: SystemTime, day: u8) -> Month {
        // A clock before 1970 is not set.
        let today = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / DAY;
        let (mut begin, mut first) = (0, 0);
        for number in 0.. {
            let start = first + u64::from(day.clamp(1, 28)) - 1;
            if start > today {
                return Month { begin, end: start };
            }
            begin = start;
            first += length(number);
        }
        unreachable!("a later month begins after today")
    }

    /// The first day, as `2026-11-15`.
    pub(in crate::live) fn begin(self) -> String {
        date(self.begin)
    }

    /// The first day of the next month, as `2026-12-15`.
    pub(in crate::live) fn end(self) -> String {
        date(self.end)
    }

    /// Time from `at` to the end of the month.
    pub(in crate::live) fn rest(self, at: SystemTime) -> Duration {
        let end = UNIX_EPOCH + Duration::from_secs(self.end * DAY);
        end.duration_since(at).unwrap_or_default()
    }
}

/// Number of days of a calendar month. Month 0 is January 1970.
fn length(month: u64) -> u64 {
    let year = 1970 + month / 12;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month % 12 {
        1 => 28 + u64::from(leap),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

fn date(mut days: u64) -> String {
    let mut month = 0;
    while days >= length(month) {
        days -= length(month);
        month += 1;
    }
    format!("{}-{:02}-{:02}", 1970 + month / 12, month % 12 + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds since 1970, from `date -u +%s`.
    fn month(seconds: u64, day: u8) -> (String, String) {
        let month = Month::of(UNIX_EPOCH + Duration::from_secs(seconds), day);
        (month.begin(), month.end())
    }

    fn is(begin: &str, end: &str) -> (String, String) {
        (begin.to_owned(), end.to_owned())
    }

    #[test]
    fn months_begin_on_their_day() {
        // 2026-11-29 01:20:00.
        assert_eq!(month(1_795_915_200, 1), is("2026-11-01", "2026-12-01"));
        assert_eq!(month(1_795_915_200, 15), is("2026-11-15", "2026-12-15"));
        // 2024-02-29 23:59:59 and the second after it.
        assert_eq!(month(1_709_251_199, 1), is("2024-02-01", "2024-03-01"));
        assert_eq!(month(1_709_251_200, 1), is("2024-03-01", "2024-04-01"));
        assert_eq!(month(1_709_251_200, 28), is("2024-02-28", "2024-03-28"));
        // The first second of a year.
        assert_eq!(month(1_735_689_600, 28), is("2024-12-28", "2025-01-28"));
        // 2000 was a leap year (2000-03-01 00:00:00), 2100 is not one (2100-03-01 00:00:00).
        assert_eq!(month(951_868_800, 1), is("2000-03-01", "2000-04-01"));
        assert_eq!(month(4_107_542_400, 1), is("2100-03-01", "2100-04-01"));
    }

    #[test]
    fn the_rest_of_a_month() {
        let at = UNIX_EPOCH + Duration::from_secs(1_709_251_199);
        assert_eq!(Month::of(at, 1).rest(at), Duration::from_secs(1));
    }
}
