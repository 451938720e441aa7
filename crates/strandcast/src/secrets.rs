//! Removes secrets from text. No log and no diagnostic may repeat a secret, wherever the user or a peer has put it.
//!
//! A secret is a pairing string, a secret key or a token, also if it was copied with blanks, quotes or line ends in it,
//! and the passphrase of an `srt://` URL. Public keys stay.
//!
//! ```
//! use strandcast::secrets::{hide_passphrases, redact};
//!
//! let line = "cannot read sc1-8h0123456789abcdefghjkmnpqrstvwxyz: no such file";
//! assert_eq!(redact(line), "cannot read sc1-(hidden): no such file");
//! assert_eq!(hide_passphrases("srt://h:1?passphrase=blue"), "srt://h:1?passphrase=(hidden)");
//! ```

use std::borrow::Cow;

/// Letters that precede the version of a pairing string, a secret key and a token. A public key is not a secret.
const PREFIXES: [&str; 3] = ["sc", "scs", "sct"];
/// Number of symbols after the prefix from which a text counts as a secret. Fewer symbols reveal nothing, and ordinary
/// words have fewer.
const SHORTEST: usize = 20;
/// Length of the longest of [`PREFIXES`].
const LONGEST_PREFIX: usize = 3;
/// Minimum number of symbols of a secret if blanks, quotes or line ends are between the symbols.
const BROKEN: usize = 40;

/// Returns the text with each pairing string, secret key and token replaced by its prefix and `(hidden)`.
pub fn redact(text: &str) -> Cow<'_, str> {
    let (mut out, mut done, mut from) = (String::new(), 0, 0);
    while let Some((prefix, symbols)) = next_prefix(text, from) {
        from = symbols;
        let Some(end) = end(text, symbols) else { continue };
        out.push_str(&text[done..prefix]);
        out.push_str(&text[prefix..symbols]);
        out.push_str("(hidden)");
        (done, from) = (end, end);
    }
    match done {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[done..]),
    }
}

/// Returns whether the text contains a pairing string, a secret key or a token.
pub fn has_secret(text: &str) -> bool {
    matches!(redact(text), Cow::Owned(_))
}

/// Returns the text with the passphrase of each URL replaced by `(hidden)`. The rest of a URL after a passphrase is
/// hidden as well, because a passphrase may contain a `&` that is not written as `%26`.
pub fn hide_passphrases(text: &str) -> Cow<'_, str> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = passphrase(rest) {
        let (before, secret) = rest.split_at(at);
        let line = secret.find('\n').unwrap_or(secret.len());
        let end = secret[..line].find("' for '").unwrap_or(line);
        out.push_str(before);
        out.push_str("(hidden)");
        rest = &secret[end..];
    }
    if out.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}

/// Returns the position at which the value of the first passphrase begins.
fn passphrase(text: &str) -> Option<usize> {
    const KEY: &str = "passphrase=";
    let mut keys = text.match_indices(KEY);
    let begins = |at: usize| at > 0 && matches!(text.as_bytes()[at - 1], b'?' | b'&');
    keys.find(|(at, _)| begins(*at)).map(|(at, _)| at + KEY.len())
}

/// Returns start and end of the next prefix. A prefix consists of letters, a version and a hyphen.
fn next_prefix(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let starts = (from..bytes.len()).filter(|&at| bytes[at].eq_ignore_ascii_case(&b's'));
    let mut found = starts.filter(|&at| is_boundary(&bytes[..at]));
    found.find_map(|at| {
        let letters = bytes[at..].iter().take(LONGEST_PREFIX + 1);
        let version = letters.clone().position(u8::is_ascii_digit)? + at;
        let digits = bytes[version..].iter().take_while(|b| b.is_ascii_digit()).count();
        let known = PREFIXES.iter().any(|prefix| prefix.as_bytes().eq_ignore_ascii_case(&bytes[at..version]));
        let hyphen = bytes.get(version + digits) == Some(&b'-');
        (known && hyphen).then_some((at, version + digits + 1))
    })
}

/// Returns whether a prefix may begin after this text. The text is empty, or it ends with a byte that is neither a
/// letter nor a digit, or with an escape of JSON or of a URL: `\n`, `\u000a`, `\x0a`, `%0a`.
fn is_boundary(before: &[u8]) -> bool {
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [] => true,
        [.., last] if !last.is_ascii_alphanumeric() => true,
        [.., b'\\', b'n' | b't' | b'r' | b'b' | b'f' | b'v' | b'0'] => true,
        [.., b'%', a, b] | [.., b'\\', b'x', a, b] if hex(&[*a, *b]) => true,
        [.., b'\\', b'u', a, b, c, d] if hex(&[*a, *b, *c, *d]) => true,
        _ => false,
    }
}

