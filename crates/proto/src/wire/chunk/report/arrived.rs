//! REPORT items ARRIVED and ARRIVED REQUEST (docs/wire-format.md). ARRIVED has the arrivals by each path, by the
//! receiver's clock. ARRIVED REQUEST has the return paths that a sender requests for SACKs and these reports.
//!
//! ```text
//! ARRIVED                                                ARRIVED REQUEST
//!  0                   1                   2              0                   1
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1            0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-            +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                Clock (32)                             |  Path of a return path (16)   |  at most 4 times
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-            +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |  Path (16), TSN (32), Age (32), Packets (32), Bytes (32)   at most 16 times
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-
//! ```

use bytes::Bytes;
use smallvec::SmallVec;

use super::{KIND_ARRIVED, NO_PATH, ReportItem, ReportItemFlavour, TYPE};
use crate::wire::chunk::ChunkEncode;
use crate::wire::serial::Tsn;
use crate::wire::tlv;

/// Maximum number of paths in one ARRIVED item. An item can name all paths of an association.
pub const MAX_ARRIVED: usize = 16;
/// Maximum number of return paths in one ARRIVED REQUEST item.
pub const MAX_RETURN_PATHS: usize = 4;

/// Number of bytes of the entry for one path.
const ENTRY: usize = 18;

/// An ARRIVED item for writing. The ARRIVED item is written as a separate REPORT chunk, without an allocation.
#[derive(Debug, Clone)]
pub struct Arrived<I> {
    /// Low 32 bits of the receiver's clock in microseconds.
    pub clock: u32,
    /// Arrivals by path, for at most `MAX_ARRIVED` paths.
    pub paths: I,
}

/// An ARRIVED item for reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivedItem<'a> {
    /// Low 32 bits of the receiver's clock in microseconds.
    pub clock: u32,
    entries: &'a [[u8; ENTRY]],
}

/// Arrivals by one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivedBy {
    /// Wire id of the path.
    pub path: u16,
    /// Highest TSN of the last packet with DATA that arrived by this path.
    pub tsn: Tsn,
    /// Time in microseconds from the arrival of that packet to the item's clock time. `u32::MAX` means this time or a
    /// longer one.
    pub age: u32,
    /// Number of packets with DATA that have arrived by this path, modulo 2³².
    pub packets: u32,
    /// Number of bytes of these packets, counted as SCTP packets, modulo 2³².
    pub bytes: u32,
}

impl<'a> ArrivedItem<'a> {
    /// Reads the payload of an ARRIVED item. Returns `None` if it is malformed or has more than `MAX_ARRIVED` paths.
    pub fn read(payload: &'a [u8]) -> Option<Self> {
        let (clock, paths) = payload.split_first_chunk::<4>()?;
        let (entries, rest) = paths.as_chunks::<ENTRY>();
        let fine = rest.is_empty() && entries.len() <= MAX_ARRIVED;
        fine.then_some(ArrivedItem { clock: u32::from_be_bytes(*clock), entries })
    }

    /// Returns the arrivals by each path.
    pub fn paths(self) -> impl Iterator<Item = ArrivedBy> + 'a {
        self.entries.iter().map(ArrivedBy::decode)
    }
}

impl<I: Iterator<Item = ArrivedBy> + Clone> Arrived<I> {
    fn write_payload(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.clock.to_be_bytes());
        self.paths.clone().for_each(|path| path.write(out));
    }

    fn payload_len(&self) -> usize {
        4 + ENTRY * self.paths.clone().count()
    }

    /// Returns whether the item contains no path.
    pub fn is_empty(&self) -> bool {
        self.paths.clone().next().is_none()
    }

    /// Returns an item that can share a REPORT chunk with others.
    pub fn to_item(&self) -> ReportItem {
        let mut payload = Vec::with_capacity(self.payload_len());
        self.write_payload(&mut payload);
        let reliability = ReportItemFlavour::Plain;
        ReportItem { kind: KIND_ARRIVED, path: None, reliability, payload: payload.into() }
    }
}

