//! Counters of each station.

use core::time::Duration;

use crate::frame::FrameKind;

/// Counters of a station since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// RTS transmitted.
    pub rts: u64,
    /// CTS transmitted.
    pub cts: u64,
    /// Data frames transmitted to one station.
    pub data: u64,
    /// ACKs transmitted.
    pub acks: u64,
    /// Data frames transmitted to all stations.
    pub broadcasts: u64,
    /// Number of RTS without a CTS, and of data frames without an ACK.
    pub retries: u64,
    /// Packets abandoned after the last attempt.
    pub failures: u64,
    /// Packets dropped by the interface queue.
    pub queue_drops: u64,
    /// Packets received, without duplicates.
    pub received: u64,
    /// Data frames received again.
    pub duplicates: u64,
    /// Frames for this station, or for all stations, that were strong enough but were disturbed by another frame.
    pub collided: u64,
    /// Time spent transmitting.
    pub transmit_time: Duration,
    /// Time without transmission, reception, carrier, NAV or an exchange of this station.
    pub idle_time: Duration,
    /// Remaining time, in which the station neither transmitted nor was idle.
    pub busy_time: Duration,
}

impl Counters {
    /// Counter of transmitted frames of a kind.
    pub(crate) fn sent(&mut self, kind: FrameKind) -> &mut u64 {
        match kind {
            FrameKind::Rts => &mut self.rts,
            FrameKind::Cts => &mut self.cts,
            FrameKind::Data => &mut self.data,
            FrameKind::Ack => &mut self.acks,
            FrameKind::Broadcast => &mut self.broadcasts,
        }
    }

    /// Number of frames transmitted.
    pub fn frames(&self) -> u64 {
        self.rts + self.cts + self.data + self.acks + self.broadcasts
    }
}
