//! AUTH: [RFC 4895 §4.1](https://www.rfc-editor.org/rfc/rfc4895.html#section-4.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 15   |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |     Shared Key Identifier     |        HMAC Identifier        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                              HMAC                             \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode, HEADER_LEN};
use crate::wire::ParseError;
use crate::wire::cursor::Cursor;

/// Chunk Type of AUTH.
pub const TYPE: u8 = 15;

/// Number of bytes from the beginning of the chunk to its HMAC.
pub(in crate::wire) const HMAC_OFFSET: usize = HEADER_LEN + 4;

/// Authenticates every chunk that follows it in its packet.
/// [`Packet::authenticated`](crate::wire::Packet::authenticated) returns the bytes that the HMAC covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    /// Identifier of the endpoint pair shared key that is used.
    pub key_id: u16,
    /// Number of the HMAC algorithm; see [`HmacId`].
    pub hmac_id: u16,
    /// Value of the HMAC. In an invalid chunk, its length may differ from that of the algorithm.
    pub hmac: Bytes,
}

/// The HMAC algorithms of RFC 4895 §3.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HmacId {
    /// HMAC with SHA-1. Every implementation supports it.
    Sha1,
    /// HMAC with SHA-256.
    Sha256,
}

impl HmacId {
    /// Returns the algorithm with this number, if it is known.
    pub const fn from_number(number: u16) -> Option<Self> {
        match number {
            1 => Some(Self::Sha1),
            3 => Some(Self::Sha256),
            _ => None,
        }
    }

    /// Returns the HMAC Identifier on the wire.
    pub const fn number(self) -> u16 {
        match self {
            Self::Sha1 => 1,
            Self::Sha256 => 3,
        }
    }

    /// Returns the length of an HMAC in bytes.
    #[expect(clippy::len_without_is_empty, reason = "an HMAC is never empty")]
    pub const fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    /// Returns the bytes that an AUTH chunk with this algorithm occupies in a packet.
    pub const fn encoded_len(self) -> usize {
        HMAC_OFFSET + self.len()
    }
}

impl ChunkDecode for Auth {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { key_id: body.u16()?, hmac_id: body.u16()?, hmac: body.rest() })
    }
}

impl ChunkEncode for Auth {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        4 + self.hmac.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.key_id.to_be_bytes());
        out.extend_from_slice(&self.hmac_id.to_be_bytes());
        out.extend_from_slice(&self.hmac);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    #[test]
    fn follows_the_layout() {
        let mut bytes = vec![0x0f, 0, 0, 0x1c, 0, 1, 0, 1];
        bytes.extend(1..=20);
        let hmac = Bytes::copy_from_slice(&bytes[8..]);
        check(&bytes, Auth { key_id: 1, hmac_id: 1, hmac });
        assert_eq!(HmacId::Sha1.encoded_len(), bytes.len());
        assert_eq!(parse(&[0x0f, 0, 0, 6, 0, 1, 0, 0]), Err(ParseError::Truncated));
    }

    #[test]
    fn numbers_are_the_registered_ones() {
        for id in [HmacId::Sha1, HmacId::Sha256] {
            assert_eq!(HmacId::from_number(id.number()), Some(id));
        }
        assert_eq!(HmacId::from_number(0), None);
        assert_eq!(HmacId::from_number(2), None);
    }
}
