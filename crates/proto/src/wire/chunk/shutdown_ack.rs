//! SHUTDOWN ACK: [RFC 9260 §3.3.9](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.9).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 8   |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::{ChunkDecode, ChunkEncode};
use crate::wire::ParseError;
use crate::wire::cursor::Cursor;

/// Chunk Type of SHUTDOWN ACK.
pub const TYPE: u8 = 8;

/// Answers SHUTDOWN once all data are acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownAck;

impl ChunkDecode for ShutdownAck {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, body: Cursor<'_>) -> Result<Self, ParseError> {
        body.finish().map(|()| Self)
    }
}

impl ChunkEncode for ShutdownAck {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        0
    }

    fn write_body(&self, _out: &mut Vec<u8>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    #[test]
    fn follows_the_layout() {
        check(&[8, 0, 0, 4], ShutdownAck);
        assert_eq!(parse(&[8, 0, 0, 8, 0, 0, 0, 0]), Err(ParseError::Excess));
    }
}
