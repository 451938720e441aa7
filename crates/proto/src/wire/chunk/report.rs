//! REPORT: reports between two Strandcast endpoints, docs/wire-format.md. The highest bits of the chunk type are 10. A
//! peer that does not support the chunk therefore skips it without an answer. The chunk is sent only to a peer that
//! listed it in Supported Extensions.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Type = 0xB1  |  Chunk Flags  |          Chunk Length         |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |              Kind             |          Item Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Flags  |E|R  |    Reserved   |      Path (0xFFFF: none)      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \            Serial (32 bits, only with flag R or E)            \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                        Payload, padding                       \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                           more items                          \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//! The flag R of an item requests an echo. The item is repeated until its echo arrives. The flag E marks an echo. An
//! echo has the kind, path and serial of its item, and no payload. The item length counts the item header of 8 bytes
//! and the payload. The item length does not count the padding to 4 bytes.

mod arrived;

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;

pub use arrived::{
    Arrived, ArrivedBy, ArrivedItem, MAX_RETURN_PATHS, decode_return_paths, encode_return_paths,
};

use super::{ChunkDecode, ChunkEncode};
use crate::wire::cursor::Cursor;
use crate::wire::serial::Tsn;
use crate::wire::{ParseError, tlv};

/// Chunk Type of REPORT.
pub const TYPE: u8 = 0xB1;

/// Item kind: a path joins the association.
pub const KIND_JOIN: u16 = 1;
/// Item kind: a path leaves the association permanently.
pub const KIND_LEAVE: u16 = 2;
/// Item kind: a path has a new 4-tuple.
pub const KIND_MOVED: u16 = 3;
/// Item kind: a path must not be used for now.
pub const KIND_SUSPEND: u16 = 4;
/// Item kind: a suspended path may be used again.
pub const KIND_RESUME: u16 = 5;
/// Item kind: the sender sends copies, and requests the path of each arrival.
pub const KIND_COPIES: u16 = 6;
/// Item kind: TSNs that arrived by one path.
pub const KIND_ARRIVALS: u16 = 7;
/// Item kind: the sender requests the arrivals by each path, with each SACK.
pub const KIND_ARRIVED_REQUEST: u16 = 8;
/// Item kind: arrivals by each path, with times of the receiver's clock.
pub const KIND_ARRIVED: u16 = 9;
/// First item kind that belongs to schemes. Lower kinds belong to the core.
pub const KIND_FIRST_SCHEME: u16 = 0x100;

/// Maximum number of ranges in one ARRIVALS item.
pub const MAX_RANGES: usize = 16;

/// The range of TSNs from `first` to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TsnRange {
    /// First TSN of the range.
    pub first: Tsn,
    /// Last TSN of the range. The last TSN is not before the first.
    pub last: Tsn,
}

impl TsnRange {
    /// Returns whether `tsn` is in the range.
    pub fn contains(self, tsn: Tsn) -> bool {
        !tsn.is_before(self.first) && !tsn.is_after(self.last)
    }

    /// Returns the payload of an ARRIVALS item. Each range is written as its last TSN (32 bits) and the number of TSNs
    /// before that one (16 bits). If a range is too long for 16 bits, its beginning is omitted. The payload is cut from
    /// `block`. The cut allocates nothing once earlier payloads are dropped.
    pub fn encode(ranges: &[TsnRange], block: &mut BytesMut) -> Bytes {
        block.reserve(6 * ranges.len());
        for range in ranges {
            let before = u16::try_from(range.last - range.first).unwrap_or(u16::MAX);
            block.extend_from_slice(&range.last.0.to_be_bytes());
            block.extend_from_slice(&before.to_be_bytes());
        }
        block.split().freeze()
    }

    /// Reads the payload of an ARRIVALS item. Returns `None` if it is malformed or has more than [`MAX_RANGES`] ranges.
    pub fn decode(payload: &[u8]) -> Option<SmallVec<[TsnRange; MAX_RANGES]>> {
        let (ranges, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() || ranges.len() > MAX_RANGES {
            return None;
        }
        let range = |[a, b, c, d, e, f]: &[u8; 6]| {
            let last = Tsn(u32::from_be_bytes([*a, *b, *c, *d]));
            TsnRange { first: last - u32::from(u16::from_be_bytes([*e, *f])), last }
        };
        Some(ranges.iter().map(range).collect())
    }
}

const RELIABLE: u8 = 0b01;
const ECHO: u8 = 0b10;
const NO_PATH: u16 = 0xffff;

/// A REPORT chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Items in order. Each is independent of the others.
    pub items: SmallVec<[ReportItem; 2]>,
}

/// One item of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportItem {
    /// Kind of the item.
    pub kind: u16,
    /// Wire id of the path that is the item's subject; never `Some(0xFFFF)`.
    pub path: Option<u16>,
    /// Way of delivery of the item.
    pub reliability: ReportItemFlavour,
    /// Content of the item; empty in an echo.
    pub payload: Bytes,
}

/// Way of delivery of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportItemFlavour {
    /// The item is sent once and needs no echo.
    Plain,
    /// The item is repeated until the echo with this serial arrives.
    Reliable(u32),
    /// The item is the echo of the item with this serial.
    Echo(u32),
}

impl ReportItem {
    /// Returns the echo that a reliable item requests.
    pub fn echo(&self) -> Option<Self> {
        match self.reliability {
            ReportItemFlavour::Reliable(serial) => Some(Self {
                kind: self.kind,
                path: self.path,
                reliability: ReportItemFlavour::Echo(serial),
                payload: Bytes::new(),
            }),
            ReportItemFlavour::Plain | ReportItemFlavour::Echo(_) => None,
        }
    }

