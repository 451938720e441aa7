//! Verdict on a return path: deaf or not.

use strandcast_proto::time::{Duration, Instant};

use super::{ELSEWHERE, NAMED};

/// The return path of a path.
#[derive(Debug, Default)]
pub(super) struct ReturnPath {
    /// Time since which it has been named.
    named: Option<Instant>,
    /// When a report last came by it, and how long that took, microseconds by both clocks.
    last_report: Option<(Instant, i64)>,
    /// Reports that came by others since.
    elsewhere: u32,
    /// Too long nothing has come by it.
    pub(super) deaf: bool,
}

impl ReturnPath {
    pub(super) fn on_report(&mut self, now: Instant, took: i64) {
        (self.last_report, self.elsewhere, self.deaf) = (Some((now, took)), 0, false);
    }

    /// Something else came by it.
    pub(super) fn answered(&mut self, now: Instant) {
        self.deaf = false;
        if let Some((at, _)) = &mut self.last_report {
            (*at, self.elsewhere) = (now, 0);
        }
    }

    /// A report came by another way: whether now for too long nothing has come by this one.
    pub(super) fn missed(&mut self, now: Instant, named: bool, took: i64, holdoff: Duration) -> bool {
        self.named = named.then(|| self.named.unwrap_or(now));
        self.elsewhere += 1;
        let (Some(named), Some((last, usual))) = (self.named, self.last_report) else { return false };
        if self.deaf || self.elsewhere < ELSEWHERE {
            return false;
        }
        let longer = Duration::from_micros(u64::try_from(usual - took).unwrap_or(0));
        let since = now.saturating_since(last.max(named + NAMED));
        self.deaf = since > holdoff + longer;
        self.deaf
    }
}
