//! Diagnosis of runs of late messages. The *difference* of a message is the time of its arrival less the time at which
//! it was sent, each by the clock of its own side. All values are in nanoseconds.

/// Minimum duration of a run of late messages before it is evaluated. The latency replaces it if it is longer.
const LOOK: i64 = 1_000_000_000;
/// Congestion is tolerated for this long, or for the latency if that is longer, before playout shifts.
const TOLERATED: i64 = 10_000_000_000;
/// Greatest gap between two messages that counts. A longer gap counts as this long, because an outage is not a run of
/// late messages.
const GAP: i64 = 250_000_000;
/// Maximum increase of a delay in one step. A larger increase means that the sender's clock stood still.
const STILL: i64 = 5_000_000_000;
/// Jitter of a steady delay, regardless of the latency.
const JITTER: i64 = 50_000_000;

/// The cause of a run of late messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Unknown cause: congestion, or a backlog from an outage.
    Unclear,
    /// The delay has become longer. The value is the minimum difference.
    LongerDelay(i64),
    /// The sender's clock stood still for this time.
    StoodStill(i64),
    /// Persistent congestion. The value is the maximum difference of the last second or two.
    Congestion(i64),
}

/// A run of late messages. No message between them was in time.
#[derive(Debug)]
pub(super) struct LateRun {
    /// Difference of the last message that was in time. `step` is the increase from there to the difference of the
    /// first message of this run.
    in_time: i64,
    step: i64,
    /// Arrival of the last message, and duration of the run.
    at: i64,
    lasted: i64,
    /// Newest messages whose differences are nearly equal.
    steady: Steady,
    /// Maximum difference of the current second, start of that second, and maximum of the second before.
    worst: i64,
    worst_since: i64,
    worst_before: i64,
}

#[derive(Debug)]
struct Steady {
    first: i64,
    least: i64,
    greatest: i64,
    lasted: i64,
}

impl Steady {
    fn new(difference: i64) -> Self {
        Steady { first: difference, least: difference, greatest: difference, lasted: 0 }
    }
}

impl LateRun {
    /// Starts a run with this difference. `in_time` is the difference of the last message that was in time.
    pub(super) fn new(now: i64, in_time: i64, difference: i64) -> Self {
        LateRun {
            in_time,
            step: difference.saturating_sub(in_time),
            at: now,
            lasted: 0,
            steady: Steady::new(difference),
            worst: difference,
            worst_since: now,
            worst_before: difference,
        }
    }

    /// Adds a late message.
    pub(super) fn add(&mut self, now: i64, difference: i64, offset: i64, latency: i64) -> Verdict {
        let elapsed = (now - self.at).clamp(0, GAP);
        self.at = now;
        self.lasted += elapsed;
        self.add_worst(now, difference);
        let jitter = (latency / 2).max(JITTER);
        let steady = &mut self.steady;
        let (least, greatest) = (steady.least.min(difference), steady.greatest.max(difference));
        if greatest.saturating_sub(least) > jitter {
            *steady = Steady::new(difference);
        } else {
            (steady.least, steady.greatest) = (least, greatest);
            steady.lasted += elapsed;
        }
        let rise = steady.least.saturating_sub(offset);
        // A filling queue makes each message a little later than the one before. If the path's delay increases, or the
        // sender's clock stands still, one message is much later, and the following messages stay at that level.
        // Falling differences mean a draining queue.
        let sudden = self.step >= rise / 4 * 3;
        let falling = steady.first.saturating_sub(difference) > jitter / 2;
        if sudden && !falling && steady.lasted >= latency.max(LOOK) {
            let least = steady.least;
            return match rise > STILL {
                true => Verdict::StoodStill(least.saturating_sub(self.in_time)),
                false => Verdict::LongerDelay(least),
            };
        }
        match self.lasted >= latency.max(TOLERATED) {
            true => Verdict::Congestion(self.worst.max(self.worst_before)),
            false => Verdict::Unclear,
        }
    }

    fn add_worst(&mut self, now: i64, difference: i64) {
        if now - self.worst_since >= LOOK {
            self.worst_before = self.worst;
            (self.worst, self.worst_since) = (difference, now);
        }
        self.worst = self.worst.max(difference);
    }
}
