//! Statistics of a link.

use core::ops::AddAssign;

use strandcast_proto::time::Duration;

/// Number of packets, and of their bytes at IP level. The caller gives these lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Number of bytes.
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

/// Statistics of one direction of a link, from its start to a given time. Every offered or duplicated packet is
/// delivered, dropped for one of four reasons, or still in transit. The difference between two statistics describes the
/// time between them.
///
/// On a wireless link, each transmission is a frame. The sum of `served` and `repeated` is the number of all frames.
/// The sum of `repeated` and `dropped_loss` is the number of frame errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets offered to the link.
    pub offered: Count,
    /// Packets whose last bit left the transmitter, including packets that were lost later.
    pub served: Count,
    /// Retransmissions by the link. Retransmissions are counted when their packet leaves the transmitter for the last
    /// time.
    pub repeated: Count,
    /// Packets that reached the other end and were polled.
    pub delivered: Count,
    /// Packets that arrived at a full queue, or that a managed queue or a policer dropped.
    pub dropped_queue: Count,
    /// Packets lost at random after the transmitter.
    pub dropped_loss: Count,
    /// Packets that reached the end of the link while it was a black hole.
    pub dropped_black_hole: Count,
    /// Packets dropped because the link was down, including packets that were inside when it went down.
    pub dropped_down: Count,
    /// Copies of packets. Copies are counted when the packet enters the link.
    pub duplicated: Count,
    /// Damaged packets and copies. Damaged packets are counted when the packet enters the link.
    pub corrupted: Count,
    /// Packets and copies that arrive out of order because of an extra delay, or that overtake an earlier packet.
    /// Packets that overtake or fall behind others are counted when they enter the link.
    pub reordered: Count,
    /// Maximum number of waiting packets, without the packet in the transmitter.
    pub max_queue: usize,
    /// Time for which the transmitter had a packet. The time includes times at which the packet could not be sent
    /// because the rate was 0 or no opportunity had come.
    pub busy_time: Duration,
    /// Total time for which packets waited for the transmitter. The total time is the integral over time of the number
    /// of waiting packets, without the packet in the transmitter. The total waiting time divided by a duration is the
    /// mean number of waiting packets in that duration.
    pub queue_time: Duration,
}
