//! What it means if nothing but late messages come. All values are nanoseconds.

/// Only late messages for this long, or for the latency if that is longer, are looked into.
const LOOK: i64 = 1_000_000_000;
/// Congestion is borne for this long, or for the latency if that is longer, before playing waits for it.
const PATIENCE: i64 = 10_000_000_000;
/// A longer gap between two messages counts as this long: in an outage nothing is late.
const GAP: i64 = 250_000_000;
/// No way becomes longer by more at one go: the sender's clock stood still.
const STILL: i64 = 5_000_000_000;
/// Jitter of a way that is steady, whatever the latency.
const JITTER: i64 = 50_000_000;

/// What a run of late messages comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// That remains to be seen: congestion, or what piled up in an outage.
    Unclear,
    /// The way has become longer: the least difference.
    LongerWay(i64),
    /// The sender's clock stood still for so long.
    StoodStill(i64),
    /// Congestion that does not end: the greatest difference of the last second or two.
    Congestion(i64),
}

/// Late messages without one in time between them.
#[derive(Debug)]
pub(super) struct LateRun {
    /// The difference of the last message in time, and by how much the first one here came later.
    in_time: i64,
    step: i64,
    /// When the last one came, and for how long they have been coming.
    at: i64,
    lasted: i64,
    /// The newest of them, those that differ by little.
    steady: Steady,
    /// The greatest difference of the second that runs, since when it runs, and that of the second before.
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
    /// Begins with a message of this difference; that of the last one in time was `in_time`.
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

    /// Takes in a late message.
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
        // A queue that fills makes each message a little later than the one before; a way that is longer, or a clock that
        // stood still, makes one much later and leaves the others at that. What falls is a queue that empties.
        let sudden = self.step >= rise / 4 * 3;
        let falling = steady.first.saturating_sub(difference) > jitter / 2;
        if sudden && !falling && steady.lasted >= latency.max(LOOK) {
            let least = steady.least;
            return match rise > STILL {
                true => Verdict::StoodStill(least.saturating_sub(self.in_time)),
                false => Verdict::LongerWay(least),
            };
        }
        match self.lasted >= latency.max(PATIENCE) {
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
