//! Keys, tokens and pairings as text. The text consists of a prefix with a version, the number of bytes as two symbols
//! of base 32, and the bytes and a checksum in base 32. The number of bytes distinguishes a truncated text from a
//! mistyped one.

use std::fmt;

use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::base32;

/// Kind of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Letters that precede the version.
    pub prefix: &'static str,
    /// Name of the kind in messages.
    pub name: &'static str,
    /// Number of bytes of every text of this kind. `None` if the number varies.
    pub bytes: Option<usize>,
}

/// A pairing: the receiver, and the token that admits the sender.
pub(super) const PAIRING: Kind = Kind { prefix: "sc", name: "pairing string", bytes: None };
/// A public key.
pub(super) const PUBLIC: Kind = Kind { prefix: "sck", name: "key", bytes: Some(32) };
/// A secret key.
pub(super) const SECRET: Kind = Kind { prefix: "scs", name: "secret key", bytes: Some(32) };
/// A token.
pub(super) const TOKEN: Kind = Kind { prefix: "sct", name: "token", bytes: Some(32) };

/// Version that this program writes and reads.
const VERSION: u32 = 1;
/// Number of bytes of the checksum. The checksum is the beginning of SHA-256 over prefix and bytes.
const CHECKSUM: usize = 4;
/// Number of symbols that encode the number of bytes.
const COUNT: usize = 2;
/// Maximum length of the content in bytes. A longer text would not fit a QR code that a telephone can read from a
/// screen.
pub(super) const LONGEST: usize = 255;

/// Reason why a text is invalid.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextError {
    /// The text does not begin as texts of this kind do.
    OtherKind(Kind),
    /// A newer version of the program has made the text.
    Newer(Kind),
    /// Characters are missing. The value is their number, if it can be computed.
    CutShort(Kind, Option<usize>),
    /// The text is longer than it should be. The value is the number of additional characters.
    TooLong(Kind, usize),
    /// A character is wrong.
    Mistyped(Kind),
}

impl TextError {
    /// Returns whether more characters could complete the text.
    pub fn is_cut_short(&self) -> bool {
        matches!(self, TextError::CutShort(..))
    }
}

impl std::error::Error for TextError {}

/// Writes the same line as [`Display`](fmt::Display), so that a program whose `main` returns the error prints it.
impl fmt::Debug for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::OtherKind(kind) => {
                write!(f, "this is not a {}: it would begin with {}{VERSION}-", kind.name, kind.prefix)
            }
            TextError::Newer(kind) => {
                write!(f, "the {} is of a newer version of Strandcast: update this one", kind.name)
            }
            TextError::CutShort(kind, None) => write!(f, "the {} is cut short", kind.name),
            TextError::CutShort(kind, Some(missing)) => {
                let s = if *missing == 1 { "" } else { "s" };
                write!(f, "the {} is cut short: {missing} character{s} missing", kind.name)
            }
            TextError::TooLong(kind, extra) => {
                let s = if *extra == 1 { "" } else { "s" };
                write!(f, "the {} has {extra} character{s} too many: was it pasted twice?", kind.name)
            }
            TextError::Mistyped(kind) => {
                write!(f, "the {} is mistyped: a character of it is wrong", kind.name)
            }
        }
    }
}

impl Kind {
    /// Returns the bytes as text. There are at most [`LONGEST`].
    pub(super) fn encode(self, bytes: &[u8]) -> Zeroizing<String> {
        assert!(bytes.len() <= LONGEST, "callers keep to the longest content");
        let mut content = Zeroizing::new(Vec::with_capacity(bytes.len() + CHECKSUM));
        content.extend_from_slice(bytes);
        content.extend_from_slice(&self.checksum(bytes));
        let symbols = Zeroizing::new(base32::encode(&content));
        let [high, low] = [bytes.len() >> 5, bytes.len()].map(base32::symbol);
        Zeroizing::new(format!("{}{VERSION}-{high}{low}{}", self.prefix, symbols.as_str()))
    }

