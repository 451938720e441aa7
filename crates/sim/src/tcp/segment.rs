//! TCP segments on the wire.

use strandcast_netem::link::Payload;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use super::Config;

/// A segment: data of a sender, or an acknowledgement of a receiver. Sequence numbers are byte offsets from the first
/// byte of data and do not wrap.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Segment {
    /// Subflow of the connection; 0 for plain TCP.
    pub subflow: u8,
    /// First byte of data in the subflow's sequence space.
    pub seq: u64,
    /// Bytes of data.
    pub len: u32,
    /// Next byte that the receiver expects on this subflow; `None` in segments of a sender.
    pub ack: Option<u64>,
    /// Bytes that the receiver accepts beyond `data_ack` (equal to `ack` for plain TCP).
    pub window: u64,
    /// Data received out of order (RFC 2018).
    pub sack: SackBlocks,
    /// First byte of data in the connection's sequence space; equal to `seq` for plain TCP.
    pub data_seq: u64,
    /// Next byte that the receiver expects of the connection (RFC 8684 §3.3.2).
    pub data_ack: u64,
    /// True if the segment opens the subflow.
    pub syn: bool,
    /// True if the data were sent before on this subflow.
    pub retransmission: bool,
    /// Departure time: TSval of the timestamp option, if it is in use, and the basis of measured delays.
    pub sent: Instant,
    /// The timestamp option's TSecr (RFC 7323 §4).
    pub echo: Option<Instant>,
    /// True if the packet was damaged in transit and fails its checksum.
    pub damaged: bool,
}

impl Segment {
    /// Bytes at IP level: header, options and data.
    pub fn wire_len(&self, config: &Config) -> u32 {
        let mut len = config.header + self.len;
        if config.timestamps {
            len += config.timestamp_bytes;
        }
        if self.syn {
            return len;
        }
        match self.ack {
            Some(_) if config.multipath => len += config.data_ack_bytes,
            None if config.multipath => len += config.mapping_bytes,
            _ => {}
        }
        if !self.sack.is_empty() && config.sack_block_bytes > 0 {
            len += config.sack_header_bytes + config.sack_block_bytes * self.sack.len() as u32;
        }
        len
    }
}

impl Payload for Segment {
    fn corrupt(&mut self, _: &mut Random) {
        self.damaged = true;
    }
}

/// Up to four blocks of the SACK option, most recently changed one first (RFC 2018 §4).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// Distance of a block's first byte from the segment's `ack`, and the block's length.
    blocks: [(u32, u32); SackBlocks::MOST],
    count: u8,
}

impl SackBlocks {
    /// Maximum number of blocks.
    pub const MOST: usize = 4;

    /// Adds the block of bytes `start..end` of a segment that acknowledges `ack` cumulatively. A block too
    /// far from `ack`, or beyond the maximum number, is left out, as a receiver always may.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let block = (start.checked_sub(ack).map(u32::try_from), end.checked_sub(start).map(u32::try_from));
        if let (Some(Ok(offset)), Some(Ok(len))) = block
            && let Some(slot) = self.blocks.get_mut(usize::from(self.count))
        {
            *slot = (offset, len);
            self.count += 1;
        }
    }

    /// The blocks as `(start, end)` of a segment that acknowledges `ack` cumulatively.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = &self.blocks[..self.len()];
        blocks.iter().map(move |&(offset, len)| {
            let start = ack + u64::from(offset);
            (start, start + u64::from(len))
        })
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
