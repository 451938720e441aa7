//! Return of dead paths.

use strandcast_proto::time::Instant;

use super::{ANSWERS, APART, DEATHS, PROBATION, PROBATION_MOST, STABLE, Verdict};

/// Number of deaths of a path, and progress of its return.
#[derive(Debug)]
pub(super) struct Deaths {
    count: u32,
    /// Time of the last change of the count. For a path in probation, the start of the probation.
    since: Instant,
    /// Answers of a path that has not yet returned: their number, and the times of the first and the last answer.
    answers: Option<(u32, Instant, Instant)>,
    /// True if the path has not yet returned.
    probation: bool,
}

impl Deaths {
    pub(super) fn new(now: Instant) -> Self {
        Deaths { count: 0, since: now, answers: None, probation: false }
    }

    pub(super) fn died(&mut self, now: Instant) {
        (self.count, self.since, self.answers) = ((self.count + 1).min(DEATHS), now, None);
        self.probation = true;
    }

    /// Returns the verdict after a suspected path has answered.
    pub(super) fn answered(&mut self, now: Instant) -> Verdict {
        if !self.probation {
            return Verdict::Live;
        }
        let (n, first, _) = match self.answers {
            Some((n, first, last)) if now.saturating_since(last) < APART => (n + 1, first, now),
            _ => (1, now, now),
        };
        self.answers = Some((n, first, now));
        let probation = (PROBATION * 2u32.pow(self.count)).min(PROBATION_MOST);
        self.probation = now.saturating_since(first) < probation || n < ANSWERS;
        match self.probation {
            false => Verdict::Live,
            true if n >= ANSWERS => Verdict::Returning,
            true => Verdict::Dead,
        }
    }

    pub(super) fn passes(&mut self, now: Instant) {
        if self.probation {
            self.since = now;
        } else if self.count > 0 && now.saturating_since(self.since) >= STABLE {
            (self.count, self.since) = (self.count - 1, now);
        }
    }
}
