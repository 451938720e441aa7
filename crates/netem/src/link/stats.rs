//! What a link has done.

use core::ops::AddAssign;

use strandcast_proto::time::Duration;

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

/// Statistics of one direction from its start to a moment. What went in or was duplicated is delivered, dropped for
/// one of four reasons, or still under way. What happened between two moments is the difference of their statistics.
///
/// On a wireless link transmissions are frames: `served` and `repeated` count them, `repeated` and `dropped_loss` those in
/// error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Given to the link.
    pub offered: Count,
    /// Left the transmitter with their last bit, whatever became of them then.
    pub served: Count,
    /// Sent again by the link itself, each time counting; counted when the packet leaves the transmitter for good.
    pub repeated: Count,
    /// Came out at the other end, and were fetched.
    pub delivered: Count,
    /// Found the queue full.
    pub dropped_queue: Count,
    /// Lost at random behind the transmitter.
    pub dropped_loss: Count,
    /// Reached the end during a black hole.
    pub dropped_black_hole: Count,
    /// Refused by a link that was down, or inside it when it went down.
    pub dropped_down: Count,
    /// Copies made; counted when the packet enters the link.
    pub duplicated: Count,
    /// Packets and copies damaged; counted when the packet enters the link.
    pub corrupted: Count,
    /// Packets and copies that are held up to arrive out of order, or that overtake an earlier packet; counted when the packet
    /// enters the link.
    pub reordered: Count,
    /// The most packets that ever waited, besides the one in the transmitter.
    pub max_queue: usize,
    /// For how long the transmitter has had a packet, also one it could not send at a rate of 0 or for want of an
    /// opportunity.
    pub busy_time: Duration,
    /// For how long packets have waited for the transmitter, all together: the integral over time of how many waited,
    /// besides the one in the transmitter. Divided by a time it is their mean number.
    pub queue_time: Duration,
}
