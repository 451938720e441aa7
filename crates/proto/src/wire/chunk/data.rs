//! DATA: [RFC 9260 §3.3.1](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 0    |  Res  |I|U|B|E|            Length             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                              TSN                              |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |       Stream Identifier       |    Stream Sequence Number     |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                  Payload Protocol Identifier                  |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                           User Data                           \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode, HEADER_LEN};
use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, Ppid, Ssn, StreamId, Tsn, padded};

/// Chunk Type of DATA.
pub const TYPE: u8 = 0;

const IMMEDIATE: u8 = 0b1000;
const UNORDERED: u8 = 0b0100;
const BEGINNING: u8 = 0b0010;
const ENDING: u8 = 0b0001;

/// The fields of a DATA chunk before its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataHeader {
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Stream of the chunk.
    pub stream_id: StreamId,
    /// Sequence number of the message in its stream. The sequence number has no meaning for an unordered message.
    pub ssn: Ssn,
    /// Payload protocol identifier, which the application sets.
    pub ppid: Ppid,
    /// I bit: the receiver must acknowledge without delay (RFC 7053).
    pub immediate: bool,
    /// U bit: the message is unordered, and is delivered once it is complete.
    pub unordered: bool,
    /// B bit: first fragment of a message.
    pub beginning: bool,
    /// E bit: last fragment of a message.
    pub ending: bool,
}

/// A DATA chunk. The parser accepts a chunk with an empty payload. The receiver answers such a chunk with the cause No
/// User Data (RFC 9260 §6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// Fields before the payload.
    pub header: DataHeader,
    /// User data of the chunk.
    pub payload: Bytes,
}

impl DataHeader {
    /// Number of bytes before the payload, including the chunk header.
    pub const LEN: usize = HEADER_LEN + 12;

    /// Returns the bytes that a DATA chunk with `payload_len` bytes of payload occupies in a packet, including padding.
    pub const fn encoded_len(payload_len: usize) -> usize {
        padded(Self::LEN + payload_len)
    }

    /// Returns the chunk up to its payload. The length field has the value `length`.
    pub(in crate::wire) fn encode(&self, length: u16) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[0] = TYPE;
        bytes[1] = self.flags();
        bytes[2..4].copy_from_slice(&length.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.tsn.0.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.stream_id.0.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.ssn.0.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.ppid.0.to_be_bytes());
        bytes
    }

    fn flags(&self) -> u8 {
        let bit = |set: bool, mask: u8| if set { mask } else { 0 };
        bit(self.immediate, IMMEDIATE)
            | bit(self.unordered, UNORDERED)
            | bit(self.beginning, BEGINNING)
            | bit(self.ending, ENDING)
    }
}

impl ChunkDecode for Data {
    const TYPE: u8 = TYPE;

    fn parse(flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        let header = DataHeader {
            tsn: Tsn(body.u32()?),
            stream_id: StreamId(body.u16()?),
            ssn: Ssn(body.u16()?),
            ppid: Ppid(body.u32()?),
            immediate: flags & IMMEDIATE != 0,
            unordered: flags & UNORDERED != 0,
            beginning: flags & BEGINNING != 0,
            ending: flags & ENDING != 0,
        };
        Ok(Self { header, payload: body.rest() })
    }
}

impl ChunkEncode for Data {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn flags(&self) -> u8 {
        self.header.flags()
    }

    fn body_len(&self) -> usize {
        DataHeader::LEN - HEADER_LEN + self.payload.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        // The length field is not part of the body.
        out.extend_from_slice(&self.header.encode(0)[HEADER_LEN..]);
        out.extend_from_slice(&self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    const BYTES: [u8; 20] = [
        0x00, 0x0e, 0x00, 0x13, 0x80, 0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03, 0x00, 0x00, 0x00, 0x33, b'a',
        b'b', b'c', 0x00,
    ];

    fn chunk() -> Data {
        Data {
            header: DataHeader {
                tsn: Tsn(0x8000_0001),
                stream_id: StreamId(2),
                ssn: Ssn(3),
                ppid: Ppid(0x33),
                immediate: true,
                unordered: true,
                beginning: true,
                ending: false,
            },
            payload: Bytes::from_static(b"abc"),
        }
    }

    #[test]
    fn follows_the_layout() {
        check(&BYTES, chunk());
    }

    #[test]
    fn ending_is_the_lowest_bit() {
        let mut bytes = BYTES;
        bytes[1] = 0x01;
        let mut expected = chunk();
        expected.header = DataHeader {
            ending: true,
            immediate: false,
            unordered: false,
            beginning: false,
            ..expected.header
        };
        check(&bytes, expected);
    }

    #[test]
    fn reserved_flags_and_padding_do_not_matter() {
        let mut bytes = BYTES;
        bytes[1] |= 0xf0;
        bytes[19] = 0xff;
        assert_eq!(parse(&bytes), Ok(chunk().into()));
    }

    #[test]
    fn without_payload_is_seen_and_without_ppid_is_not() {
        let bytes = [0, 3, 0, 16, 0, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0, 4];
        assert!(matches!(parse(&bytes), Ok(crate::wire::Chunk::Data(data)) if data.payload.is_empty()));
        assert_eq!(parse(&[0, 3, 0, 12, 0, 0, 0, 1, 0, 2, 0, 3]), Err(ParseError::Truncated));
    }
}
