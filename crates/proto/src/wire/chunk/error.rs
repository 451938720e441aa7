//! ERROR: [RFC 9260 §3.3.10](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.10).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 9   |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                    one or more Error Causes                   \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Cause, ParseError, cause};

/// Chunk Type of ERROR.
pub const TYPE: u8 = 9;

/// Reports errors that do not end the association by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorChunk {
    /// Error causes, in order.
    pub causes: Vec<Cause>,
}

impl ChunkDecode for ErrorChunk {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { causes: cause::parse_all(&mut body)? })
    }
}

impl ChunkEncode for ErrorChunk {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        cause::len_all(&self.causes)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        cause::write_all(out, &self.causes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::StreamId;
    use crate::wire::chunk::testing::check;

    #[test]
    fn follows_the_layout() {
        let bytes = [9, 0, 0, 0x14, 0, 3, 0, 8, 0, 0, 0x03, 0xe8, 0, 1, 0, 8, 0, 7, 0, 0];
        let causes =
            vec![Cause::StaleCookie { staleness_us: 1000 }, Cause::InvalidStreamIdentifier(StreamId(7))];
        check(&bytes, ErrorChunk { causes });
    }
}
