//! Text for people: text of a peer or a file that is made safe for a terminal or a log, and numbers with their units.

use std::borrow::Cow;

/// Returns whether a terminal could act on `c`, or whether `c` could mislead a reader. Dangerous characters are control
/// characters (C0, DEL and C1, including line ends), line and paragraph separators, and characters that change the
/// direction of text (Unicode Standard Annex 9). Characters without width are also dangerous: Unicode's zero-width and
/// tag characters, except the joiners that words need.
pub fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Writes `text` on one line. Every character that [`needs_escape`] selects is escaped, for example as `\n` or
/// `\u{1b}`. All other characters are unchanged, including a backslash.
///
/// ```
/// use strandcast_keys::text::printable;
/// assert_eq!(printable("no\nescape\u{1b}[2J"), r"no\nescape\u{1b}[2J");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(needs_escape) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match needs_escape(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Returns a rate as text, for example `612 kbit/s`.
pub fn bits_per_s(bps: f64) -> String {
    scaled(bps, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"])
}

/// Returns a size as text, for example `3.01 MB`.
pub fn bytes(bytes: u64) -> String {
    scaled(bytes as f64, &["B", "kB", "MB", "GB", "TB"])
}

fn scaled(value: f64, units: &[&str]) -> String {
    let (mut value, mut unit) = (value, 0);
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", units[unit])
}

/// Returns a fraction as text, for example `1.6 %`. A positive value is never shown as zero.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.01 => "< 0.01 %".to_owned(),
        p if p > 0.0 && p < 0.95 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_stays() {
        let hostile = ('\0'..='\u{1f}').chain('\u{7f}'..='\u{9f}').chain(['\u{2028}', '\u{2029}']);
        let bidi =
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        for c in hostile.chain(bidi.chars()).chain("\u{200b}\u{2060}\u{feff}\u{e0041}".chars()) {
            let text = printable(&format!("a{c}b")).into_owned();
            assert!(text.starts_with("a\\") && text.ends_with('b'), "{c:?}: {text:?}");
            assert!(!text.contains(needs_escape), "{c:?}: {text:?}");
        }
    }

    #[test]
    fn words_of_any_language_stay() {
        for text in ["", "plain words, ~ and \\", "größer 数 שלום नमस्ते 👩\u{200d}🚀", "\u{a0}"]
        {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn escaped_text_is_not_escaped_again() {
        let once = printable("\u{1b}]0;title\u{7}\r\n").into_owned();
        assert_eq!((printable(&once).as_ref(), once.as_str()), (once.as_str(), r"\u{1b}]0;title\u{7}\r\n"));
    }

    #[test]
    fn figures_and_units() {
        assert_eq!(bits_per_s(0.0), "0 bit/s");
        assert_eq!(bits_per_s(612_345.0), "612 kbit/s");
        assert_eq!(bits_per_s(999_600.0), "1.00 Mbit/s");
        assert_eq!(bits_per_s(12_345_678.0), "12.3 Mbit/s");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(3_011_000), "3.01 MB");
        assert_eq!(percent(0.016), "1.6 %");
        assert_eq!(percent(0.00001), "< 0.01 %");
        assert_eq!(percent(0.0), "0.0 %");
    }
}
