//! The wire format of messages.

use core::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use crate::MediaTime;
use crate::ts::{FrameType, Marks, PACKET_LEN, SYNC_BYTE};

/// First byte of every message.
pub const VERSION: u8 = 1;
/// Bytes of the header before the transport packets.
pub const HEADER_LEN: usize = 20;
/// Maximum number of transport packets in a message.
pub const MAX_PACKETS: usize = 7;

/// Payload bytes of the message that ends a stream.
const END_LEN: usize = 20;
/// Latest send time in microseconds (71 years). Larger values are invalid, because they would overflow in nanoseconds.
const MAX_SENT_US: u64 = 1 << 51;

const FLAG_END: u8 = 0x01;
const FLAG_RANDOM_ACCESS: u8 = 0x02;
const FLAG_FRAME_START: u8 = 0x04;
const TYPE_SHIFT: u32 = 4;

/// The header before the transport packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// Identifier of the sender's run to which the message belongs.
    pub session: u32,
    /// Sequence number in the stream, which wraps.
    pub sequence: u32,
    /// The sender's send time since the session's first message, in whole microseconds.
    pub sent: MediaTime,
    /// Time for which the message is useful after its send time, in whole milliseconds, at most 65.5 s.
    pub lifetime: Option<Duration>,
    /// Role of the message in the video.
    pub marks: Marks,
}

/// Totals of the stream, sent at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct End {
    /// Number of data messages.
    pub messages: u64,
    /// Number of bytes of their transport packets.
    pub bytes: u64,
    /// CRC32c over these bytes in order. The checksum detects accidental damage, not forgery.
    pub crc32c: u32,
}

/// The body of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// One to seven transport packets.
    Data(Bytes),
    /// End of the stream, with these totals.
    End(End),
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Header of the message.
    pub header: Header,
    /// Body of the message.
    pub body: Body,
}

/// Reason why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// The bytes are shorter than a header.
    #[error("shorter than a header")]
    Short,
    /// The version of the format is unknown.
    #[error("version {0} of the message format")]
    Version(u8),
    /// The send time exceeds any session's length.
    #[error("send time out of range")]
    SendTime,
    /// The payload is not one to seven transport packets, or the end's totals are truncated.
    #[error("payload of wrong length or without sync bytes")]
    Payload,
}

impl Message {
    /// Reads a message. The payload of the message shares the memory of `wire`.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes are not a message of this version.
    pub fn decode(mut wire: Bytes) -> Result<Self, Malformed> {
        let head: [u8; HEADER_LEN] = *wire.first_chunk().ok_or(Malformed::Short)?;
        if head[0] != VERSION {
            return Err(Malformed::Version(head[0]));
        }
        let sent_us = u64::from_be_bytes(field(&head, 12));
        if sent_us > MAX_SENT_US {
            return Err(Malformed::SendTime);
        }
        let flags = head[1];
        let lifetime_ms = u16::from_be_bytes(field(&head, 2));
        let header = Header {
            session: u32::from_be_bytes(field(&head, 4)),
            sequence: u32::from_be_bytes(field(&head, 8)),
            sent: MediaTime::from_micros(sent_us),
            lifetime: (lifetime_ms != 0).then(|| Duration::from_millis(u64::from(lifetime_ms))),
            marks: marks(flags),
        };
        let payload = wire.split_off(HEADER_LEN);
        let body = if flags & FLAG_END != 0 {
            Body::End(decode_end(&payload).ok_or(Malformed::Payload)?)
        } else {
            Body::Data(check_packets(payload).ok_or(Malformed::Payload)?)
        };
        Ok(Message { header, body })
    }

    /// Writes the message. A data body is not checked: it should be one to seven transport packets.
    pub fn encode(&self) -> Bytes {
        match &self.body {
            Body::Data(payload) => {
                let mut wire = BytesMut::with_capacity(HEADER_LEN + payload.len());
                wire.put_slice(&self.header.encode(false));
                wire.put_slice(payload);
                wire.freeze()
            }
            Body::End(end) => {
                let mut wire = BytesMut::with_capacity(HEADER_LEN + END_LEN);
                wire.put_slice(&self.header.encode(true));
                wire.put_u64(end.messages);
                wire.put_u64(end.bytes);
                wire.put_u32(end.crc32c);
                wire.freeze()
            }
        }
    }
}

impl Header {
    /// Bytes of the header, for a data message or for the end of the stream.
    pub(super) fn encode(&self, end: bool) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        let mut buf = &mut out[..];
        buf.put_u8(VERSION);
        buf.put_u8(flags(self.marks, end));
        buf.put_u16(self.lifetime.map_or(0, lifetime_ms));
        buf.put_u32(self.session);
        buf.put_u32(self.sequence);
        buf.put_u64(self.sent.as_micros());
        out
    }
}

/// Converts a lifetime to whole milliseconds, from 1 to the maximum of 16 bits. The value 0 means no lifetime.
fn lifetime_ms(lifetime: Duration) -> u16 {
    u16::try_from(lifetime.as_millis().max(1)).unwrap_or(u16::MAX)
}

fn flags(marks: Marks, end: bool) -> u8 {
    let frame_type = match marks.frame_type {
        None => 0,
        Some(FrameType::I) => 1,
        Some(FrameType::P) => 2,
        Some(FrameType::B) => 3,
    };
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    flag(end, FLAG_END)
        | flag(marks.random_access, FLAG_RANDOM_ACCESS)
        | flag(marks.frame_start, FLAG_FRAME_START)
        | frame_type << TYPE_SHIFT
}

fn marks(flags: u8) -> Marks {
    let frame_type = match flags >> TYPE_SHIFT & 3 {
        1 => Some(FrameType::I),
        2 => Some(FrameType::P),
        3 => Some(FrameType::B),
        _ => None,
    };
    Marks {
        random_access: flags & FLAG_RANDOM_ACCESS != 0,
        frame_start: flags & FLAG_FRAME_START != 0,
        frame_type,
    }
}

fn decode_end(payload: &[u8]) -> Option<End> {
    let b: [u8; END_LEN] = payload.try_into().ok()?;
    Some(End {
        messages: u64::from_be_bytes(field(&b, 0)),
        bytes: u64::from_be_bytes(field(&b, 8)),
        crc32c: u32::from_be_bytes(field(&b, 16)),
    })
}

fn check_packets(payload: Bytes) -> Option<Bytes> {
    let (packets, rest) = payload.as_chunks::<PACKET_LEN>();
    let fits = (1..=MAX_PACKETS).contains(&packets.len()) && rest.is_empty();
    (fits && packets.iter().all(|packet| packet[0] == SYNC_BYTE)).then_some(payload)
}

/// Reads `N` bytes of a header from position `at` on.
fn field<const N: usize, const M: usize>(bytes: &[u8; M], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("the fields' places are within the header")
}
