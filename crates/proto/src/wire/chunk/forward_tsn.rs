//! FORWARD TSN: [RFC 3758 §3.2](https://www.rfc-editor.org/rfc/rfc3758.html#section-3.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 192  |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                       New Cumulative TSN                      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |            Stream-1           |       Stream Sequence-1       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                              ...                              \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |            Stream-N           |       Stream Sequence-N       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use smallvec::SmallVec;

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, Ssn, StreamId, Tsn};

/// Chunk Type of FORWARD TSN.
pub const TYPE: u8 = 192;

/// Reports abandoned TSNs to the receiver, which then no longer waits for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardTsn {
    /// TSN up to which all TSNs count as arrived.
    pub new_cumulative_tsn: Tsn,
    /// Highest skipped SSN of each ordered stream that has a skipped message.
    pub streams: SmallVec<[(StreamId, Ssn); 4]>,
}

impl ChunkDecode for ForwardTsn {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        let new_cumulative_tsn = Tsn(body.u32()?);
        let mut streams = SmallVec::new();
        while !body.is_empty() {
            streams.push((StreamId(body.u16()?), Ssn(body.u16()?)));
        }
        Ok(Self { new_cumulative_tsn, streams })
    }
}

impl ChunkEncode for ForwardTsn {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        4 + 4 * self.streams.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.new_cumulative_tsn.0.to_be_bytes());
        for (stream, ssn) in &self.streams {
            out.extend_from_slice(&stream.0.to_be_bytes());
            out.extend_from_slice(&ssn.0.to_be_bytes());
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
        let bytes = [0xc0, 0, 0, 0x10, 0, 0, 0x30, 0x39, 0, 1, 0, 2, 0, 3, 0xff, 0xff];
        let streams = smallvec![(StreamId(1), Ssn(2)), (StreamId(3), Ssn(0xffff))];
        check(&bytes, ForwardTsn { new_cumulative_tsn: Tsn(12_345), streams });
        assert_eq!(parse(&[0xc0, 0, 0, 0x0a, 0, 0, 0, 1, 0, 1, 0, 0]), Err(ParseError::Truncated));
    }
}
