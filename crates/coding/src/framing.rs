//! Conversion of messages to source symbols. A source symbol consists of two bytes with the length of the message, the
//! message, and zeros up to the length of a symbol. With symbols of length 0, only coefficients are used.

/// Number of bytes before the message in a source symbol.
pub(crate) const LENGTH: usize = 2;

/// Returns the length of the longest message that fits into a symbol of `length` bytes. If `length` is 0, any message
/// fits.
pub(crate) fn longest(length: usize) -> usize {
    if length == 0 { usize::MAX } else { length - LENGTH }
}

/// Writes `message` as a source symbol. The written symbol omits the zeros at the end.
pub(crate) fn frame(message: &[u8], length: usize, out: &mut Vec<u8>) {
    out.clear();
    if length > 0 {
        out.extend_from_slice(&(message.len() as u16).to_be_bytes());
        out.extend_from_slice(message);
    }
}

/// Returns the message in a source symbol; `None` if the length field is invalid.
pub(crate) fn unframe(symbol: &[u8]) -> Option<&[u8]> {
    if symbol.is_empty() {
        return Some(symbol);
    }
    let (length, rest) = symbol.split_first_chunk()?;
    let (message, zeros) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    zeros.iter().all(|&byte| byte == 0).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framed_message_comes_back_and_nothing_else_does() {
        let mut symbol = Vec::new();
        frame(b"abc", 8, &mut symbol);
        assert_eq!(symbol, [0, 3, b'a', b'b', b'c']);
        symbol.resize(8, 0);
        assert_eq!(unframe(&symbol), Some(&b"abc"[..]));
        symbol[7] = 1;
        assert_eq!(unframe(&symbol), None, "bytes after the message");
        assert_eq!(unframe(&[0, 2, 1]), None, "longer than the symbol");
        assert_eq!(unframe(&[0]), None);
        assert_eq!(unframe(&[0, 0, 0]), Some(&b""[..]));
    }
}
