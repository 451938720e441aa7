//! Text that a peer or a file has written, made fit for a terminal or a log.

use std::borrow::Cow;

/// Whether a terminal could act on `c`, or a reader be misled by it: control characters (C0, DEL and C1, line ends
/// included), line and paragraph separators, characters that change the direction of text (Unicode Standard Annex 9),
/// and others that take no room (Unicode's zero-width and tag characters but for the joiners that words need).
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

/// `text` on one line: every character that [`needs_escape`] is written out, as `\n` or `\u{1b}`. Others stay as they
/// are, a backslash as well.
///
/// ```
/// use strandcast_proto::text::printable;
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
}
