//! SHUTDOWN COMPLETE: [RFC 9260 §3.3.13](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.13).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 14   |   Reserved  |T|          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::{ChunkDecode, ChunkEncode};
use crate::wire::ParseError;
use crate::wire::cursor::Cursor;

/// Chunk Type of SHUTDOWN COMPLETE.
pub const TYPE: u8 = 14;

const T: u8 = 1;

/// Ends a graceful close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownComplete {
    /// T bit. If true, the sender has no such association and reflects the received verification tag (RFC 9260 §8.5.1).
    pub reflected_tag: bool,
}

impl ChunkDecode for ShutdownComplete {
    const TYPE: u8 = TYPE;

    fn parse(flags: u8, body: Cursor<'_>) -> Result<Self, ParseError> {
        body.finish()?;
        Ok(Self { reflected_tag: flags & T != 0 })
    }
}

impl ChunkEncode for ShutdownComplete {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn flags(&self) -> u8 {
        if self.reflected_tag { T } else { 0 }
    }

    fn body_len(&self) -> usize {
        0
    }

    fn write_body(&self, _out: &mut Vec<u8>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::check;

    #[test]
    fn follows_the_layout() {
        check(&[14, 0, 0, 4], ShutdownComplete { reflected_tag: false });
        check(&[14, 1, 0, 4], ShutdownComplete { reflected_tag: true });
    }
}
