//! Send times of a paced input.

use core::time::Duration;

use crate::MediaTime;

/// Converts the times of a pacer to the clock of the caller.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Time of the stream's first packet; `None` for a live input before that packet.
    origin: Option<MediaTime>,
    /// Maximum lateness at which a live input keeps its schedule. `None` for a stored input, which always keeps its
    /// schedule.
    tolerance: Option<Duration>,
    /// Send time of the last packet. Before the first packet, the time at which a stored input begins.
    last: MediaTime,
}

impl Schedule {
    /// Schedule of a stored input. It begins at `origin`, independent of the time of reading.
    pub(super) fn stored(origin: MediaTime) -> Self {
        Schedule { origin: Some(origin), tolerance: None, last: origin }
    }

    /// Schedule of a live input, which begins with its first packet.
    pub(super) fn live(tolerance: Duration) -> Self {
        Schedule { origin: None, tolerance: Some(tolerance), last: MediaTime::ZERO }
    }

    /// Returns whether the input is live.
    pub(super) fn is_live(&self) -> bool {
        self.tolerance.is_some()
    }

    /// Send time of a packet that is `at` after the first one and was read at `now`.
    ///
    /// A packet of a live input cannot be sent before it arrives. A packet that is late by at most the tolerance is
    /// sent at once, and the schedule does not change. Jitter therefore does not increase the delay of later packets.
    /// If a packet is later than that, the input has paused, or its clock is slow. The schedule then continues from
    /// this packet, because catching up would cause a burst.
    pub(super) fn send_at(&mut self, now: MediaTime, at: Duration) -> MediaTime {
        let origin = self.origin.get_or_insert(now);
        let due = *origin + at;
        self.last = match self.tolerance {
            None => due,
            Some(tolerance) => {
                let late = now - due;
                if late > tolerance {
                    *origin = *origin + late;
                }
                due.max(now)
            }
        };
        self.last
    }

    /// Time of the stream's end, after the last packet was read at `now`.
    pub(super) fn end(&self, now: MediaTime) -> MediaTime {
        if self.is_live() { self.last.max(now) } else { self.last }
    }
}
