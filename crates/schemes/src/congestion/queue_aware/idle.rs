//! Reduction of windows that are not used.

use strandcast_proto::time::{Duration, Instant};

use super::Path;

/// Reciprocal of a share of the window. A window counts as used while at least this share of it is in flight. ASSUMED:
/// RFC 7661 §4.1 has one half. docs/schemes/strand.md gives the reasons.
pub(super) const USED_PART: u64 = 4;
/// Time since the last use of a window after which the window shrinks. ASSUMED: after a short outage a link needs its
/// old window to catch up.
const KEEP: Duration = Duration::from_secs(2);

impl Path {
    /// Reduces a window according to the time in which nothing was sent. At least the initial window remains (RFC 6928
    /// §2). Slow start may return to the former window (RFC 2861). Without slow start, a path that was idle could take
    /// over a stream only slowly, at one MTU per round trip.
    pub(super) fn decay(&mut self, now: Instant, rto: Duration) {
        if !self.window.decays(now, rto) {
            return;
        }
        let before = self.window.limit();
        self.window.decay(now, rto);
        let restart = self.initial.min(before.cwnd);
        if self.window.cwnd() < restart {
            self.window.set_cwnd(restart);
        }
        let after = self.window.limit();
        if (after.cwnd, after.ssthresh) != (before.cwnd, before.ssthresh) {
            self.window.set_ssthresh(before.ssthresh.unwrap_or(u64::MAX).max(before.cwnd));
        }
    }

    /// Records that a packet left. `in_flight` is the number of bytes in flight, including this packet. Single packets,
    /// such as data probes, do not show that the link still carries the window. With such packets, the window therefore
    /// shrinks as if no packets left.
    pub(super) fn on_sent(&mut self, now: Instant, rto: Duration, in_flight: u64) {
        self.decay(now, rto);
        if USED_PART * in_flight >= self.window.cwnd() {
            self.used = Some(now);
        }
        if now.saturating_since(*self.used.get_or_insert(now)) < KEEP {
            self.window.on_sent(now, rto);
        }
    }
}
