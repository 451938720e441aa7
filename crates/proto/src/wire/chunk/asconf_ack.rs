//! ASCONF-ACK: [RFC 5061 §4.1.2](https://www.rfc-editor.org/rfc/rfc5061.html#section-4.1.2).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 128  |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                         Serial Number                         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                   ASCONF Parameter Responses                  \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Param, ParseError, param};

/// Chunk Type of ASCONF-ACK.
pub const TYPE: u8 = 128;

/// Answers ASCONF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsconfAck {
    /// Serial number of the ASCONF that this chunk answers.
    pub serial: u32,
    /// Results of the requests in ASCONF. A request without a result succeeded.
    pub params: Vec<Param>,
}

impl ChunkDecode for AsconfAck {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        Ok(Self { serial: body.u32()?, params: param::parse_all(&mut body)? })
    }
}

impl ChunkEncode for AsconfAck {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        4 + param::len_all(&self.params)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.serial.to_be_bytes());
        param::write_all(out, &self.params);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::wire::Cause;
    use crate::wire::chunk::testing::check;

    #[test]
    fn follows_the_layout() {
        let bytes = [
            0x80, 0, 0, 0x20, 0, 0, 0, 7, 0xc0, 5, 0, 8, 0, 0, 0, 9, 0xc0, 3, 0, 0x10, 0, 0, 0, 10, 0, 0xa1,
            0, 8, 0xc0, 0, 0, 4,
        ];
        let refused = Cause::OperationRefused(Bytes::from_static(&[0xc0, 0, 0, 4]));
        let params = vec![
            Param::SuccessIndication { correlation_id: 9 },
            Param::ErrorCauseIndication { correlation_id: 10, causes: vec![refused] },
        ];
        check(&bytes, AsconfAck { serial: 7, params });
    }
}
