//! Quotation of texts from peers.

use strandcast_keys::text::printable;

/// Maximum length of a quoted text from a peer, in characters.
const MAX_QUOTED: usize = 200;

/// Escapes and truncates a text from a peer for use in a line.
pub fn quoted(words: &str) -> String {
    let mut text: String = printable(words).chars().take(MAX_QUOTED + 1).collect();
    if text.chars().count() > MAX_QUOTED {
        text.pop();
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_truncated() {
        assert_eq!(quoted("short"), "short");
        let long = quoted(&"\n".repeat(10_000));
        assert!(
            long.starts_with("\\n\\n") && long.ends_with(" ...") && long.len() == MAX_QUOTED + 4,
            "{long}"
        );
    }
}
