//! Opportunistic retransmission and penalisation: handling of a chunk on a slow path that keeps a faster path from
//! sending new data (C. Raiciu et al., "How Hard Can It Be? Designing and Implementing a Deployable Multipath TCP",
//! NSDI 2012, section 4.2). This module is the only place that decides it, for SCTP associations and for the
//! simulator's MPTCP.
//!
//! | the paper | here |
//! |---|---|
//! | mechanism 1, "opportunistic retransmission": the data that hold up the window go on the fast path, too | [`HeadOfLine::resend`] |
//! | mechanism 2, "penalising slow subflows": half the window, once per round trip | [`HeadOfLine::penalise`] |
//!
//! A caller with several such chunks asks about each of them, in the order of sequence numbers.

use super::ids::PathId;
use super::view::PathView;
use crate::time::{Duration, Instant};

/// Number of MTU (Linux: segments) of a small window. [`Rules::Sooner`] does not penalise a path with a small window,
/// and [`Rules::Linux`] helps it regardless of its round-trip time.
const SMALL_WINDOW: u64 = 4;

/// Handling of chunks on slow paths that fill the buffers of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HeadOfLineConfig {
    /// Rules that select the chunks to send on a faster path as well.
    pub rules: Rules,
    /// True if the windows of slow paths are reduced; otherwise only copies are sent.
    pub penalty: bool,
}

impl HeadOfLineConfig {
    /// [`Rules::Sooner`], with penalties.
    pub const SOONER: HeadOfLineConfig = HeadOfLineConfig { rules: Rules::Sooner, penalty: true };
    /// [`Rules::Linux`], with penalties.
    pub const LINUX: HeadOfLineConfig = HeadOfLineConfig { rules: Rules::Linux, penalty: true };
}

/// Rules for the decision whether a copy is worth its bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Rules {
    /// `mptcp_rcv_buf_optimization` of multipath-tcp.org v0.95: a copy is sent if the round-trip time of the fast path
    /// is less than a quarter of the slow path's, or if the slow path's window is small. There is one penalty per round
    /// trip of the fast path, on any path, with or without a copy. The rules apply once a buffer is full, and only to
    /// the first chunk.
    Linux,
    /// A copy is sent if it would be acknowledged sooner than the transmission in flight, or if the acknowledgement of
    /// that transmission is overdue. For each slow path there is one penalty per round trip of this path, because a
    /// window that is reduced more often would be reduced twice for the same queue. The rules apply before a buffer is
    /// full, to all chunks that block the fast path.
    Sooner,
}

/// The transmission that blocks others.
#[derive(Copy, Clone, Debug)]
pub struct Holder<'a> {
    /// Path of the transmission.
    pub path: &'a PathView,
    /// Time at which the chunk left.
    pub sent: Instant,
}

/// Decides by [`Rules`], and keeps the time of each penalty.
#[derive(Clone, Debug)]
pub struct HeadOfLine {
    rules: Rules,
    /// Time of the last penalty, by path slot.
    penalised: Vec<Option<Instant>>,
}

impl HeadOfLine {
    /// Creates a state without penalties.
    pub fn new(rules: Rules) -> Self {
        HeadOfLine { rules, penalised: Vec::new() }
    }

    /// Returns whether `holder`'s data are also to be sent on `fast`, which has room.
    pub fn resend(&self, now: Instant, fast: &PathView, holder: Holder<'_>) -> bool {
        let Some((quick, slow)) = faster(fast, holder.path) else { return false };
        match self.rules {
            Rules::Linux => holder.path.limit.cwnd <= SMALL_WINDOW * holder.path.mtu || 4 * quick < slow,
            Rules::Sooner => {
                let overdue = now > holder.sent + holder.path.rto_raw().unwrap_or(slow);
                overdue || holder.sent + slow > now + quick
            }
        }
    }

    /// Returns whether the path of `holder` is to be penalised now, as in
    /// [`LossTrigger::HeadOfLine`](super::LossTrigger::HeadOfLine). The penalty is then recorded.
    pub fn penalise(&mut self, now: Instant, fast: &PathView, holder: Holder<'_>) -> bool {
        let Some((quick, slow)) = faster(fast, holder.path) else { return false };
        let (last, pause) = match self.rules {
            Rules::Linux => (self.penalised.iter().flatten().max().copied(), quick),
            Rules::Sooner => {
                let waits = holder.sent + slow > now + quick;
                if !waits || holder.path.limit.cwnd <= SMALL_WINDOW * holder.path.mtu {
                    return false;
                }
                (self.last(holder.path.id), slow)
            }
        };
        self.remember(now, holder.path.id, last, pause)
    }

