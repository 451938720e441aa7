//! INIT: [RFC 9260 §3.3.2](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 1    |  Chunk Flags  |         Chunk Length          |
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

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Param, ParseError, Tsn, VerificationTag, param};

/// Chunk Type of INIT.
pub const TYPE: u8 = 1;

/// Opens an association. The endpoint checks the values: a tag or a stream count of 0 is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Init {
    /// Tag that the receiver must put into every packet to the sender.
    pub initiate_tag: VerificationTag,
    /// Receive buffer of the sender in bytes.
    pub a_rwnd: u32,
    /// Number of outbound streams that the sender requests.
    pub outbound_streams: u16,
    /// Maximum number of streams that the sender of the INIT accepts from the receiver.
    pub inbound_streams: u16,
    /// First TSN that the sender will use.
    pub initial_tsn: Tsn,
    /// Parameters, in order.
    pub params: Vec<Param>,
}

impl Init {
    /// Parses the fields that INIT and INIT ACK have in common.
    pub(super) fn parse_body(mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self {
            initiate_tag: VerificationTag(body.u32()?),
            a_rwnd: body.u32()?,
            outbound_streams: body.u16()?,
            inbound_streams: body.u16()?,
            initial_tsn: Tsn(body.u32()?),
            params: param::parse_all(&mut body)?,
        })
    }
}

impl ChunkDecode for Init {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, body: Cursor<'_>) -> Result<Self, ParseError> {
        Self::parse_body(body)
    }
}

impl ChunkEncode for Init {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        16 + param::len_all(&self.params)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.initiate_tag.0.to_be_bytes());
        out.extend_from_slice(&self.a_rwnd.to_be_bytes());
        out.extend_from_slice(&self.outbound_streams.to_be_bytes());
        out.extend_from_slice(&self.inbound_streams.to_be_bytes());
        out.extend_from_slice(&self.initial_tsn.0.to_be_bytes());
        param::write_all(out, &self.params);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    const BYTES: [u8; 40] = [
        0x01, 0x00, 0x00, 0x26, 0xde, 0xad, 0xbe, 0xef, 0x00, 0x02, 0x00, 0x00, 0x00, 0x0a, 0xff, 0xff, 0x00,
        0x00, 0x12, 0x34, 0xc0, 0x00, 0x00, 0x04, 0x00, 0x05, 0x00, 0x08, 192, 0, 2, 1, 0x80, 0x08, 0x00,
        0x06, 0xc0, 0x82, 0x00, 0x00,
    ];

    /// The chunk's length does not include the padding of the last parameter. The chunk's length includes the padding
    /// of earlier parameters.
    #[test]
    fn follows_the_layout() {
        let chunk = Init {
            initiate_tag: VerificationTag(0xdead_beef),
            a_rwnd: 131_072,
            outbound_streams: 10,
            inbound_streams: 65_535,
            initial_tsn: Tsn(0x1234),
            params: vec![
                Param::ForwardTsnSupported,
                Param::Address([192, 0, 2, 1].into()),
                Param::SupportedExtensions(Bytes::from_static(&[0xc0, 0x82])),
            ],
        };
        check(&BYTES, chunk.clone());
        // RFC 9260 §3.2: a receiver also accepts the chunk if its final padding is counted.
        let mut counted = BYTES;
        counted[3] = 0x28;
        assert_eq!(parse(&counted), Ok(chunk.into()));
    }

    #[test]
    fn parameters_must_fit() {
        let mut bytes = BYTES;
        bytes[35] = 0x07;
        assert_eq!(parse(&bytes), Err(ParseError::Truncated));
        bytes[35] = 0x03;
        assert_eq!(parse(&bytes), Err(ParseError::Truncated));
        let mut bytes = BYTES;
        bytes[27] = 0x0a;
        assert_eq!(parse(&bytes), Err(ParseError::Excess));
    }
}
