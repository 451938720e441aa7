//! INIT ACK: [RFC 9260 §3.3.3](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 2    |  Chunk Flags  |         Chunk Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                         Initiate Tag                          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Advertised Receiver Window Credit (a_rwnd)           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Number of Outbound Streams   |   Number of Inbound Streams   |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                          Initial TSN                          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \              Optional/Variable-Length Parameters              \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode, Init};
use crate::wire::cursor::Cursor;
use crate::wire::{Param, ParseError};

/// Chunk Type of INIT ACK.
pub const TYPE: u8 = 2;

/// Answers INIT. An INIT ACK has the fields of an INIT. One of its parameters must be a State Cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitAck(pub Init);

impl InitAck {
    /// Returns the first State Cookie parameter.
    pub fn state_cookie(&self) -> Option<&Bytes> {
        self.0.params.iter().find_map(|param| match param {
            Param::StateCookie(cookie) => Some(cookie),
            _ => None,
        })
    }
}

impl ChunkDecode for InitAck {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, body: Cursor<'_>) -> Result<Self, ParseError> {
        Init::parse_body(body).map(Self)
    }
}

impl ChunkEncode for InitAck {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        self.0.body_len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        self.0.write_body(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::check;
    use crate::wire::{Tsn, VerificationTag};

    #[test]
    fn follows_the_layout() {
        let bytes = [
            0x02, 0x00, 0x00, 0x1a, 0x00, 0x00, 0x00, 0x05, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x02,
            0xff, 0xff, 0xff, 0xff, 0x00, 0x07, 0x00, 0x06, 0xc0, 0x0c, 0x00, 0x00,
        ];
        let chunk = InitAck(Init {
            initiate_tag: VerificationTag(5),
            a_rwnd: 65_536,
            outbound_streams: 1,
            inbound_streams: 2,
            initial_tsn: Tsn(u32::MAX),
            params: vec![Param::StateCookie(Bytes::from_static(&[0xc0, 0x0c]))],
        });
        assert_eq!(chunk.state_cookie().map(|cookie| &cookie[..]), Some(&[0xc0, 0x0c][..]));
        check(&bytes, chunk);
    }
}