    /// Returns whether `path`, for which the scheduler requests a penalty
    /// ([`Scheduler::penalise`](super::Scheduler::penalise)), is to be penalised: data are in flight on it, and at
    /// least one round trip of the path has passed since its last penalty. The penalty is then recorded.
    pub fn asked(&mut self, now: Instant, path: &PathView) -> bool {
        path.in_flight > 0 && self.remember(now, path.id, self.last(path.id), path.srtt.unwrap_or(path.rto))
    }

    /// Returns whether a penalty is due `pause` after the `last` one. The penalty is then recorded for `path`.
    fn remember(&mut self, now: Instant, path: PathId, last: Option<Instant>, pause: Duration) -> bool {
        let due = last.is_none_or(|at| now - at >= pause);
        if due {
            let slot = path.index();
            if self.penalised.len() <= slot {
                self.penalised.resize(slot + 1, None);
            }
            self.penalised[slot] = Some(now);
        }
        due
    }

    /// Time of the last penalty of `path`.
    fn last(&self, path: PathId) -> Option<Instant> {
        self.penalised.get(path.index()).copied().flatten()
    }
}

/// Returns the round-trip times of `fast` and `slow`, if they are two paths and the first is faster.
fn faster(fast: &PathView, slow: &PathView) -> Option<(Duration, Duration)> {
    fast.srtt.zip(slow.srtt).filter(|(quick, slow_rtt)| fast.id != slow.id && quick < slow_rtt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::fixture::{MTU, path};

    fn ms(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn view(id: u8, rtt: u64, cwnd: u64) -> PathView {
        let mut view = path(id);
        (view.srtt, view.rttvar) = (Some(Duration::from_millis(rtt)), Duration::ZERO);
        view.limit.cwnd = cwnd * MTU;
        view
    }

    /// Linux's rule: four times the round-trip time, or a window of four segments.
    #[test]
    fn linux_helps_much_slower_paths_and_small_windows() {
        let hol = HeadOfLine::new(Rules::Linux);
        let asks =
            |fast: &PathView, slow: &PathView| hol.resend(ms(1000), fast, Holder { path: slow, sent: ms(0) });
        assert!(asks(&view(0, 20, 10), &view(1, 81, 10)));
        assert!(!asks(&view(0, 20, 10), &view(1, 80, 10)));
        assert!(asks(&view(0, 20, 10), &view(1, 21, 4)));
        assert!(!asks(&view(0, 20, 10), &view(1, 20, 4)), "no slower");
        assert!(!asks(&view(0, 20, 10), &view(0, 90, 4)), "itself");
    }

    /// A copy is of use if its acknowledgement arrives first: original at 400 + 300, copy at now + 100.
    #[test]
    fn a_copy_has_to_be_sooner() {
        let hol = HeadOfLine::new(Rules::Sooner);
        let (fast, slow) = (view(0, 100, 10), view(1, 300, 50));
        let at = |now| hol.resend(ms(now), &fast, Holder { path: &slow, sent: ms(400) });
        assert!(at(599));
        assert!(!at(600) && !at(700), "as soon as the copy at best");
        assert!(at(701), "overdue");
        assert!(
            !hol.resend(ms(500), &slow, Holder { path: &fast, sent: ms(490) }),
            "the fast one is not helped"
        );
    }

    /// One penalty per round trip of the slow path, separately for each path; not for overdue data, not at four MTU.
    #[test]
    fn a_penalty_a_round_trip() {
        let mut hol = HeadOfLine::new(Rules::Sooner);
        let (fast, slow, other) = (view(0, 20, 10), view(1, 300, 50), view(2, 200, 50));
        let mut ask =
            |now, slow: &PathView| hol.penalise(ms(now), &fast, Holder { path: slow, sent: ms(now - 10) });
        assert!(ask(1000, &slow));
        assert!(!ask(1299, &slow));
        assert!(ask(1299, &other), "another path");
        assert!(ask(1300, &slow));
        assert!(!ask(2000, &view(1, 300, 4)), "a small window");
        let due = Holder { path: &slow, sent: ms(1800) };
        assert!(!hol.penalise(ms(2085), &fast, due), "it arrives before a copy could");

        let mut linux = HeadOfLine::new(Rules::Linux);
        let mut ask =
            |now, slow: &PathView| linux.penalise(ms(now), &fast, Holder { path: slow, sent: ms(0) });
        assert!(ask(1000, &slow));
        assert!(!ask(1019, &other), "over all paths");
        assert!(ask(1020, &other));
    }
}
