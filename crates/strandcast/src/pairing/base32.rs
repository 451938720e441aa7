//! Bytes as text that people copy, type and scan: Crockford's base 32.
//!
//! The encoding is base 32 and not base64url, for three reasons. A messenger may change the case of the first letter,
//! and may interpret `_` as markup. A QR code encodes capitals and digits in less space than other text. No two symbols
//! look alike: I and L are read as 1, O is read as 0, and there is no U.

/// Symbols in the order of their values.
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Returns the bytes as text in lower case. Zero bits fill up the last symbol.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(symbols_for(bytes.len()));
    let (mut bits, mut held) = (0u32, 0);
    for &byte in bytes {
        (bits, held) = (bits << 8 | u32::from(byte), held + 8);
        while held >= 5 {
            held -= 5;
            text.push(symbol((bits >> held) as usize));
        }
    }
    if held > 0 {
        text.push(symbol((bits << (5 - held)) as usize));
    }
    text
}

/// Returns the symbol of the last five bits.
pub(super) fn symbol(bits: usize) -> char {
    char::from(SYMBOLS[bits & 31])
}

/// Number of symbols for a number of bytes.
pub(super) fn symbols_for(bytes: usize) -> usize {
    (bytes * 8).div_ceil(5)
}

/// Returns the bytes of a text in upper or lower case. Returns `None` if a character is not a symbol, or if no sequence
/// of bytes has this text.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    // A vector that grows would leave copies of secrets in memory.
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut bits, mut held) = (0u32, 0);
    for c in text.chars() {
        (bits, held) = (bits << 5 | value(c)?, held + 5);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    (bits == 0 && held < 5).then_some(bytes)
}

/// Returns the value of a symbol in upper or lower case, or of a character that looks like a symbol.
pub(super) fn value(c: char) -> Option<u32> {
    let c = match c.to_ascii_lowercase() {
        'i' | 'l' => '1',
        'o' => '0',
        other => other,
    };
    SYMBOLS.iter().position(|&s| char::from(s) == c).map(|at| at as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_stand_for_five_bits_each() {
        // 0x00 0x44 0x32 0x14 0xc7 is 00000 00001 00010 00011 00100 00101 00110 00111.
        assert_eq!(encode(&[0x00, 0x44, 0x32, 0x14, 0xc7]), "01234567");
        assert_eq!(encode(&[0xff]), "zw", "11111 111|00");
        assert_eq!(encode(&[]), "");
    }

    #[test]
    fn every_length_survives() {
        for len in 0..50u8 {
            let bytes: Vec<u8> = (0..len).map(|i| i.wrapping_mul(151)).collect();
            let text = encode(&bytes);
            assert_eq!(text.len(), symbols_for(bytes.len()));
            assert_eq!(decode(&text).as_deref(), Some(&bytes[..]), "{text}");
            assert_eq!(decode(&text.to_uppercase()).as_deref(), Some(&bytes[..]), "{text}");
        }
    }

    #[test]
    fn look_alikes_are_read_and_others_are_not() {
        assert_eq!(decode("oOiIlL00"), decode("00111100"));
        assert!(decode("0u").is_none() && decode("0ü").is_none());
        assert!(decode("zz").is_none(), "no byte ends in these bits");
        assert!(decode("000").is_none(), "a symbol too many");
    }
}
