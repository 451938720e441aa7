//! COOKIE ECHO: [RFC 9260 §3.3.11](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.11).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 10   |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                             Cookie                            \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode};
use crate::wire::ParseError;
use crate::wire::cursor::Cursor;

/// Chunk Type of COOKIE ECHO.
pub const TYPE: u8 = 10;

/// Carries the State Cookie of an INIT ACK back, unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CookieEcho {
    /// The cookie. This side does not interpret it.
    pub cookie: Bytes,
}

impl ChunkDecode for CookieEcho {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { cookie: body.rest() })
    }
}

impl ChunkEncode for CookieEcho {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        self.cookie.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::check;

    #[test]
    fn follows_the_layout() {
        let bytes = [10, 0, 0, 9, 1, 2, 3, 4, 5, 0, 0, 0];
        check(&bytes, CookieEcho { cookie: Bytes::from_static(&[1, 2, 3, 4, 5]) });
    }
}
