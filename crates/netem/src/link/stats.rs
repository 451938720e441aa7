//! Statistics of a link.

use core::ops::AddAssign;

use strandcast_proto::time::Duration;

/// Packets and their bytes at IP level, as given by the caller.
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

/// Statistics of one direction from its start to a given time. Every offered or duplicated packet is
/// delivered, dropped for one of four reasons, or still under way. The difference of two statistics describes
/// the time between them.
///
/// Transmissions on a wireless link are frames. `served` and `repeated` together count all frames, and `repeated` and
/// `dropped_loss` count the frames in error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets given to the link.
    pub offered: Count,
    /// Packets whose last bit left the transmitter, whether or not they were lost later.
    pub served: Count,
    /// Retransmissions by the link, counted when the packet leaves the transmitter for the last time.
    pub repeated: Count,
    /// Packets that reached the other end and were polled.
    pub delivered: Count,
    /// Packets that arrived at a full queue, or that a queue's management or a policer dropped.
    pub dropped_queue: Count,
    /// Packets lost at random after the transmitter.
    pub dropped_loss: Count,
    /// Packets that reached the end during a black hole.
    pub dropped_black_hole: Count,
    /// Packets rejected by a link that was down, or inside it when it went down.
    pub dropped_down: Count,
    /// Copies made; counted when the packet enters the link.
    pub duplicated: Count,
    /// Packets and copies damaged; counted when the packet enters the link.
    pub corrupted: Count,
    /// Packets and copies that were delayed to arrive out of order, or that overtake an earlier packet;
    /// counted when the packet enters the link.
    pub reordered: Count,
    /// Maximum number of waiting packets, without the one in the transmitter.
    pub max_queue: usize,
    /// Time for which the transmitter had a packet, including times at which it could not send because its
    /// rate was 0 or because it waited for an opportunity.
    pub busy_time: Duration,
    /// Total time for which packets waited for the transmitter: the integral over time of the number of waiting
    /// packets, without the one in the transmitter. This time divided by a duration is the mean number of waiting
    /// packets.
    pub queue_time: Duration,
}
