//! ABORT: [RFC 9260 §3.3.7](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.7).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 6   |   Reserved  |T|          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                   zero or more Error Causes                   \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Cause, ParseError, cause};

/// Chunk Type of ABORT.
pub const TYPE: u8 = 6;

const T: u8 = 1;

/// Ends an association immediately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abort {
    /// T bit. If true, the sender has no such association and reflects the received verification tag (RFC 9260 §8.5.1).
    pub reflected_tag: bool,
    /// Causes of the abort, in order.
    pub causes: Vec<Cause>,
}

impl ChunkDecode for Abort {
    const TYPE: u8 = TYPE;

    fn parse(flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { reflected_tag: flags & T != 0, causes: cause::parse_all(&mut body)? })
    }
}

impl ChunkEncode for Abort {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn flags(&self) -> u8 {
        if self.reflected_tag { T } else { 0 }
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
    use bytes::Bytes;

    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    #[test]
    fn follows_the_layout() {
        check(&[6, 1, 0, 4], Abort { reflected_tag: true, causes: vec![] });
        let bytes = [6, 0, 0, 0x0b, 0, 12, 0, 7, b'b', b'y', b'e', 0];
        let causes = vec![Cause::UserInitiatedAbort(Bytes::from_static(b"bye"))];
        check(&bytes, Abort { reflected_tag: false, causes });
    }

    #[test]
    fn causes_must_fit() {
        assert_eq!(parse(&[6, 0, 0, 8, 0, 12, 0, 5]), Err(ParseError::Truncated));
        assert_eq!(parse(&[6, 0, 0, 6, 0, 12, 0, 0]), Err(ParseError::Truncated));
    }
}