    /// Returns the bytes of a text. Blanks, line ends, hyphens and quotes from copying do not matter.
    ///
    /// # Errors
    /// [`TextError`].
    pub(super) fn decode(self, text: &str) -> Result<Zeroizing<Vec<u8>>, TextError> {
        let mut symbols = Zeroizing::new(String::with_capacity(text.len()));
        symbols.extend(text.chars().filter(|c| !is_between(*c)).map(|c| c.to_ascii_lowercase()));
        let symbols = self.after_prefix(&symbols, text)?;
        if symbols.chars().any(|c| base32::value(c).is_none()) {
            return Err(TextError::Mistyped(self));
        }
        let (count, symbols) = symbols.split_at_checked(COUNT).ok_or(TextError::CutShort(self, None))?;
        let count = count.chars().filter_map(base32::value).fold(0, |count, value| count << 5 | value);
        // A number of bytes that is mistyped is ignored.
        let needed = base32::symbols_for(self.bytes.unwrap_or(count as usize) + CHECKSUM);
        let content = Zeroizing::new(base32::decode(symbols).unwrap_or_default());
        match (content.split_last_chunk(), symbols.len()) {
            (Some((bytes, sum)), len) if *sum == self.checksum(bytes) => match len == needed {
                true => Ok(Zeroizing::new(bytes.to_vec())),
                // Everything is present except the number of bytes.
                false => Err(TextError::Mistyped(self)),
            },
            (_, len) if len < needed => Err(TextError::CutShort(self, Some(needed - len))),
            (_, len) if len > needed => Err(TextError::TooLong(self, len - needed)),
            _ => Err(TextError::Mistyped(self)),
        }
    }

    /// Returns the symbols after the prefix of this kind and its version.
    fn after_prefix<'a>(self, symbols: &'a str, text: &str) -> Result<&'a str, TextError> {
        // `symbols` has no hyphens, so that the end of the version is visible only in the original text.
        let head = text.trim_start_matches(is_around).split(is_hyphen).next().unwrap_or_default();
        let head: String = head.chars().filter(|c| !is_between(*c)).map(|c| c.to_ascii_lowercase()).collect();
        let version = head.strip_prefix(self.prefix).ok_or(TextError::OtherKind(self))?;
        match version.parse::<u32>() {
            Ok(VERSION) => Ok(&symbols[head.len()..]),
            Ok(newer) if newer > VERSION => Err(TextError::Newer(self)),
            Err(_) if version.is_empty() && head.len() == symbols.len() => {
                Err(TextError::CutShort(self, None))
            }
            _ => Err(TextError::OtherKind(self)),
        }
    }

    fn checksum(self, bytes: &[u8]) -> [u8; CHECKSUM] {
        let sum = Sha256::new().chain_update(self.prefix).chain_update(bytes).finalize();
        sum.first_chunk().copied().expect("SHA-256 has 32 bytes")
    }
}

/// Returns whether a character is a hyphen, or a character that word processors and messengers use instead of a hyphen.
fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Returns whether a character is a blank, a line end, or a character without width.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Returns whether a character is a quotation mark, a mark of code, or the mark of quoted lines in mails.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '>' | '<' | '*' | '\u{2018}'..='\u{201f}' | '«' | '»')
}

fn is_around(c: char) -> bool {
    is_blank(c) || is_quote(c)
}