/// Returns the end of the symbols that begin at `from`, if there are as many symbols as in a secret.
fn end(text: &str, from: usize) -> Option<usize> {
    let within = |more: fn(char) -> bool, least: usize| {
        let rest = &text[from..];
        let run = &rest[..rest.find(|c: char| !(is_symbol(c) || more(c))).unwrap_or(rest.len())];
        let last = run.rfind(is_symbol).map_or(0, |at| at + 1);
        (run.chars().filter(|&c| is_symbol(c)).count() >= least).then_some(from + last)
    };
    within(|c| c == '-', SHORTEST).or_else(|| within(|c| c.is_whitespace() || "-\"'`\\".contains(c), BROKEN))
}

fn is_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_however_they_were_copied() {
        let symbols = "8h0123456789abcdefghjkmnpqrstvwxyz0123456789abcdefghjkmnpqrstvwxyz";
        for prefix in ["sc1-", "scs1-", "sct1-", "SC1-", "sc2-", "sc12-"] {
            let told = redact(&format!("invalid value '{prefix}{symbols}' for NAME: sc1-short is too short"))
                .into_owned();
            assert_eq!(told, format!("invalid value '{prefix}(hidden)' for NAME: sc1-short is too short"));
            let broken: Vec<String> =
                symbols.as_bytes().chunks(5).map(|c| String::from_utf8_lossy(c).into_owned()).collect();
            for between in [" ", "\n", "-", "\" \""] {
                let told = redact(&format!("@{prefix}{}: no", broken.join(between))).into_owned();
                assert_eq!(told, format!("@{prefix}(hidden): no"), "{between:?}");
            }
        }
        let twice = format!("sc1-{symbols} and sct1-{symbols}");
        assert_eq!(redact(&twice), "sc1-(hidden) and sct1-(hidden)");
    }

    #[test]
    fn secrets_after_escapes_are_hidden() {
        let symbols = "8h0123456789abcdefghjkmnpqrstvwxyz";
        for escape in [
            "\\n", "\\t", "\\r", "\\b", "\\f", "\\u000a", "\\u00E9", "\\\\n", "\\x0a", "%20", "%3D", "%0a%0A",
        ] {
            let told = redact(&format!("{{\"text\":\"was{escape}sc1-{symbols}{escape}\"}}")).into_owned();
            assert_eq!(told, format!("{{\"text\":\"was{escape}sc1-(hidden){escape}\"}}"), "{escape}");
        }
        for text in ["\\dsc1-", "%0gsc1-", "\\u00gesc1-", "u000asc1-", "n0sc1-"] {
            assert!(!has_secret(&format!("{text}{symbols}")), "{text}");
        }
    }

    /// A text of many beginnings has no secret, and is read in linear time: in quadratic time, this test would take
    /// minutes.
    #[test]
    fn many_beginnings_are_no_secret() {
        for part in ["s ", "s", "sc1 ", "sc1111", "?passphrase", "\\ns"] {
            let text = part.repeat(400_000);
            assert!(!has_secret(&text) && hide_passphrases(&text) == text, "{part:?}");
        }
        let urls = "?passphrase=\n".repeat(400_000);
        assert_eq!(hide_passphrases(&urls).matches("(hidden)").count(), 400_000);
    }

    #[test]
    fn passphrases_of_urls_are_hidden() {
        for (text, told) in [
            (
                "invalid value 'srt://h:1?passphrase=short' for '<INPUT>': srt://h:1: no",
                "invalid value 'srt://h:1?passphrase=(hidden)' for '<INPUT>': srt://h:1: no",
            ),
            (
                "'srt://h:1?latency=x&passphrase=it's & more&mode=y' for '<OUTPUT>...'",
                "'srt://h:1?latency=x&passphrase=(hidden)' for '<OUTPUT>...'",
            ),
            (
                "srt://h:1?passphrase=a\nsrt://h:1?passphrase=b",
                "srt://h:1?passphrase=(hidden)\nsrt://h:1?passphrase=(hidden)",
            ),
            ("the passphrase=key of a URL", "the passphrase=key of a URL"),
        ] {
            assert_eq!(hide_passphrases(text), told);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let key = format!("sck1-{}", "0123456789".repeat(5));
        for text in
            ["", "s", "sc1-", "sc1-clip.ts", "disc1-0123456789012345678901234567890", &key, "größe sc"]
        {
            assert!(!has_secret(text), "{text}");
        }
    }
}
