//! What is counted at each station.

use core::time::Duration;

use crate::frame::FrameKind;

/// What a station has done and met since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// RTS transmitted.
    pub rts: u64,
    /// CTS transmitted.
    pub cts: u64,
    /// Data frames transmitted, those for all aside.
    pub data: u64,
    /// ACKs transmitted.
    pub acks: u64,
    /// Data frames for all transmitted.
    pub broadcasts: u64,
    /// RTS that no CTS answered and data frames that no ACK answered.
    pub retries: u64,
    /// Packets given up after the last attempt.
    pub failures: u64,
    /// Packets that the interface queue dropped.
    pub queue_drops: u64,
    /// Packets received, duplicates aside.
    pub received: u64,
    /// Data frames received once more.
    pub duplicates: u64,
    /// Frames for this station, or for all, that were strong enough and were lost to another frame.
    pub collided: u64,
    /// Time of transmitting.
    pub transmit_time: Duration,
    /// Time without transmission, reception, carrier, NAV and exchange of its own.
    pub idle_time: Duration,
    /// The rest of the time.
    pub busy_time: Duration,
}

impl Counters {
    /// Frames of a kind transmitted.
    pub(crate) fn sent(&mut self, kind: FrameKind) -> &mut u64 {
        match kind {
            FrameKind::Rts => &mut self.rts,
            FrameKind::Cts => &mut self.cts,
            FrameKind::Data => &mut self.data,
            FrameKind::Ack => &mut self.acks,
            FrameKind::Broadcast => &mut self.broadcasts,
        }
    }

    /// Frames transmitted.
    pub fn frames(&self) -> u64 {
        self.rts + self.cts + self.data + self.acks + self.broadcasts
    }
}
