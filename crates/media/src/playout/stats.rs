//! Statistics of a playout.

use core::time::Duration;

use super::shift::ClockChange;

/// Counts over all sessions of a [`Playout`](super::Playout).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PlayoutStats {
    /// Number of data messages that were played, each at its time.
    pub played: u64,
    /// Bytes of transport packets in the played messages.
    pub played_bytes: u64,
    /// Messages that arrived after their due time and were dropped.
    pub late: u64,
    /// Messages that had not arrived by their turn and have not arrived since. A message that still arrives
    /// moves to `late`.
    pub lost: u64,
    /// Messages that were sent before the first one that arrived, because this receiver joined a running stream. Such
    /// messages are neither late nor lost.
    pub before: u64,
    /// Duplicates, and messages that arrived too late to be recognised as missing.
    pub duplicates: u64,
    /// Messages dropped because the buffer was full. Such a message also counts as lost after its turn.
    pub overflows: u64,
    /// Messages of a session that had been replaced or had ended.
    pub stale: u64,
    /// Messages that were dropped because they arrived more than a second earlier than possible.
    pub implausible: u64,
    /// Gaps in playout.
    pub gaps: u64,
    /// Gaps that began with an empty buffer.
    pub underflows: u64,
    /// Total duration of all gaps.
    pub gap_time: Duration,
    /// Duration of the longest gap.
    pub longest_gap: Duration,
    /// Lateness of the latest message.
    pub largest_lateness: Duration,
    /// Playing time including gaps. It lasts from the due time of the first message to the due time of the last one, or
    /// to the end of the stream.
    pub play_time: Duration,
    /// Number of sessions after the first.
    pub restarts: u64,
    /// Jumps of the sender's clock.
    pub clock_jumps: u64,
    /// Shifts of playout beyond the configured latency.
    pub shifts: u64,
    /// The current shift.
    pub shift: Duration,
    /// The largest shift.
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

    /// Fraction of the playing time without gaps, 0 to 1.
    pub fn continuity(&self) -> f64 {
        crate::quality::playout_continuity(self.play_time, self.gap_time)
    }
}
