//! Type-length-value frame of parameters (RFC 9260 §3.2.1), error causes (§3.3.10) and report items. The frame has a
//! 16-bit type, a 16-bit length, a value, and padding to 4 bytes. The length counts header and value, without padding.

use super::cursor::Cursor;
use super::{ParseError, padded};
use crate::work;

/// Number of bytes of the type and length fields.
pub(crate) const HEADER_LEN: usize = 4;

/// Returns the type and the value of the next frame, and skips the frame's padding.
pub(crate) fn next<'a>(body: &mut Cursor<'a>) -> Result<(u16, Cursor<'a>), ParseError> {
    let typ = body.u16()?;
    let len = usize::from(body.u16()?);
    work::count(HEADER_LEN);
    let value = body.take(len.checked_sub(HEADER_LEN).ok_or(ParseError::Truncated)?)?;
    body.skip_padding(padded(len) - len);
    Ok((typ, value))
}

/// Parses all frames up to the end, each with the function `parse`.
pub(crate) fn all<T>(
    body: &mut Cursor<'_>,
    mut parse: impl FnMut(u16, Cursor<'_>) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    let mut items = Vec::new();
    while !body.is_empty() {
        let (typ, value) = next(body)?;
        items.push(parse(typ, value)?);
    }
    Ok(items)
}

/// Appends one frame without its padding. The function `value` writes the frame's value. A frame of more than 65535
/// bytes gets a wrong length. The chunk that contains it is then also too long and is never sent.
pub(crate) fn write(out: &mut Vec<u8>, typ: u16, value: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&typ.to_be_bytes());
    out.extend_from_slice(&[0, 0]);
    value(out);
    let len = (out.len() - start) as u16;
    out[start + 2..start + 4].copy_from_slice(&len.to_be_bytes());
}

/// Appends consecutive frames with padding between them. The last frame is not padded, because a chunk's length does
/// not count final padding.
pub(crate) fn write_all<T>(out: &mut Vec<u8>, items: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
    for (index, item) in items.iter().enumerate() {
        let start = out.len();
        write(item, out);
        if index + 1 < items.len() {
            let len = out.len() - start;
            out.resize(start + padded(len), 0);
        }
    }
}

/// Returns the bytes that [`write_all`] appends for frames of these lengths.
pub(crate) fn len_all(lens: impl Iterator<Item = usize>) -> usize {
    lens.fold(0, |total, len| padded(total) + len)
}
