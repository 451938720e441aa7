//! A chunk of an unknown type (RFC 9260 §3.2).

use bytes::Bytes;

use super::ChunkEncode;
use crate::wire::UnknownAction;

/// A chunk of an unknown type, kept unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownChunk {
    /// Value of the Chunk Type field.
    pub chunk_type: u8,
    /// Value of the Chunk Flags field.
    pub flags: u8,
    /// Value of the Chunk Value field.
    pub body: Bytes,
}

impl UnknownChunk {
    /// Returns the action that the highest bits of the type request from the receiver.
    pub fn action(&self) -> UnknownAction {
        UnknownAction::from_high_bits(self.chunk_type)
    }
}

impl ChunkEncode for UnknownChunk {
    fn chunk_type(&self) -> u8 {
        self.chunk_type
    }

    fn flags(&self) -> u8 {
        self.flags
    }

    fn body_len(&self) -> usize {
        self.body.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Chunk;
    use crate::wire::chunk::testing::check;

    #[test]
    fn high_bits_tell_the_action() {
        let action = |chunk_type| UnknownChunk { chunk_type, flags: 0, body: Bytes::new() }.action();
        assert_eq!(action(0x3f), UnknownAction::Stop);
        assert_eq!(action(0x7f), UnknownAction::StopAndReport);
        assert_eq!(action(0xbf), UnknownAction::Skip);
        assert_eq!(action(0xff), UnknownAction::SkipAndReport);
    }

    #[test]
    fn is_kept_as_it_came() {
        let bytes = [0xff, 0x5a, 0x00, 0x06, 0x11, 0x22, 0x00, 0x00];
        let body = Bytes::from_static(&[0x11, 0x22]);
        check(&bytes, Chunk::Unknown(UnknownChunk { chunk_type: 0xff, flags: 0x5a, body }));
    }
}
