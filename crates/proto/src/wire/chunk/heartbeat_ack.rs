//! HEARTBEAT ACK: [RFC 9260 §3.3.6](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.6).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Type = 5   |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \               Heartbeat Information TLV (type 1)              \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, param};

/// Chunk Type of HEARTBEAT ACK.
pub const TYPE: u8 = 5;

/// Answers HEARTBEAT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatAck {
    /// Information from the HEARTBEAT, unchanged.
    pub info: Bytes,
}

impl ChunkDecode for HeartbeatAck {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, body: Cursor<'_>) -> Result<Self, ParseError> {
        param::parse_heartbeat_info(body).map(|info| Self { info })
    }
}

impl ChunkEncode for HeartbeatAck {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        param::heartbeat_info_len(&self.info)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        param::write_heartbeat_info(out, &self.info);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    #[test]
    fn follows_the_layout() {
        let bytes = [5, 0, 0, 0x0d, 0, 1, 0, 9, 1, 2, 3, 4, 5, 0, 0, 0];
        check(&bytes, HeartbeatAck { info: Bytes::from_static(&[1, 2, 3, 4, 5]) });
    }

    #[test]
    fn information_is_mandatory() {
        assert_eq!(parse(&[5, 0, 0, 4]), Err(ParseError::Truncated));
        assert_eq!(parse(&[5, 0, 0, 8, 0, 2, 0, 4]), Err(ParseError::Forbidden));
    }
}
