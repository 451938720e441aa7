//! Tokens of an API: secrets in files that only their owner can read.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use zeroize::Zeroizing;

use super::route::Right;
use crate::error::{Error, why};
use crate::live::serve::ApiConfig;

/// Permitted lengths of a token, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=256;
/// Maximum number of tokens in a file.
const MOST: usize = 64;
/// Maximum size of a file of tokens, in bytes.
const LONGEST: u64 = 64 << 10;

/// Tokens for each right. Only the hashes of the tokens are kept.
#[derive(Debug)]
pub(super) struct Tokens {
    view: Vec<[u8; 32]>,
    control: Vec<[u8; 32]>,
    /// Right of a request that has no token.
    without: Right,
}

impl Tokens {
    /// Reads the files of a configuration.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with a line that contains the file and the remedy.
    pub(super) fn read(config: &ApiConfig) -> Result<Tokens, Error> {
        let of = |file: &Option<_>| file.as_deref().map_or(Ok(Vec::new()), read);
        let (view, control) = (of(&config.view_tokens)?, of(&config.control_tokens)?);
        // If the configuration has no tokens for viewing, every user of this machine may view.
        let local = config.listen.is_none_or(|address| address.ip().is_loopback());
        let without = if local && view.is_empty() { Right::View } else { Right::Anyone };
        Ok(Tokens { view, control, without })
    }

    /// Permits only this token. A request without this token may not view anything.
    pub(super) fn one(token: &str, controls: bool) -> Tokens {
        let (these, none) = (vec![Sha256::digest(token.as_bytes()).into()], Vec::new());
        let (view, control) = if controls { (none, these) } else { (these, none) };
        Tokens { view, control, without: Right::Anyone }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.view.is_empty() && self.control.is_empty()
    }

    /// Returns the right of a request with this header `Authorization`, or `None` if the token is unknown.
    pub(super) fn right(&self, header: Option<&[u8]>) -> Option<Right> {
        let Some(header) = header else { return Some(self.without) };
        let hash = hash_of(header)?;
        self.found(|known| known.as_slice().ct_eq(&hash))
    }

    /// Returns the right of the token whose hash `same` accepts.
    pub(super) fn found(&self, same: impl Fn(&[u8; 32]) -> Choice) -> Option<Right> {
        let has = |tokens: &[[u8; 32]]| {
            // The hash is compared with every token in constant time, so that the duration reveals nothing.
            bool::from(tokens.iter().fold(Choice::from(0), |any, known| any | same(known)))
        };
        match (has(&self.control), has(&self.view)) {
            (true, _) => Some(Right::Control),
            (false, true) => Some(Right::View),
            (false, false) => None,
        }
    }

    /// Returns whether there are tokens for control.
    pub(super) fn can_control(&self) -> bool {
        !self.control.is_empty()
    }
}

/// Returns the hash of the token in a header `Authorization`.
pub(super) fn hash_of(header: &[u8]) -> Option<[u8; 32]> {
    Some(Sha256::digest(&*token(header)?).into())
}

/// Returns the token of a header. The token is a bearer token or the password of `Basic`, which players take from a
/// URL.
fn token(header: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let at = header.iter().position(|byte| *byte == b' ')?;
    let (scheme, rest) = (&header[..at], header[at..].trim_ascii());
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(Zeroizing::new(rest.to_vec()));
    }
    let basic = scheme.eq_ignore_ascii_case(b"basic").then(|| decoded(rest)).flatten()?;
    let colon = basic.iter().position(|byte| *byte == b':')?;
    Some(Zeroizing::new(basic[colon + 1..].to_vec()))
}

/// Decodes base64 (RFC 4648 §4).
fn decoded(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let end = text.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    if !text.len().is_multiple_of(4) || text.len() - end > 2 {
        return None;
    }
    let (mut out, mut bits, mut count) = (Zeroizing::new(Vec::with_capacity(text.len())), 0_u32, 0);
    for byte in &text[..end] {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(six), count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    Some(out)
}

/// Reads a file that has one token on each line.
fn read(path: &Path) -> Result<Vec<[u8; 32]>, Error> {
    let name = path.display();
    let wrong = |why: String| Error::Usage(format!("{name}: {why}"));
    let cannot = |error: std::io::Error| Error::Usage(format!("cannot read {name}: {}", why(&error)));
    let mut file = std::fs::File::open(path).map_err(cannot)?;
    let seen = file.metadata().map_err(cannot)?;
    if !seen.is_file() {
        return Err(wrong("it is not a file".into()));
    }
    if seen.permissions().mode() & 0o077 != 0 {
        return Err(wrong(format!("other users can read these tokens: chmod 600 {name}")));
    }
    if seen.len() > LONGEST {
        return Err(wrong(format!("the file has {} bytes, but {LONGEST} is the maximum", seen.len())));
    }
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).map_err(cannot)?;
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let token = line.trim();
        if token.is_empty() || token.starts_with('#') {
            continue;
        }
        if !LENGTHS.contains(&token.len()) || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            let (least, most) = (LENGTHS.start(), LENGTHS.end());
            return Err(Error::Usage(format!(
                "{name}:{}: a token has {least} to {most} letters, digits and signs: openssl rand -hex 32",
                number + 1
            )));
        }
        tokens.push(Sha256::digest(token).into());
    }
    match tokens.len() {
        0 => Err(wrong("it has no token: write one on each line, as openssl rand -hex 32 does".into())),
        1..=MOST => Ok(tokens),
        many => Err(wrong(format!("the file has {many} tokens, but {MOST} is the maximum"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(token: &str) -> [u8; 32] {
        Sha256::digest(token).into()
    }

    #[test]
    fn a_token_has_the_right_of_its_file() {
        let mut tokens =
            Tokens { view: vec![hash("look")], control: vec![hash("turn")], without: Right::Anyone };
        let right = |tokens: &Tokens, header: &str| tokens.right(Some(header.as_bytes()));
        assert_eq!(right(&tokens, "Bearer look"), Some(Right::View));
        assert_eq!(right(&tokens, "bearer  turn"), Some(Right::Control));
        // "any:turn" is a user name and a password as in RFC 7617 section 2.
        assert_eq!(right(&tokens, "Basic YW55OnR1cm4="), Some(Right::Control));
        for wrong in
            ["Bearer", "Bearer ", "Bearer loo", "Digest turn", "Basic turn", "Basic YW55", "turn", ""]
        {
            assert_eq!(right(&tokens, wrong), None, "{wrong}");
        }
        assert_eq!(tokens.right(None), Some(Right::Anyone));
        tokens.without = Right::View;
        assert_eq!(tokens.right(None), Some(Right::View));
        assert_eq!(right(&tokens, "Bearer x"), None, "a wrong token is no better than none");
    }

    /// These are the test vectors of RFC 4648 section 10.
    #[test]
    fn base64_has_the_vectors_of_its_rfc() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(
                decoded(text.as_bytes()).as_deref().map(Vec::as_slice),
                Some(bytes.as_bytes()),
                "{text}"
            );
        }
        for text in ["Zg=", "Z===", "Zm9*", "====", "Zm9vY"] {
            assert!(decoded(text.as_bytes()).is_none(), "{text}");
        }
    }
}
