//! SACK: [RFC 9260 §3.3.4](https://www.rfc-editor.org/rfc/rfc9260.html#section-3.3.4).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |   Type = 3    |  Chunk Flags  |         Chunk Length          |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                      Cumulative TSN Ack                       |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Advertised Receiver Window Credit (a_rwnd)           |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! | Number of Gap Ack Blocks = N  |  Number of Duplicate TSNs = M |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |    Gap Ack Block #1 Start     |     Gap Ack Block #1 End      |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                              ...                              \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |                        Duplicate TSN 1                        |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! \                              ...                              \
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```

use bytes::Bytes;

use super::{ChunkDecode, ChunkEncode, HEADER_LEN};
use crate::wire::cursor::Cursor;
use crate::wire::{ParseError, Tsn};
use crate::work;

/// Chunk Type of SACK.
pub const TYPE: u8 = 3;

/// Number of bytes of the chunk's value before its lists.
const FIXED_LEN: usize = 12;
/// Number of bytes of a gap ack block, and of a duplicate TSN.
const ENTRY_LEN: usize = 4;

/// The fields of a SACK before its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackHeader {
    /// Cumulative TSN: the last TSN before the first gap.
    pub cumulative_tsn_ack: Tsn,
    /// Number of free bytes in the receiver's buffer (a_rwnd).
    pub a_rwnd: u32,
    /// Value of the Chunk Flags field. The flags are 0, except between two endpoints that agreed on counts of delayed
    /// acknowledgements (DAC).
    pub flags: u8,
}

impl SackHeader {
    /// Returns the bytes that a SACK with lists of these lengths occupies in a packet.
    pub const fn encoded_len(gap_blocks: usize, duplicates: usize) -> usize {
        HEADER_LEN + FIXED_LEN + ENTRY_LEN * (gap_blocks + duplicates)
    }
}

/// A gap ack block: TSNs that arrived beyond the cumulative TSN. The block has their offsets from the cumulative TSN,
/// and includes both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapBlock {
    /// Offset of the block's first TSN.
    pub start: u16,
    /// Offset of the block's last TSN. In an invalid block this offset is smaller than `start`, which the reader
    /// checks.
    pub end: u16,
}

/// A SACK chunk. The lists of a SACK are slices of the datagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sack {
    /// Fields before the lists.
    pub header: SackHeader,
    gap_block_count: u16,
    lists: Bytes,
}

impl Sack {
    /// Creates a SACK that has its own memory. [`PacketWriter::sack`](crate::wire::PacketWriter::sack) needs no such
    /// memory.
    ///
    /// # Panics
    /// Panics if there are more than 65535 gap ack blocks.
    pub fn new(header: SackHeader, gap_blocks: &[GapBlock], duplicates: &[Tsn]) -> Self {
        let gap_block_count =
            u16::try_from(gap_blocks.len()).expect("a SACK counts its gap blocks in 16 bits");
        let mut lists = Vec::with_capacity(ENTRY_LEN * (gap_blocks.len() + duplicates.len()));
        write_lists(&mut lists, gap_blocks, duplicates);
        Self { header, gap_block_count, lists: lists.into() }
    }

    /// Returns the gap ack blocks in the order of the sender of the SACK.
    pub fn gap_blocks(&self) -> impl DoubleEndedIterator<Item = GapBlock> + ExactSizeIterator + '_ {
        self.entries(0, self.gaps_end()).iter().map(|&[s0, s1, e0, e1]| GapBlock {
            start: u16::from_be_bytes([s0, s1]),
            end: u16::from_be_bytes([e0, e1]),
        })
    }

    /// Returns the gap ack blocks up to the first invalid one. A block is invalid if it is empty or does not lie beyond
    /// the previous block. A receiver lists blocks in ascending order without overlap. All blocks from the first
    /// invalid one on are therefore invalid. Adjacent blocks are valid.
    pub fn ordered_gap_blocks(&self) -> impl Iterator<Item = GapBlock> + '_ {
        let mut last = 0;
        self.gap_blocks().take_while(move |b| {
            let ordered = last < b.start && b.start <= b.end;
            last = b.end;
            work::count(ENTRY_LEN);
            ordered
        })
    }

    /// Replaces the content of `into` by the blocks of [`Sack::ordered_gap_blocks`].
    pub(crate) fn read_ordered_gap_blocks(&self, into: &mut Vec<GapBlock>) {
        into.clear();
        // All at once: a list without end grows step by step.
        into.reserve(self.gap_blocks().len());
        self.ordered_gap_blocks().for_each(|block| into.push(block));
    }

    /// Returns the TSNs that arrived again. A TSN is listed once for each such arrival.
    pub fn duplicates(&self) -> impl DoubleEndedIterator<Item = Tsn> + ExactSizeIterator + '_ {
        let entries = self.entries(self.gaps_end(), self.lists.len());
        entries.iter().inspect(|_| work::count(ENTRY_LEN)).map(|&tsn| Tsn(u32::from_be_bytes(tsn)))
    }

    fn gaps_end(&self) -> usize {
        ENTRY_LEN * usize::from(self.gap_block_count)
    }

    fn entries(&self, start: usize, end: usize) -> &[[u8; ENTRY_LEN]] {
        self.lists[start..end].as_chunks().0
    }
}

impl ChunkDecode for Sack {
    const TYPE: u8 = TYPE;

    fn parse(flags: u8, mut body: Cursor<'_>) -> Result<Self, ParseError> {
        let header = SackHeader { cumulative_tsn_ack: Tsn(body.u32()?), a_rwnd: body.u32()?, flags };
        let gap_block_count = body.u16()?;
        let duplicate_count = body.u16()?;
        let lists_len = ENTRY_LEN * (usize::from(gap_block_count) + usize::from(duplicate_count));
        let lists = body.take(lists_len)?.rest();
        body.finish()?;
        Ok(Self { header, gap_block_count, lists })
    }
}

impl ChunkEncode for Sack {
    fn chunk_type(&self) -> u8 {
        TYPE
    }

    fn flags(&self) -> u8 {
        self.header.flags
    }

    fn body_len(&self) -> usize {
        FIXED_LEN + self.lists.len()
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        write_fixed(out, &self.header, self.gap_block_count, self.duplicates().len() as u16);
        out.extend_from_slice(&self.lists);
    }
}

/// Appends a SACK's value directly from its fields and lists.
pub(in crate::wire) fn write_body(
    out: &mut Vec<u8>,
    header: &SackHeader,
    gap_blocks: &[GapBlock],
    duplicates: &[Tsn],
) {
    write_fixed(out, header, gap_blocks.len() as u16, duplicates.len() as u16);
    write_lists(out, gap_blocks, duplicates);
}

/// Writes the fields before the lists. In a chunk that is short enough to be sent, the lengths of the lists fit 16
/// bits.
fn write_fixed(out: &mut Vec<u8>, header: &SackHeader, gap_blocks: u16, duplicates: u16) {
    let mut fixed = [0; FIXED_LEN];
    fixed[0..4].copy_from_slice(&header.cumulative_tsn_ack.0.to_be_bytes());
    fixed[4..8].copy_from_slice(&header.a_rwnd.to_be_bytes());
    fixed[8..10].copy_from_slice(&gap_blocks.to_be_bytes());
    fixed[10..12].copy_from_slice(&duplicates.to_be_bytes());
    out.extend_from_slice(&fixed);
}

fn write_lists(out: &mut Vec<u8>, gap_blocks: &[GapBlock], duplicates: &[Tsn]) {
    let start = out.len();
    out.resize(start + ENTRY_LEN * (gap_blocks.len() + duplicates.len()), 0);
    let (entries, _) = out[start..].as_chunks_mut::<ENTRY_LEN>();
    let (blocks, tsns) = entries.split_at_mut(gap_blocks.len());
    for (entry, block) in blocks.iter_mut().zip(gap_blocks) {
        let [[s0, s1], [e0, e1]] = [block.start.to_be_bytes(), block.end.to_be_bytes()];
        *entry = [s0, s1, e0, e1];
    }
    for (entry, tsn) in tsns.iter_mut().zip(duplicates) {
        *entry = tsn.0.to_be_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::testing::{check, parse};

    const BYTES: [u8; 28] = [
        0x03, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x01, 0x24, 0xf8, 0x00, 0x02, 0x00, 0x01, 0x00,
        0x02, 0x00, 0x03, 0x00, 0x05, 0x00, 0x05, 0x00, 0x00, 0x00, 0x0a,
    ];
    const GAPS: [GapBlock; 2] = [GapBlock { start: 2, end: 3 }, GapBlock { start: 5, end: 5 }];

    /// The example of RFC 9260 §3.3.4: TSNs 10-12, 14-15 and 17 arrived. TSN 10 is also a duplicate.
    #[test]
    fn follows_the_layout() {
        let header = SackHeader { cumulative_tsn_ack: Tsn(12), a_rwnd: 75_000, flags: 0 };
        let sack = Sack::new(header, &GAPS, &[Tsn(10)]);
        assert_eq!(sack.gap_blocks().collect::<Vec<_>>(), GAPS);
        assert_eq!(sack.duplicates().collect::<Vec<_>>(), [Tsn(10)]);
        check(&BYTES, sack);
        assert_eq!(SackHeader::encoded_len(2, 1), BYTES.len());
    }

    #[test]
    fn the_list_of_gap_blocks_ends_at_the_first_out_of_order() {
        let ordered = |blocks: &[(u16, u16)]| {
            let blocks: Vec<_> = blocks.iter().map(|&(start, end)| GapBlock { start, end }).collect();
            Sack::new(SackHeader::default(), &blocks, &[]).ordered_gap_blocks().count()
        };
        assert_eq!(ordered(&[(2, 3), (5, 5), (6, 9), (u16::MAX, u16::MAX)]), 4, "5 and 6 touch");
        assert_eq!(ordered(&[(2, 4), (4, 6), (8, 9)]), 1, "overlapping");
        assert_eq!(ordered(&[(5, 6), (2, 3), (8, 9)]), 1, "descending");
        assert_eq!(ordered(&[(2, 3), (9, 8), (10, 11)]), 1, "empty");
        assert_eq!(ordered(&[(0, 3), (5, 6)]), 0, "the cumulative TSN is in no block");
    }

    #[test]
    fn counts_must_match_the_length() {
        let mut bytes = BYTES;
        bytes[13] = 3;
        assert_eq!(parse(&bytes), Err(ParseError::Truncated));
        bytes[13] = 1;
        assert_eq!(parse(&bytes), Err(ParseError::Excess));
        bytes[12..16].fill(0xff);
        assert_eq!(parse(&bytes), Err(ParseError::Truncated));
    }
}
