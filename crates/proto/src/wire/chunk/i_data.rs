//! I-DATA: [RFC 8260 §2.1](https://www.rfc-editor.org/rfc/rfc8260.html#section-2.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 64   |  Res  |I|U|B|E|          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                              TSN                              |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |       Stream Identifier       |            Reserved           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                    Message Identifier (MID)                   |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Payload Protocol Identifier / Fragment Sequence Number (FSN) |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                           User Data                           \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::{Fsn, Mid, ParseError, Ppid, StreamId, Tsn};

/// Chunk Type of I-DATA.
pub const TYPE: u8 = 64;

const IMMEDIATE: u8 = 0b1000;
const UNORDERED: u8 = 0b0100;
const BEGINNING: u8 = 0b0010;
const ENDING: u8 = 0b0001;

/// A fragment of a message (I-DATA). Fragments of other messages may be sent between the fragments of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IData {
    /// Transmission sequence number.
    pub tsn: Tsn,
    /// Stream of the chunk.
    pub stream_id: StreamId,
    /// Number of the message. Ordered and unordered messages of a stream are numbered separately.
    pub mid: Mid,
    /// Field whose meaning depends on the B bit: payload protocol identifier or number of the fragment.
    pub fragment: Fragment,
    /// I bit: the receiver must acknowledge without delay.
    pub immediate: bool,
    /// U bit: the message is unordered, and is delivered once it is complete.
    pub unordered: bool,
    /// E bit: last fragment of the message.
    pub ending: bool,
    /// User data of the fragment.
    pub payload: Bytes,
}

/// Value of the field whose meaning depends on the B bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fragment {
    /// The B bit is set: this is the first fragment (FSN 0), and the field is the application's payload protocol
    /// identifier.
    Beginning(Ppid),
    /// The B bit is not set: the field is the number of the fragment.
    Continuation(Fsn),
}

impl ChunkDecode for IData {
    const TYPE: u8 = TYPE;

    fn parse(flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        let tsn = Tsn(body.u32()?);
        let stream_id = StreamId(body.u16()?);
        let _reserved = body.u16()?;
        let mid = Mid(body.u32()?);
        let number = body.u32()?;
        let fragment = if flags & BEGINNING != 0 {
            Fragment::Beginning(Ppid(number))
        } else {
            Fragment::Continuation(Fsn(number))
        };
        Ok(Self {
            tsn,
            stream_id,
            mid,
            fragment,
            immediate: flags & IMMEDIATE != 0,
            unordered: flags & UNORDERED != 0,
            ending: flags & ENDING != 0,
            payload: body.rest(),
        })
    }
}

impl ChunkEncode for IData {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn flags(&self) -> u8 {
        let bit = |set: bool, mask: u8| if set { mask } else { 0 };
        bit(self.immediate, IMMEDIATE)
            | bit(self.unordered, UNORDERED)
            | bit(matches!(self.fragment, Fragment::Beginning(_)), BEGINNING)
            | bit(self.ending, ENDING)
    }

    fn body_len(&self) -> usize {
        16 + self.payload.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        let number = match self.fragment {
            Fragment::Beginning(ppid) => ppid.0,
            Fragment::Continuation(fsn) => fsn.0,
        };
        out.extend_from_slice(&self.tsn.0.to_be_bytes());
        out.extend_from_slice(&self.stream_id.0.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&self.mid.0.to_be_bytes());
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(&self.payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    const BYTES: [u8; 24] =
        [0x40, 0x0a, 0, 0x16, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x35, b'h', b'i', 0, 0];

    fn chunk(fragment: Fragment) -> IData {
        IData {
            tsn: Tsn(1),
            stream_id: StreamId(2),
            mid: Mid(3),
            fragment,
            immediate: true,
            unordered: false,
            ending: false,
            payload: Bytes::from_static(b"hi"),
        }
    }

    #[test]
    fn first_fragment_carries_the_ppid() {
        check(&BYTES, chunk(Fragment::Beginning(Ppid(0x35))));
    }

    #[test]
    fn other_fragments_carry_their_number() {
        let mut bytes = BYTES;
        bytes[1] = 0x05;
        let fragment = Fragment::Continuation(Fsn(0x35));
        check(&bytes, IData { immediate: false, unordered: true, ending: true, ..chunk(fragment) });
    }

    #[test]
    fn reserved_bytes_do_not_matter() {
        let mut bytes = BYTES;
        bytes[10..12].fill(0xff);
        assert_eq!(parse(&bytes), Ok(chunk(Fragment::Beginning(Ppid(0x35))).into()));
    }
}
