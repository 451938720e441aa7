//! Keys and tokens as text.

use sha2::{Digest as _, Sha256};
use strandcast_seal::{PublicKey, SecretKey, Token, TokenId};
use zeroize::Zeroizing;

use super::base32;
use super::text::{Kind, PUBLIC, SECRET, TOKEN, TextError};

/// Length of a fingerprint in bytes. An attacker needs 2^80 attempts to find another key with the same fingerprint.
const FINGERPRINT: usize = 10;

/// Returns a public key as text.
pub fn key_text(key: &PublicKey) -> String {
    PUBLIC.encode(&key.0).to_string()
}

/// Checks that a text is a public key.
///
/// # Errors
/// One line with the fault.
#[cfg(feature = "live")]
pub(crate) fn is_key(text: &str) -> Result<(), String> {
    parse_key(text).map(drop).map_err(|error| error.to_string())
}

/// Parses a public key.
///
/// # Errors
/// [`TextError`].
pub(super) fn parse_key(text: &str) -> Result<PublicKey, TextError> {
    Ok(PublicKey(*bytes_of(PUBLIC, text)?))
}

/// Returns a secret key as text.
pub(super) fn secret_text(key: &SecretKey) -> Zeroizing<String> {
    SECRET.encode(&*key.to_bytes())
}

/// Parses a secret key.
///
/// # Errors
/// [`TextError`].
pub(super) fn parse_secret(text: &str) -> Result<SecretKey, TextError> {
    Ok(SecretKey::from_bytes(*bytes_of(SECRET, text)?))
}

/// Returns a token as text.
pub(super) fn token_text(token: &Token) -> Zeroizing<String> {
    TOKEN.encode(&*token.to_bytes())
}

/// Parses a token.
///
/// # Errors
/// [`TextError`].
pub(super) fn parse_token(text: &str) -> Result<Token, TextError> {
    Ok(Token::from_bytes(*bytes_of(TOKEN, text)?))
}

fn bytes_of(kind: Kind, text: &str) -> Result<Zeroizing<[u8; 32]>, TextError> {
    let bytes = kind.decode(text)?;
    let array = bytes.as_slice().try_into().map(Zeroizing::new);
    array.map_err(|_| TextError::Mistyped(kind))
}

/// Returns the short form of a key, for reading aloud and for messages. The short form has 16 symbols in groups of
/// four.
pub fn fingerprint(key: &PublicKey) -> String {
    let symbols = base32::encode(&digest(key)).to_uppercase();
    let groups: Vec<&str> = (0..symbols.len()).step_by(4).map(|at| &symbols[at..at + 4]).collect();
    groups.join("-")
}

/// Returns whether a text is the short form of this key. Case and hyphens do not matter.
pub(super) fn is_fingerprint(text: &str, key: &PublicKey) -> bool {
    let symbols: String = text.chars().filter(|c| *c != '-').collect();
    base32::decode(&symbols).is_some_and(|bytes| bytes == digest(key))
}

fn digest(key: &PublicKey) -> [u8; FINGERPRINT] {
    let digest = Sha256::new().chain_update("strandcast fingerprint").chain_update(key.0).finalize();
    digest.first_chunk().copied().expect("SHA-256 has 32 bytes")
}

/// Id of a token in hexadecimal digits, as messages and files show it.
pub fn token_id_text(id: TokenId) -> String {
    id.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_tokens_survive_as_text() {
        let bytes: [u8; 32] = std::array::from_fn(|i| i as u8 * 7);
        let key = PublicKey(bytes);
        assert_eq!(parse_key(&key_text(&key)), Ok(key));
        assert_eq!(*parse_secret(&secret_text(&SecretKey::from_bytes(bytes))).unwrap().to_bytes(), bytes);
        assert_eq!(*parse_token(&token_text(&Token::from_bytes(bytes))).unwrap().to_bytes(), bytes);
        // The text is complete, but it does not have the length of this kind.
        assert_eq!(parse_key(&PUBLIC.encode(&bytes[1..])), Err(TextError::Mistyped(PUBLIC)));
        assert_eq!(parse_token(&key_text(&key)).unwrap_err(), TextError::OtherKind(TOKEN));
    }

    #[test]
    fn fingerprints_are_sixteen_symbols_that_can_be_read_aloud() {
        let (key, other) = (PublicKey([1; 32]), PublicKey([2; 32]));
        let text = fingerprint(&key);
        assert_eq!(text.len(), 19);
        assert!(text.split('-').all(|group| group.len() == 4), "{text}");
        assert!(is_fingerprint(&text, &key) && !is_fingerprint(&text, &other));
        assert!(is_fingerprint(&text.to_lowercase().replace('-', ""), &key));
        assert!(!is_fingerprint(&text[..18], &key) && !is_fingerprint("", &key));
    }
}
