//! Layout of TCP segments.

use strandcast_netem::link::Payload;
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use super::Config;

/// A segment: data from a sender, or an acknowledgement from a receiver. Sequence numbers are byte offsets from the
/// first byte of data. The sequence numbers do not wrap around.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Segment {
    /// Subflow of the connection. The subflow number is 0 for plain TCP.
    pub subflow: u8,
    /// First byte of data in the subflow's sequence space.
    pub seq: u64,
    /// Number of bytes of data.
    pub len: u32,
    /// Next byte that the receiver expects on this subflow. The next byte is `None` in segments from a sender.
    pub ack: Option<u64>,
    /// Number of bytes that the receiver accepts beyond `data_ack`. For plain TCP, `data_ack` equals `ack`.
    pub window: u64,
    /// Blocks of data that were received out of order (RFC 2018).
    pub sack: SackBlocks,
    /// First byte of data in the connection's sequence space. The first byte equals `seq` for plain TCP.
    pub data_seq: u64,
    /// Next byte of the connection that the receiver expects (RFC 8684 §3.3.2).
    pub data_ack: u64,
    /// True if the segment opens the subflow.
    pub syn: bool,
    /// True if the data were already sent on this subflow before.
    pub retransmission: bool,
    /// Time at which the segment was sent. The time is the TSval of the timestamps option, if that option is used, and
    /// the basis of measured delays.
    pub sent: Instant,
    /// TSecr of the timestamps option (RFC 7323 §4).
    pub echo: Option<Instant>,
    /// True if the packet was damaged in transit. A damaged packet then fails its checksum.
    pub damaged: bool,
}

impl Segment {
    /// Returns the bytes at IP level: header, options and data.
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

/// Up to four blocks of the SACK option. The block that changed last comes first (RFC 2018 §4).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    /// Distance of each block's first byte from the segment's `ack`, and the length of each block.
    blocks: [(u32, u32); SackBlocks::MOST],
    count: u8,
}

impl SackBlocks {
    /// Maximum number of blocks.
    pub const MOST: usize = 4;

    /// Adds the block of bytes `start..end` to a segment that acknowledges `ack` cumulatively. A block is omitted if it
    /// is too far from `ack`, or if there are already four. A receiver may always omit blocks.
    pub fn push(&mut self, ack: u64, start: u64, end: u64) {
        let block = (start.checked_sub(ack).map(u32::try_from), end.checked_sub(start).map(u32::try_from));
        if let (Some(Ok(offset)), Some(Ok(len))) = block
            && let Some(slot) = self.blocks.get_mut(usize::from(self.count))
        {
            *slot = (offset, len);
            self.count += 1;
        }
    }

    /// Returns the blocks as `(start, end)`, for a segment that acknowledges `ack` cumulatively.
    pub fn iter(&self, ack: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = &self.blocks[..self.len()];
        blocks.iter().map(move |&(offset, len)| {
            let start = ack + u64::from(offset);
            (start, start + u64::from(len))
        })
    }

    /// Returns the number of blocks.
    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
