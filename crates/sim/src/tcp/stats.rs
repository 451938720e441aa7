//! Counters of the agents.

use core::time::Duration;

/// Counters of one subflow's sender.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SubflowStats {
    /// Segments with data, retransmissions included.
    pub segments_sent: u64,
    /// Bytes of data in the segments.
    pub bytes_sent: u64,
    /// Retransmissions in fast recovery.
    pub fast_retransmissions: u64,
    /// Retransmissions after a timeout.
    pub timeout_retransmissions: u64,
    /// Number of fast recoveries.
    pub fast_recoveries: u64,
    /// Number of expirations of the retransmission timer.
    pub timeouts: u64,
    /// Timeouts that follow progress: the beginnings of Padhye's timeout sequences.
    pub first_timeouts: u64,
    /// Sum of the retransmission timeouts of `first_timeouts`; divided by their number, Padhye's T0.
    pub first_timeout_total: Duration,
    /// Bytes acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Segments of the connection sent here because another subflow seemed to have lost or blocked them.
    pub reinjections: u64,
    /// Segments of the connection sent here because the scheduler sends them on several subflows.
    pub copies: u64,
    /// Number of reinjections sent because the segments blocked the receive window on a slower subflow.
    pub opportunistic: u64,
    /// Number of window cuts because the subflow blocked the receive window.
    pub penalties: u64,
}

impl SubflowStats {
    /// Number of loss indications as Padhye counts them: fast recoveries, and sequences of timeouts.
    pub fn loss_events(&self) -> u64 {
        self.fast_recoveries + self.first_timeouts
    }

    /// Mean first retransmission timeout (Padhye's T0).
    pub fn mean_first_timeout(&self) -> Option<Duration> {
        let n = u32::try_from(self.first_timeouts).ok().filter(|n| *n > 0)?;
        Some(self.first_timeout_total / n)
    }
}

/// Time for which each limit kept a sender from sending more.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The application had nothing to send.
    pub application: Duration,
    /// The congestion windows were full.
    pub congestion_window: Duration,
    /// The receive window was full.
    pub receive_window: Duration,
    /// The scheduler used no subflow that had room.
    pub scheduler: Duration,
}

/// Counters of one subflow's receiver.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments with data.
    pub segments: u64,
    /// Number of segments with data that had arrived on this subflow before: spurious retransmissions, or copies made
    /// by the network.
    pub duplicates: u64,
    /// Number of segments beyond a gap.
    pub out_of_order: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// Damaged segments, which are dropped.
    pub damaged: u64,
}
