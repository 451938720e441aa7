//! Counters of the TCP agents.

use core::time::Duration;

/// Counters of the sender of one subflow.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SubflowStats {
    /// Number of segments with data that were sent, including retransmissions.
    pub segments_sent: u64,
    /// Number of bytes of data in these segments.
    pub bytes_sent: u64,
    /// Number of retransmissions in fast recovery.
    pub fast_retransmissions: u64,
    /// Number of retransmissions after a timeout.
    pub timeout_retransmissions: u64,
    /// Number of fast recoveries.
    pub fast_recoveries: u64,
    /// Number of expirations of the retransmission timer.
    pub timeouts: u64,
    /// Number of timeouts that follow progress. Timeouts that follow progress are the beginnings of Padhye's sequences
    /// of timeouts.
    pub first_timeouts: u64,
    /// Sum of the retransmission timeouts at `first_timeouts`. Divided by their number, it is Padhye's T0.
    pub first_timeout_total: Duration,
    /// Number of bytes acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Number of segments that were sent on this subflow because another subflow seemed to have lost or blocked them.
    pub reinjections: u64,
    /// Number of segments that were sent on this subflow because the scheduler sends them on several subflows.
    pub copies: u64,
    /// Number of reinjections that were sent because the segments blocked the receive window on a slower subflow.
    pub opportunistic: u64,
    /// Number of cuts of the window because the subflow blocked the receive window.
    pub penalties: u64,
}

impl SubflowStats {
    /// Returns the number of loss indications by Padhye's count: fast recoveries, and sequences of timeouts.
    pub fn loss_events(&self) -> u64 {
        self.fast_recoveries + self.first_timeouts
    }

    /// Returns the mean of the first retransmission timeouts (Padhye's T0).
    pub fn mean_first_timeout(&self) -> Option<Duration> {
        let n = u32::try_from(self.first_timeouts).ok().filter(|n| *n > 0)?;
        Some(self.first_timeout_total / n)
    }
}

/// Times for which each limit prevented a sender from sending more.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Time for which the application had no data to send.
    pub application: Duration,
    /// Time for which the congestion windows were full.
    pub congestion_window: Duration,
    /// Time for which the receive window was full.
    pub receive_window: Duration,
    /// Time for which the scheduler used none of the subflows that had room.
    pub scheduler: Duration,
}

/// Counters of the receiver of one subflow.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Number of segments with data that arrived.
    pub segments: u64,
    /// Number of segments whose data had arrived on this subflow before. Segments with data that had arrived are
    /// spurious retransmissions, or copies made by the network.
    pub duplicates: u64,
    /// Number of segments that arrived beyond a gap.
    pub out_of_order: u64,
    /// Number of acknowledgements sent.
    pub acks: u64,
    /// Number of damaged segments, which are dropped.
    pub damaged: u64,
}