impl ArrivedBy {
    fn decode(entry: &[u8; ENTRY]) -> Self {
        let u32_at = |at: usize| u32::from_be_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
        ArrivedBy {
            path: u16::from_be_bytes([entry[0], entry[1]]),
            tsn: Tsn(u32_at(2)),
            age: u32_at(6),
            packets: u32_at(10),
            bytes: u32_at(14),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.path.to_be_bytes());
        for field in [self.tsn.0, self.age, self.packets, self.bytes] {
            out.extend_from_slice(&field.to_be_bytes());
        }
    }
}

impl<I: Iterator<Item = ArrivedBy> + Clone> ChunkEncode for Arrived<I> {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn body_len(&self) -> usize {
        8 + self.payload_len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        tlv::write(out, KIND_ARRIVED, |out| {
            out.extend_from_slice(&[0, 0]);
            out.extend_from_slice(&NO_PATH.to_be_bytes());
            self.write_payload(out);
        });
    }
}

/// Returns the payload of an ARRIVED REQUEST item: the wire ids of the return paths over which SACKs must alternate. If
/// the list is empty, the receiver chooses the return paths. At most [`MAX_RETURN_PATHS`] paths are written.
pub fn encode_return_paths(paths: impl Iterator<Item = u16>) -> Bytes {
    paths.take(MAX_RETURN_PATHS).flat_map(u16::to_be_bytes).collect()
}

/// Reads the payload of an ARRIVED REQUEST item. Returns `None` if it is malformed.
pub fn decode_return_paths(payload: &[u8]) -> Option<SmallVec<[u16; MAX_RETURN_PATHS]>> {
    let (paths, rest) = payload.as_chunks::<2>();
    let fine = rest.is_empty() && paths.len() <= MAX_RETURN_PATHS;
    fine.then(|| paths.iter().map(|way| u16::from_be_bytes(*way)).collect())
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::*;
    use crate::path::MAX_PATHS;
    use crate::wire::chunk::Report;
    use crate::wire::chunk::testing::check;

    fn by(path: u16) -> ArrivedBy {
        ArrivedBy { path, tsn: Tsn(0x0102_0304), age: 5, packets: 6, bytes: u32::MAX }
    }

    #[test]
    fn follows_the_layout() {
        let arrived = Arrived { clock: 0xa0b0_c0d0, paths: [by(7)].into_iter() };
        let bytes = [
            0xb1, 0, 0, 34, 0, 9, 0, 30, 0, 0, 0xff, 0xff, 0xa0, 0xb0, 0xc0, 0xd0, // clock
            0, 7, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0xff, 0xff, 0xff, 0xff, 0, 0,
        ];
        check(&bytes, Report { items: smallvec![arrived.to_item()] });
        let mut body = Vec::new();
        arrived.write_body(&mut body);
        assert_eq!(
            (&body[..], body.len()),
            (&bytes[4..34], arrived.body_len()),
            "the same without an allocation"
        );
        let payload = arrived.to_item().payload;
        let item = ArrivedItem::read(&payload).expect("a report");
        assert_eq!((item.clock, item.paths().collect::<Vec<_>>()), (0xa0b0_c0d0, vec![by(7)]));
    }

    #[test]
    fn whatever_is_no_report_is_refused() {
        let many = |n: u16| Arrived { clock: 1, paths: (0..n).map(by) }.to_item().payload;
        assert_eq!(ArrivedItem::read(&many(16)).expect("as many as may be").paths().count(), MAX_PATHS);
        assert_eq!(ArrivedItem::read(&many(17)), None, "too many");
        assert_eq!(ArrivedItem::read(&many(1)[..21]), None, "half a path");
        assert_eq!(ArrivedItem::read(&[1, 2, 3]), None, "half a clock");
    }

    #[test]
    fn ways_come_back_and_hostile_ones_do_not() {
        for n in 0..=4 {
            let paths = (0..n).map(|i| 0x8000 + i);
            assert_eq!(
                decode_return_paths(&encode_return_paths(paths.clone())).expect("paths")[..],
                paths.collect::<Vec<_>>()
            );
        }
        assert_eq!(encode_return_paths(0..9).len(), 8);
        assert_eq!((decode_return_paths(&[1]), decode_return_paths(&[0; 10])), (None, None));
    }
}
