//! I-FORWARD-TSN: [RFC 8260 §2.3.1](https://www.rfc-editor.org/rfc/rfc8260.html#section-2.3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 194  |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       New Cumulative TSN                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |       Stream Identifier       |           Reserved          |U|
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       Message Identifier                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                              ...                              \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use smallvec::SmallVec;

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Mid, ParseError, StreamId, Tsn};

/// Chunk Type of I-FORWARD-TSN.
pub const TYPE: u8 = 194;

const UNORDERED: u16 = 1;

/// Form of FORWARD TSN for an association that uses I-DATA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IForwardTsn {
    /// TSN up to which all TSNs count as arrived.
    pub new_cumulative_tsn: Tsn,
    /// Highest skipped message of each stream. Ordered and unordered messages have separate entries.
    pub skipped: SmallVec<[SkippedMessage; 2]>,
}

/// The highest skipped message of one stream, among the ordered or the unordered ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedMessage {
    /// Stream of the message.
    pub stream_id: StreamId,
    /// U bit: the entry is about unordered messages, which are numbered separately.
    pub unordered: bool,
    /// Number of the highest skipped message.
    pub mid: Mid,
}

impl ChunkDecode for IForwardTsn {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        let new_cumulative_tsn = Tsn(body.u32()?);
        let mut skipped = SmallVec::new();
        while !body.is_empty() {
            skipped.push(SkippedMessage {
                stream_id: StreamId(body.u16()?),
                unordered: body.u16()? & UNORDERED != 0,
                mid: Mid(body.u32()?),
            });
        }
        Ok(Self { new_cumulative_tsn, skipped })
    }
}

impl ChunkEncode for IForwardTsn {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        4 + 8 * self.skipped.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
        for message in &self.skipped {
            let flags = if message.unordered { UNORDERED } else { 0 };
            out.extend_from_slice(&message.stream_id.0.to_be_bytes());
            out.extend_from_slice(&flags.to_be_bytes());
            out.extend_from_slice(&message.mid.0.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    #[test]
    fn follows_the_layout() {
        let bytes =
            [0xc2, 0, 0, 0x18, 0, 0, 0, 9, 0, 1, 0, 0, 0, 0, 0, 2, 0, 3, 0, 1, 0xff, 0xff, 0xff, 0xff];
        let skipped = smallvec![
            SkippedMessage { stream_id: StreamId(1), unordered: false, mid: Mid(2) },
            SkippedMessage { stream_id: StreamId(3), unordered: true, mid: Mid(u32::MAX) },
        ];
        check(&bytes, IForwardTsn { new_cumulative_tsn: Tsn(9), skipped });
        assert_eq!(parse(&[0xc2, 0, 0, 0x0c, 0, 0, 0, 1, 0, 1, 0, 0]), Err(ParseError::Truncated));
    }
}
