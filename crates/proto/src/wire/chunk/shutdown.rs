//! SHUTDOWN: [RFC 9260 §3.3.8](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.8).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 7   |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Cumulative TSN Ack                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, Tsn};

/// Chunk Type of SHUTDOWN.
pub const TYPE: u8 = 7;

/// Begins a graceful close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shutdown {
    /// Cumulative TSN: the last TSN before the first gap, as in SACK.
    pub cumulative_tsn_ack: Tsn,
}

impl ChunkDecode for Shutdown {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        let cumulative_tsn_ack = Tsn(body.u32()?);
        body.finish()?;
        Ok(Self { cumulative_tsn_ack })
    }
}

impl ChunkEncode for Shutdown {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        4
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.cumulative_tsn_ack.0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    #[test]
    fn follows_the_layout() {
        check(&[7, 0, 0, 8, 1, 2, 3, 4], Shutdown { cumulative_tsn_ack: Tsn(0x0102_0304) });
        assert_eq!(parse(&[7, 0, 0, 6, 1, 2, 0, 0]), Err(ParseError::Truncated));
    }
}
