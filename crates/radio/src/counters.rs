//! Counters of each station.

use core::time::Duration;

use crate::frame::FrameKind;

/// Counters of a station since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of RTS frames transmitted.
    pub rts: u64,
    /// Number of CTS frames transmitted.
    pub cts: u64,
    /// Number of data frames transmitted to one station.
    pub data: u64,
    /// Number of ACK frames transmitted.
    pub acks: u64,
    /// Number of data frames transmitted to all stations.
    pub broadcasts: u64,
    /// Number of RTS frames that no CTS answered, and of data frames that no ACK answered.
    pub retries: u64,
    /// Number of packets abandoned after the last attempt.
    pub failures: u64,
    /// Number of packets dropped by the interface queue.
    pub queue_drops: u64,
    /// Number of packets received, without duplicates.
    pub received: u64,
    /// Number of data frames that were received again.
    pub duplicates: u64,
    /// Number of frames for this station, or for all stations, that were strong enough to be decoded but were disturbed
    /// by another frame.
    pub collided: u64,
    /// Time for which the station transmitted.
    pub transmit_time: Duration,
    /// Time without a transmission, a reception, a carrier, a NAV, or an exchange of frames by this station.
    pub idle_time: Duration,
    /// Remaining time, in which the station was neither transmitting nor idle.
    pub busy_time: Duration,
}

impl Counters {
    /// Returns the counter of transmitted frames of one kind.
    pub(crate) fn sent(&mut self, kind: FrameKind) -> &mut u64 {
        match kind {
            FrameKind::Rts => &mut self.rts,
            FrameKind::Cts => &mut self.cts,
            FrameKind::Data => &mut self.data,
            FrameKind::Ack => &mut self.acks,
            FrameKind::Broadcast => &mut self.broadcasts,
        }
    }

    /// Returns the number of frames transmitted.
    pub fn frames(&self) -> u64 {
        self.rts + self.cts + self.data + self.acks + self.broadcasts
    }
}
