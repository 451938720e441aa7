//! Verdict on a return path: deaf or not.

use strandcast_proto::time::{Duration, Instant};

use super::{ELSEWHERE, NAMED};

/// The return path of a path.
#[derive(Debug, Default)]
pub(super) struct ReturnPath {
    /// Time since which the return path has been named.
    named: Option<Instant>,
    /// Time of the last report by this path. The second value is the delay of the report in microseconds by both
    /// clocks.
    last_report: Option<(Instant, i64)>,
    /// Number of reports by other paths since that report.
    elsewhere: u32,
    /// True if no report has arrived by this path for too long.
    pub(super) deaf: bool,
}

impl ReturnPath {
    pub(super) fn on_report(&mut self, now: Instant, took: i64) {
        (self.last_report, self.elsewhere, self.deaf) = (Some((now, took)), 0, false);
    }

    /// Records another packet that arrived by this path.
    pub(super) fn answered(&mut self, now: Instant) {
        self.deaf = false;
        if let Some((at, _)) = &mut self.last_report {
            (*at, self.elsewhere) = (now, 0);
        }
    }

    /// Records a report by another path. Returns whether no report has arrived by this path for too long.
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
