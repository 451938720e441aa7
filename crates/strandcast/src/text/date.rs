//! Times of day as text.

const DAY: u64 = 24 * 3600;

/// Returns a time in seconds since 1970 as text: `2026-11-23 16:31 UTC`.
pub fn date(at: u64) -> String {
    let (days, minutes) = (at / DAY, at % DAY / 60);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Returns a time in milliseconds since 1970 as text, as in RFC 3339: `2026-11-23T16:31:05.250Z`.
pub fn rfc3339(millis: u64) -> String {
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (days, second) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Converts a day to year, month and day of the Gregorian calendar. `days` is the number of days since 1970-01-01.
/// Years are counted from March, so that a leap day is the last day of its year. 400 years have 146 097 days.
pub fn civil(days: u64) -> (u64, u64, u64) {
    let since_march_of_0 = days + 719_468;
    let (era, day) = (since_march_of_0 / 146_097, since_march_of_0 % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_the_gregorian_calendar() {
        for (at, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399, "2000-02-28 23:59 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (951_868_800, "2000-03-01 00:00 UTC"),
            (1_234_567_890, "2009-02-13 23:31 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(date(at), text);
        }
        assert_eq!(rfc3339(951_782_399_250), "2000-02-28T23:59:59.250Z");
        // Each day follows the previous one.
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..150_000 {
            assert_eq!(civil(days), (year, month, day));
            let leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
            let last = match month {
                2 => 28 + u64::from(leap),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (year, month, day) = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (_, d) if d == last => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
        }
    }
}
