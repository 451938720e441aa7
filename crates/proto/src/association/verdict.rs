//! When a path is doubted or given up on evidence ([`crate::config::TransportConfig::failed_after`]): not for a burst of losses,
//! which on a slow link may last for many packets.

use super::Association;
use crate::policy::PathId;
use crate::time::{Duration, Instant};

/// Heartbeats in a row that must go unanswered, without a tail probe, before a path is doubted beyond what
/// `pf_max_retrans` asks for.
const MORE_BEFORE_DOUBT: u32 = 2;
/// Errors in a row before a path is given up: bursts of loss count packets, not time.
const ERRORS_BEFORE_FAILURE: u32 = 40;
/// A heartbeat that brings evidence waits this long at least for its answer.
const LEAST_WAIT: Duration = Duration::from_millis(250);

impl Association {
    /// Whether error number `errors` on `path` makes it potentially failed, and failed.
    pub(super) fn verdicts(&self, now: Instant, path: PathId, errors: u32) -> (bool, bool) {
        let (p, v) = (&self.paths[path.index()], self.paths.view(path.index()));
        let pf = self.config.pf_max_retrans;
        let Some(after) = self.config.failed_after else {
            return (pf.is_some_and(|pf| errors > pf), errors > self.config.path_max_retrans);
        };
        let quiet = p.answered.map_or(Duration::MAX, |at| now - at);
        let more = if p.tail.spent { 0 } else { MORE_BEFORE_DOUBT };
        let doubted = pf.is_some_and(|pf| errors > pf + more) && quiet >= v.rto_raw().unwrap_or_default();
        let enough = errors > self.config.path_max_retrans.max(ERRORS_BEFORE_FAILURE);
        (doubted, enough && quiet >= after)
    }

    /// How long a heartbeat's answer is waited for where verdicts need evidence; the next one leaves then.
    pub(super) fn evidence_wait(&self, path: PathId) -> Option<Duration> {
        let v = self.paths.view(path.index());
        let usual = v.rto_raw().unwrap_or(self.config.rto_initial).max(self.config.rto_min);
        self.config.failed_after.map(|_| usual.max(LEAST_WAIT))
    }
}