    /// Returns the bytes of the item without padding.
    #[expect(clippy::len_without_is_empty, reason = "an item is never empty")]
    pub fn len(&self) -> usize {
        let serial = if self.reliability == ReportItemFlavour::Plain { 0 } else { 4 };
        8 + serial + self.payload.len()
    }

    fn parse(kind: u16, mut value: Cursor<'_>) -> Result<Self, ParseError> {
        let flags = value.u8()?;
        let _reserved = value.u8()?;
        let path = Some(value.u16()?).filter(|&path| path != NO_PATH);
        let reliability = match flags & (RELIABLE | ECHO) {
            0 => ReportItemFlavour::Plain,
            RELIABLE => ReportItemFlavour::Reliable(value.u32()?),
            ECHO => {
                let serial = value.u32()?;
                value.finish()?;
                ReportItemFlavour::Echo(serial)
            }
            _ => return Err(ParseError::Forbidden),
        };
        Ok(Self { kind, path, reliability, payload: value.rest() })
    }

    fn write(&self, out: &mut Vec<u8>) {
        debug_assert_ne!(self.path, Some(NO_PATH), "this id says that there is no path");
        let (flags, serial) = match self.reliability {
            ReportItemFlavour::Plain => (0, None),
            ReportItemFlavour::Reliable(serial) => (RELIABLE, Some(serial)),
            ReportItemFlavour::Echo(serial) => (ECHO, Some(serial)),
        };
        tlv::write(out, self.kind, |out| {
            out.extend_from_slice(&[flags, 0]);
            out.extend_from_slice(&self.path.unwrap_or(NO_PATH).to_be_bytes());
            if let Some(serial) = serial {
                out.extend_from_slice(&serial.to_be_bytes());
            }
            out.extend_from_slice(&self.payload);
        });
    }
}

impl ChunkDecode for Report {
    const TYPE: u8 = TYPE;

    fn parse(_flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        let mut items = SmallVec::new();
        while !body.is_empty() {
            let (kind, value) = tlv::next(&mut body)?;
            items.push(ReportItem::parse(kind, value)?);
        }
        Ok(Self { items })
    }
}

impl ChunkEncode for Report {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        tlv::len_all(self.items.iter().map(ReportItem::len))
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        tlv::write_all(out, &self.items, ReportItem::write);
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    #[test]
    fn follows_the_layout() {
        let bytes = [
            0xb1, 0, 0, 0x1d, // 4 + 16 + 9 bytes
            0, 1, 0, 0x0e, 1, 0, 0, 2, 0, 0, 0, 7, 0xaa, 0xbb, 0, 0, // reliable JOIN of path 2
            1, 0, 0, 9, 0, 0, 0xff, 0xff, 0xcc, 0, 0, 0, // a scheme's, without a path
        ];
        let join = ReportItem {
            kind: KIND_JOIN,
            path: Some(2),
            reliability: ReportItemFlavour::Reliable(7),
            payload: Bytes::from_static(&[0xaa, 0xbb]),
        };
        let plain = ReportItem {
            kind: KIND_FIRST_SCHEME,
            path: None,
            reliability: ReportItemFlavour::Plain,
            payload: Bytes::from_static(&[0xcc]),
        };
        check(&bytes, Report { items: smallvec![join, plain] });
    }

    #[test]
    fn echo_names_the_item_and_nothing_else() {
        let bytes = [0xb1, 0, 0, 0x10, 0, 2, 0, 0x0c, 2, 0, 0, 1, 0, 0, 0, 9];
        let leave = ReportItem {
            kind: KIND_LEAVE,
            path: Some(1),
            reliability: ReportItemFlavour::Reliable(9),
            payload: Bytes::from_static(b"why"),
        };
        let echo = leave.echo().expect("a reliable item has an echo");
        assert_eq!(echo.echo(), None);
        check(&bytes, Report { items: smallvec![echo] });
    }

    #[test]
    fn ranges_come_back_and_hostile_ones_do_not() {
        let range = |first, last| TsnRange { first: Tsn(first), last: Tsn(last) };
        let all = [range(5, 5), range(u32::MAX - 1, 3)];
        let block = &mut BytesMut::new();
        let bytes = TsnRange::encode(&all, block);
        assert_eq!(bytes[..], [0, 0, 0, 5, 0, 0, 0, 0, 0, 3, 0, 5]);
        assert_eq!(TsnRange::decode(&bytes).expect("two ranges")[..], all);
        let long = TsnRange::encode(&[range(0, 100_000)], block);
        assert_eq!(TsnRange::decode(&long).expect("a range")[..], [range(100_000 - 65_535, 100_000)]);
        assert!(range(u32::MAX, 1).contains(Tsn(0)) && !range(u32::MAX, 1).contains(Tsn(2)));
        assert_eq!(TsnRange::decode(&bytes[..11]), None, "half a range");
        assert_eq!(TsnRange::decode(&[0; 6 * (MAX_RANGES + 1)]), None, "too many");
    }

    #[test]
    fn bad_items_are_refused() {
        // Both flags at once, a missing serial, and a length below the item header.
        assert_eq!(
            parse(&[0xb1, 0, 0, 0x10, 0, 2, 0, 0x0c, 3, 0, 0, 1, 0, 0, 0, 9]),
            Err(ParseError::Forbidden)
        );
        assert_eq!(parse(&[0xb1, 0, 0, 0x0c, 0, 2, 0, 8, 1, 0, 0, 1]), Err(ParseError::Truncated));
        assert_eq!(parse(&[0xb1, 0, 0, 0x0c, 0, 2, 0, 6, 0, 0, 0, 1]), Err(ParseError::Truncated));
    }
}
