//! PAD: [RFC 4820 §3](https://www.rfc-editor.org/rfc/rfc4820.html#section-3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0x84  |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                          Padding Data                         \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode};
use crate::wire::ParseError;
use crate::wire::cursor::Cursor;

/// Chunk Type of PAD. A receiver that does not support PAD skips it, because of the highest bits of this type.
pub const TYPE: u8 = 0x84;

/// Fills a packet to a wanted size. Receivers ignore its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pad {
    /// Padding bytes. The padding bytes are zeros, unless a peer sends other bytes.
    pub data: Bytes,
}

impl ChunkDecode for Pad {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { data: body.rest() })
    }
}

impl ChunkEncode for Pad {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        self.data.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::UnknownAction;
    use crate::wire::chunk::testing::check;

    #[test]
    fn follows_the_layout() {
        check(&[0x84, 0, 0, 4], Pad { data: Bytes::new() });
        check(&[0x84, 0, 0, 7, 0, 0, 0, 0], Pad { data: Bytes::from_static(&[0; 3]) });
    }

    /// RFC 4820 §3: an endpoint that does not support the chunk skips it and reports nothing.
    #[test]
    fn those_who_do_not_know_it_pass_over_it() {
        assert_eq!(UnknownAction::from_high_bits(TYPE), UnknownAction::Skip);
    }
}
