//! Contents of a pairing string (ADR 18): the data of an attacker who received one.

use strandcast_seal::{Peer, PublicKey, Token};

/// Crockford's symbols.
const SYMBOLS: &str = "0123456789abcdefghjkmnpqrstvwxyz";

/// The receiver's key and the token.
pub fn peer(text: &str) -> Peer {
    // Behind the prefix and the count of two symbols.
    let symbols = &text.strip_prefix("sc1-").expect("a pairing string")[2..];
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for symbol in symbols.chars() {
        let value = SYMBOLS.find(symbol).expect("a symbol");
        (bits, held) = (bits << 5 | value as u32, held + 5);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    // Behind the flags.
    let array = |at: usize| bytes[at..at + 32].try_into().unwrap();
    Peer { key: PublicKey(array(1)), token: Token::from_bytes(array(33)) }
}
