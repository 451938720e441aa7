//! Reader of a datagram's fields in order. The reader copies nothing, and does not change the datagram's reference
//! count.

use bytes::Bytes;

use super::ParseError;

/// A part of a datagram that is read from its beginning.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    datagram: &'a Bytes,
    position: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// Creates the part `start..end`, which must lie inside the datagram.
    pub(crate) fn new(datagram: &'a Bytes, start: usize, end: usize) -> Self {
        debug_assert!(start <= end && end <= datagram.len());
        Self { datagram, position: start, end }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.end - self.position
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.position == self.end
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], ParseError> {
        let window = &self.datagram[self.position..self.end];
        let (field, _) = window.split_first_chunk::<N>().ok_or(ParseError::Truncated)?;
        self.position += N;
        Ok(*field)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, ParseError> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, ParseError> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ParseError> {
        self.array().map(u32::from_be_bytes)
    }

    /// Returns the next `len` bytes as a separate part.
    pub(crate) fn take(&mut self, len: usize) -> Result<Cursor<'a>, ParseError> {
        if len > self.remaining() {
            return Err(ParseError::Truncated);
        }
        let start = self.position;
        self.position += len;
        Ok(Cursor::new(self.datagram, start, self.position))
    }

    /// Skips `len` bytes of padding, or fewer if fewer remain. Padding at the end of a chunk may be missing (RFC 9260
    /// §3.2).
    pub(crate) fn skip_padding(&mut self, len: usize) {
        self.position += len.min(self.remaining());
    }

    /// Returns all remaining bytes, as a slice of the datagram.
    pub(crate) fn rest(&mut self) -> Bytes {
        let bytes = self.datagram.slice(self.position..self.end);
        self.position = self.end;
        bytes
    }

    /// Returns an error if bytes remain.
    pub(crate) fn finish(&self) -> Result<(), ParseError> {
        if self.is_empty() { Ok(()) } else { Err(ParseError::Excess) }
    }
}
