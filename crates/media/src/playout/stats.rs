//! What a playout counted.

use super::shift::ClockChange;
use core::time::Duration;

/// Counts over all sessions of a [`Playout`](super::Playout).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PlayoutStats {
    /// Data messages played, each at its time.
    pub played: u64,
    /// Bytes of transport packets in them.
    pub played_bytes: u64,
    /// Messages that arrived after they were due, and were dropped.
    pub late: u64,
    /// Messages whose turn passed without them and that have not arrived since. One that does moves to `late`.
    pub lost: u64,
    /// Messages that came again, or so late that they are no longer known to be missing.
    pub duplicates: u64,
    /// Messages dropped because the buffer was full. Each is also lost, once its turn passes.
    pub overflows: u64,
    /// Messages of a session that had been replaced or had ended.
    pub stale: u64,
    /// Messages dropped because their send time lies more than a second ahead of what can be.
    pub implausible: u64,
    /// Gaps in what was played.
    pub gaps: u64,
    /// Gaps that began with an empty buffer.
    pub underflows: u64,
    /// How long all gaps were.
    pub gap_time: Duration,
    /// How long the longest gap was.
    pub longest_gap: Duration,
    /// How long after it was due the latest message came.
    pub largest_lateness: Duration,
    /// Time played, gaps included: from the first message's due time to the last one's, or to the end of the stream.
    pub play_time: Duration,
    /// Sessions after the first.
    pub restarts: u64,
    /// Jumps of the sender's clock.
    pub clock_jumps: u64,
    /// Times that playing was moved to later than the latency asks for.
    pub shifts: u64,
    /// How much later than the latency asks for it is now.
    pub shift: Duration,
    /// The most that it was.
    pub largest_shift: Duration,
}

impl PlayoutStats {
    /// Counts a change of the clock.
    pub(super) fn count(&mut self, change: ClockChange) {
        match change {
            ClockChange::Jumped { .. } => self.clock_jumps += 1,
            ClockChange::Shifted { total, .. } => {
                self.shifts += 1;
                self.largest_shift = self.largest_shift.max(total);
            }
            ClockChange::Returned => {}
        }
    }

    /// The share of the time played that was without a gap, 0 to 1.
    pub fn continuity(&self) -> f64 {
        crate::quality::playout_continuity(self.play_time, self.gap_time)
    }
}
