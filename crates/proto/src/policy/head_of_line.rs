//! Opportunistic retransmission and penalisation: what to do about a chunk on a slow path that keeps a faster one from
//! sending new data (C. Raiciu et al., "How Hard Can It Be? Designing and Implementing a Deployable Multipath TCP", NSDI
//! 2012, section 4.2). The one place that decides it, for SCTP associations and for the simulator's MPTCP.
//!
//! | the paper | here |
//! |---|---|
//! | mechanism 1, "opportunistic retransmission": the data that hold up the window go on the fast path, too | [`HeadOfLine::resend`] |
//! | mechanism 2, "penalising slow subflows": half the window, once per round trip | [`HeadOfLine::penalise`] |
//!
//! Who has several chunks in question asks about each, in the order of the sequence.

use super::ids::PathId;
use super::view::PathView;
use crate::time::{Duration, Instant};

/// A window of so many MTU (Linux: segments) is small: its owner is not penalised by [`Rules::Sooner`], and is helped
/// whatever its round-trip time by [`Rules::Linux`].
const SMALL_WINDOW: u64 = 4;

/// What an association does about chunks on slow paths that fill its buffers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct HeadOfLineConfig {
    /// Which chunks are sent on a faster path as well.
    pub rules: Rules,
    /// Whether the windows of slow paths are cut; without it only copies are sent.
    pub penalty: bool,
}

impl HeadOfLineConfig {
    /// [`Rules::Sooner`], with penalties.
    pub const SOONER: HeadOfLineConfig = HeadOfLineConfig { rules: Rules::Sooner, penalty: true };
    /// [`Rules::Linux`], with penalties.
    pub const LINUX: HeadOfLineConfig = HeadOfLineConfig { rules: Rules::Linux, penalty: true };
}

/// By which rules a copy is worth its bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Rules {
    /// `mptcp_rcv_buf_optimization` of multipath-tcp.org v0.95: a copy if the fast path's round-trip time is less than a
    /// quarter of the slow one's, or the slow one's window is small; one penalty per round trip of the fast path, on
    /// whichever path, copy or not. Asked once a buffer is full, about the first chunk alone.
    Linux,
    /// A copy if it would be acknowledged sooner than the transmission that is under way, or if that one is overdue; one
    /// penalty per round trip of the slow path for each slow path. A window cut faster than acknowledgements return would
    /// be cut for the same queue twice. Asked before a buffer is full, about as many chunks as lie in the fast path's way.
    Sooner,
}

/// The transmission that holds others up.
#[derive(Copy, Clone, Debug)]
pub struct Holder<'a> {
    /// Its path.
    pub path: &'a PathView,
    /// When it left.
    pub sent: Instant,
}

/// Decides by [`Rules`], and remembers who was penalised when.
#[derive(Clone, Debug)]
pub struct HeadOfLine {
    rules: Rules,
    /// By path slot, the last penalty.
    penalised: Vec<Option<Instant>>,
}

impl HeadOfLine {
    /// No path is penalised yet.
    pub fn new(rules: Rules) -> Self {
        HeadOfLine { rules, penalised: Vec::new() }
    }

    /// Whether `holder`'s data should go on `fast`, which has room, too.
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

    /// Whether the path of `holder` is to be held back now, as [`LossTrigger::HeadOfLine`](super::LossTrigger::HeadOfLine)
    /// says; it is remembered as done.
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

    /// Whether `path`, which the scheduler wants held back ([`Scheduler::penalise`](super::Scheduler::penalise)), is to be:
    /// something is in flight there, and the last penalty is a round trip of it ago. It is remembered as done.
    pub fn asked(&mut self, now: Instant, path: &PathView) -> bool {
        path.in_flight > 0 && self.remember(now, path.id, self.last(path.id), path.srtt.unwrap_or(path.rto))
    }

    /// Whether a penalty is due `pause` after the `last` one; then it is that of `path`.
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

    /// When `path` was penalised last.
    fn last(&self, path: PathId) -> Option<Instant> {
        self.penalised.get(path.index()).copied().flatten()
    }
}

/// The round-trip times of `fast` and `slow`, if they are two paths and the first is the faster one.
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

    /// A copy is of use if its acknowledgement comes first: original at 400 + 300, copy at now + 100.
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

    /// Once per round trip of the slow path, each for itself; not for what is due anyway, not at four MTU.
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
