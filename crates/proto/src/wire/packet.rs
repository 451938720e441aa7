//! A packet: the common header (RFC 9260 §3.1) and the chunks after it.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |      Source Port Number       |    Destination Port Number    |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Verification Tag                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Checksum (CRC32c)                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::chunk::{self, Chunk, auth};
use super::cursor::Cursor;
use super::{ParseError, VerificationTag, padded};
use crate::work;

/// Number of bytes of the common header.
pub const HEADER_LEN: usize = 12;

/// The common header, without its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// SCTP port of the sender.
    pub source_port: u16,
    /// SCTP port of the receiver.
    pub destination_port: u16,
    /// Tag that the receiver chose for this association. The tag is 0 in a packet with INIT.
    pub verification_tag: VerificationTag,
}

/// A packet that has a correct checksum or arrived through a seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// Common header of the packet.
    pub header: Header,
    bytes: Bytes,
}

/// Location of a chunk in its packet, from its type field to its last byte before padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Number of bytes from the start of the packet to the chunk.
    pub offset: usize,
    /// Bytes of the chunk with its header, without padding.
    pub len: usize,
}

impl Packet {
    /// Reads the common header, and verifies length and checksum. Chunks are not read yet.
    ///
    /// # Errors
    /// Returns [`ParseError::PacketLength`] if the packet has fewer than 12 bytes, or not a multiple of 4 bytes.
    /// Returns [`ParseError::Checksum`] if the checksum is wrong.
    pub fn parse(bytes: Bytes) -> Result<Self, ParseError> {
        let packet = Packet::authentic(bytes)?;
        let found = u32::from_le_bytes(Cursor::new(&packet.bytes, 8, HEADER_LEN).array()?);
        let expected = checksum(&packet.bytes);
        work::count(packet.bytes.len());
        if found != expected {
            return Err(ParseError::Checksum { expected, found });
        }
        Ok(packet)
    }

    /// Reads the common header of a packet that a seal authenticated. A packet that a seal authenticated has no valid
    /// checksum (RFC 9653).
    ///
    /// # Errors
    /// Returns [`ParseError::PacketLength`] as [`Packet::parse`] does.
    pub fn authentic(bytes: Bytes) -> Result<Self, ParseError> {
        if bytes.len() < HEADER_LEN || !bytes.len().is_multiple_of(4) {
            return Err(ParseError::PacketLength(bytes.len()));
        }
        let mut fields = Cursor::new(&bytes, 0, HEADER_LEN);
        let header = Header {
            source_port: fields.u16()?,
            destination_port: fields.u16()?,
            verification_tag: VerificationTag(fields.u32()?),
        };
        Ok(Self { header, bytes })
    }

    /// Returns the chunks of the packet in order. The iterator ends after the first error. The caller then drops the
    /// rest of the packet.
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks { bytes: &self.bytes, offset: HEADER_LEN }
    }

    /// Returns the bytes of the whole packet.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the unchanged bytes of a chunk, with header and without padding. The bytes are a slice of the datagram.
    ///
    /// # Panics
    /// Panics if `span` belongs to another packet.
    pub fn chunk_bytes(&self, span: Span) -> Bytes {
        self.bytes.slice(span.offset..span.offset + span.len)
    }

    /// Passes the bytes that the AUTH chunk at `auth` signs to the function `update`, piece by piece. The signed bytes
    /// are the AUTH chunk with its HMAC set to zero, and everything after it (RFC 4895 §6.2).
    ///
    /// # Panics
    /// Panics if `auth` belongs to another packet.
    pub fn authenticated(&self, auth: Span, mut update: impl FnMut(&[u8])) {
        let end = auth.offset + auth.len;
        work::count(self.bytes.len() - auth.offset);
        let hmac = (auth.offset + auth::HMAC_OFFSET).min(end);
        update(&self.bytes[auth.offset..hmac]);
        let mut zeros = end - hmac;
        while zeros > 0 {
            let piece = zeros.min(32);
            update(&[0; 32][..piece]);
            zeros -= piece;
        }
        update(&self.bytes[end..]);
    }
}

/// Iterator over the chunks of a packet, with their locations.
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    bytes: &'a Bytes,
    offset: usize,
}

impl Chunks<'_> {
    fn parse_next(&mut self) -> Result<(Span, Chunk), ParseError> {
        let offset = self.offset;
        let mut head = Cursor::new(self.bytes, offset, self.bytes.len());
        let (chunk_type, flags, length) = (head.u8()?, head.u8()?, head.u16()?);
        let len = usize::from(length);
        if len < chunk::HEADER_LEN || offset + len > self.bytes.len() {
            return Err(ParseError::ChunkLength { chunk_type, length });
        }
        let body = Cursor::new(self.bytes, offset + chunk::HEADER_LEN, offset + len);
        work::count(len);
        let chunk = Chunk::parse(chunk_type, flags, body)?;
        self.offset = offset + padded(len);
        Ok((Span { offset, len }, chunk))
    }
}

/// Reads one chunk that was stored separately from its packet.
///
/// # Errors
/// The errors are those of [`Packet::chunks`].
pub fn parse_chunk(bytes: &Bytes) -> Result<Chunk, ParseError> {
    Chunks { bytes, offset: 0 }.parse_next().map(|(_, chunk)| chunk)
}

impl Iterator for Chunks<'_> {
    type Item = Result<(Span, Chunk), ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset >= self.bytes.len() {
            return None;
        }
        let item = self.parse_next();
        if item.is_err() {
            self.offset = self.bytes.len();
        }
        Some(item)
    }
}

impl core::iter::FusedIterator for Chunks<'_> {}

/// Returns the CRC32c of a packet. For this CRC32c, the checksum field of the packet counts as zero (RFC 9260 §6.8 and
/// appendix A). On the wire, the least significant byte of the checksum comes first.
pub fn checksum(packet: &[u8]) -> u32 {
    let mut header = [0; HEADER_LEN];
    header[..8].copy_from_slice(&packet[..8]);
    crc32c::crc32c_append(crc32c::crc32c(&header), &packet[HEADER_LEN..])
}
