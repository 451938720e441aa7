//! What a link has done.

use core::ops::AddAssign;

/// Packets and their bytes at IP level, as the caller gave them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Count {
    pub(super) fn add(&mut self, len: usize) {
        *self += Count { packets: 1, bytes: len as u64 };
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// Statistics of one direction since its start. What went in or was duplicated is delivered, dropped for one of four
/// reasons, or still under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Given to the link.
    pub offered: Count,
    /// Came out at the other end.
    pub delivered: Count,
    /// Found the queue full.
    pub dropped_queue: Count,
    /// Lost at random; counted when the packet enters the link.
    pub dropped_loss: Count,
    /// Reached the end during a black hole.
    pub dropped_black_hole: Count,
    /// Refused by a link that was down, or inside it when it went down.
    pub dropped_down: Count,
    /// Copies made.
    pub duplicated: Count,
    /// Packets and copies damaged.
    pub corrupted: Count,
    /// Packets and copies held up to arrive out of order.
    pub reordered: Count,
    /// The most packets that ever waited.
    pub max_queue: usize,
}
