//! Opportunistic retransmission and penalisation: handling of a chunk on a slow path that prevents a faster path from
//! sending new data (C. Raiciu et al., "How Hard Can It Be? Designing and Implementing a Deployable Multipath TCP",
//! NSDI 2012, section 4.2). Only this module decides on them, for SCTP associations and for the simulator's MPTCP.
//!
//! | the paper | here |
//! |---|---|
//! | mechanism 1, "opportunistic retransmission": the data that hold up the window go on the fast path, too | [`HeadOfLine::resend`] |
//! | mechanism 2, "penalising slow subflows": half the window, once per round trip | [`HeadOfLine::penalise`] |
//!
//! If several chunks block, the caller asks about each chunk, in the order of sequence numbers.

use super::ids::PathId;
use super::view::PathView;
use crate::time::{Duration, Instant};

/// Size of a small window, in units of MTU (Linux: segments). [`Rules::Sooner`] does not penalise a path with a small
/// window. [`Rules::Linux`] sends copies for such a path regardless of its round-trip time.
const SMALL_WINDOW: u64 = 4;

/// Configuration for chunks on slow paths that fill the buffers of an association.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HeadOfLineConfig {
    /// Rules that select the chunks to be sent on a faster path in addition.
    pub rules: Rules,
    /// True if the windows of slow paths are also reduced. If false, only copies are sent.
    pub penalty: bool,
}

impl HeadOfLineConfig {
    /// Configuration of [`Rules::Sooner`] with penalties.
    pub const SOONER: HeadOfLineConfig = HeadOfLineConfig { rules: Rules::Sooner, penalty: true };
    /// Configuration of [`Rules::Linux`] with penalties.
    pub const LINUX: HeadOfLineConfig = HeadOfLineConfig { rules: Rules::Linux, penalty: true };
}

/// Rules for the decision whether a copy is worth its bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Rules {
    /// Rules of `mptcp_rcv_buf_optimization` in multipath-tcp.org v0.95. A copy is sent if the fast path's round-trip
    /// time is less than a quarter of the slow path's. A copy is also sent if the slow path's window is small. There is
    /// one penalty per round trip of the fast path, for any path, with or without a copy. The rules apply once a buffer
    /// is full, and only to the first chunk in flight.
    Linux,
    /// A copy is sent if it would be acknowledged sooner than the transmission in flight. A copy is also sent if the
    /// acknowledgement of that transmission is overdue. Each slow path has at most one penalty per round trip of this
    /// path. A second reduction within a round trip would punish the same queue twice. The rules apply before a buffer
    /// is full, and to all chunks that block the fast path.
    Sooner,
}

/// The transmission in flight that blocks other data.
#[derive(Copy, Clone, Debug)]
pub struct Holder<'a> {
    /// Path of the transmission.
    pub path: &'a PathView,
    /// Time at which the chunk was sent.
    pub sent: Instant,
}

/// Applies [`Rules`], and records the time of the last penalty of each path.
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

    /// Returns whether the chunk of `holder` must also be sent on path `fast`, which has room.
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

    /// Returns whether the path of `holder` must be penalised now, as in
    /// [`LossTrigger::HeadOfLine`](super::LossTrigger::HeadOfLine). A penalty that is due is recorded.
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

    /// Returns whether `path` must be penalised, as the scheduler requests
    /// ([`Scheduler::penalise`](super::Scheduler::penalise)). Data must be in flight on the path, and at least one
    /// round trip of the path must have passed since its last penalty. A penalty that is due is recorded.
    pub fn asked(&mut self, now: Instant, path: &PathView) -> bool {
        path.in_flight > 0 && self.remember(now, path.id, self.last(path.id), path.srtt.unwrap_or(path.rto))
    }

    /// Returns whether a penalty is due because the time `pause` has passed since the `last` penalty. A penalty that is
    /// due is recorded for `path`.
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

    /// Returns the time of the last penalty of `path`.
    fn last(&self, path: PathId) -> Option<Instant> {
        self.penalised.get(path.index()).copied().flatten()
    }
}

/// Returns the round-trip times of `fast` and `slow`. The arguments must be two paths, and the first must be faster.
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

    /// Linux sends a copy on the fast path in two cases. Either the slow path's round-trip time is more than four times
    /// the fast path's, or the slow path's window has at most four segments.
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

    /// A copy is useful if its acknowledgement arrives first: the original's arrives at 400 + 300, the copy's at now +
    /// 100.
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

    /// Each slow path gets at most one penalty in one of its round trips. Overdue data and a window of four MTU cause
    /// no penalty.
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
