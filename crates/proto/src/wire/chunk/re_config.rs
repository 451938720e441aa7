//! RE-CONFIG: [RFC 6525 §3.1](https://www.rfc-editor.org/rfc/rfc6525.html#section-3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 130  |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                   Re-configuration Parameter                  \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \             Re-configuration Parameter (optional)             \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Param, ParseError, param};

/// Chunk Type of RE-CONFIG.
pub const TYPE: u8 = 130;

/// Resets or adds streams, or answers such a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReConfig {
    /// One or two parameters.
    pub params: Vec<Param>,
}

impl ChunkDecode for ReConfig {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { params: param::parse_all(&mut body)? })
    }
}

impl ChunkEncode for ReConfig {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        param::len_all(&self.params)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        param::write_all(out, &self.params);
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::wire::chunk::testing::check;
    use crate::wire::param::{OutgoingSsnReset, ReConfigResponse};
    use crate::wire::{StreamId, Tsn};

    #[test]
    fn follows_the_layout() {
        let bytes = [
            0x82, 0, 0, 0x22, 0, 0x10, 0, 0x0c, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0x0d, 0, 0x12, 0, 0, 0, 7, 0, 0,
            0, 8, 0, 0, 0, 9, 0, 6, 0, 0,
        ];
        let response = ReConfigResponse { response_seq: 8, result: 1, next_tsns: None };
        let reset = OutgoingSsnReset {
            request_seq: 7,
            response_seq: 8,
            last_assigned_tsn: Tsn(9),
            streams: smallvec![StreamId(6)],
        };
        let params = vec![Param::ReConfigResponse(response), Param::OutgoingSsnReset(reset)];
        check(&bytes, ReConfig { params });
    }
}