fn is_between(c: char) -> bool {
    is_around(c) || is_hyphen(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: [u8; 40] = {
        let mut bytes = [0; 40];
        let mut i = 0;
        while i < bytes.len() {
            bytes[i] = (i * 37 % 251) as u8;
            i += 1;
        }
        bytes
    };

    fn read(text: &str) -> Result<Vec<u8>, TextError> {
        PAIRING.decode(text).map(|bytes| bytes.to_vec())
    }

    #[test]
    fn bytes_of_every_length_survive() {
        for len in 0..=BYTES.len() {
            let text = PAIRING.encode(&BYTES[..len]);
            assert!(text.starts_with("sc1-"));
            assert_eq!(read(&text).as_deref(), Ok(&BYTES[..len]), "{}", *text);
        }
        let longest = [7; LONGEST];
        assert_eq!(read(&PAIRING.encode(&longest)).as_deref(), Ok(&longest[..]));
    }

    #[test]
    fn copies_by_mail_messenger_and_hand_are_read() {
        let text = PAIRING.encode(&BYTES);
        let (head, tail) = text.split_at(30);
        for copy in [
            format!("  {}\r\n", *text),
            format!("{head}\n{tail}"),
            format!("> {head}\n> {tail}\n"),
            format!("\u{201c}{}\u{201d}", *text),
            format!("`{}`", *text),
            text.to_uppercase(),
            text.replacen("sc1-", "Sc1\u{2013}", 1),
            text.replacen('1', "l", 3).replacen("scl", "sc1", 1),
            text.chars().flat_map(|c| [c, '\u{200b}']).collect(),
        ] {
            assert_eq!(read(&copy).as_deref(), Ok(&BYTES[..]), "{copy:?}");
        }
    }

    #[test]
    fn a_text_cut_anywhere_says_so() {
        let text = PAIRING.encode(&BYTES);
        for len in 3..text.len() {
            let error = read(&text[..len]).unwrap_err();
            assert!(error.is_cut_short(), "{len}: {error}");
            if len >= "sc1-00".len() {
                assert_eq!(error, TextError::CutShort(PAIRING, Some(text.len() - len)));
            }
        }
        // A line in the middle of the text is missing.
        let error = read(&format!("{}{}", &text[..20], &text[40..])).unwrap_err();
        assert_eq!(error, TextError::CutShort(PAIRING, Some(20)));
        assert_eq!(read(&format!("{0}{0}", &text[4..])), Err(TextError::OtherKind(PAIRING)));
        assert!(matches!(read(&format!("{}{}", *text, &text[4..])), Err(TextError::TooLong(..))));
    }

    #[test]
    fn a_key_has_a_known_length_whatever_its_count_says() {
        let whole = PUBLIC.encode(&BYTES[..32]).len();
        let missing = |text: &str| TextError::CutShort(PUBLIC, Some(whole - text.len()));
        for text in ["sck1-abc", "sck1-00", "sck1-10vv"] {
            assert_eq!(PUBLIC.decode(text), Err(missing(text)), "{text}");
        }
        assert_eq!(PUBLIC.decode(&PUBLIC.encode(&BYTES[..31])), Err(TextError::Mistyped(PUBLIC)));
    }

    #[test]
    fn any_wrong_character_says_mistyped() {
        let text = PAIRING.encode(&BYTES);
        for at in 4..text.len() {
            for wrong in ['u', '0', 'z', 'ä', '7'] {
                let mut typed: Vec<char> = text.chars().collect();
                if std::mem::replace(&mut typed[at], wrong) == wrong {
                    continue;
                }
                let typed: String = typed.into_iter().collect();
                assert_eq!(read(&typed), Err(TextError::Mistyped(PAIRING)), "{at}: {typed}");
            }
        }
    }

    #[test]
    fn other_kinds_and_newer_versions_are_told_apart() {
        assert_eq!(read("sc2-xyz"), Err(TextError::Newer(PAIRING)));
        assert_eq!(read("SC17-"), Err(TextError::Newer(PAIRING)));
        for text in ["", "hello", "sck1-00", "sc-00", "sc0-00", "example.org:9899", "scanner"] {
            let error = read(text).unwrap_err();
            assert_eq!(error, TextError::OtherKind(PAIRING), "{text:?}");
            assert!(error.to_string().contains("sc1-"));
        }
        let key = PUBLIC.encode(&BYTES[..32]);
        assert_eq!(PUBLIC.decode(&key).unwrap().as_slice(), &BYTES[..32]);
        assert_eq!(SECRET.decode(&key), Err(TextError::OtherKind(SECRET)));
        // The checksum also distinguishes kinds.
        let forged = key.replacen("sck1", "scs1", 1);
        assert_eq!(SECRET.decode(&forged), Err(TextError::Mistyped(SECRET)));
    }
}
