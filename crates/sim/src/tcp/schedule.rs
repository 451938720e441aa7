//! The scheduler of an MPTCP connection, and the scheduler's view of the subflows.
//!
//! | in [`PathView`] | of a subflow |
//! |---|---|
//! | `state` | before its handshake `Unconfirmed`; in slow start after a timeout `PotentiallyFailed`, unless all subflows are |
//! | `limit.cwnd` | the window, adjusted by recovery and by a restart |
//! | `blocked` | the window has room, but not for a segment of this length, or the burst limit is reached, or the subflow was tried |
//! | `srtt` | before the first sample [`UNMEASURED`] |
//!
//! With these values, [`PathView::has_room`] equals the subflow's own decision for the next segment. Bytes in the view
//! are payload, and TSNs count the segments of a subflow.

use core::time::Duration;

use strandcast_proto::policy::{
    Assignment, Backlog, Blocked, BlockedBy, Limit, PathId, PathSet, PathState, PathView, Scheduler, Signal,
    View,
};
use strandcast_proto::time::Instant;
use strandcast_proto::wire::serial::Tsn;

use super::config::Config;
use super::subflow::{Mode, Phase, Subflow};

/// Round-trip time in the view of an open subflow without a sample. It is below all measured round-trip times, so that
/// the subflow is measured soon, as in Linux, which uses zero. It is not zero, because schedulers divide by it.
const UNMEASURED: Duration = Duration::from_micros(1);

/// State of the sender at the time of a signal or decision.
#[derive(Copy, Clone, Debug)]
pub(super) struct Scene<'a> {
    pub(super) now: Instant,
    pub(super) config: &'a Config,
    pub(super) subflows: &'a [Subflow],
    /// Receive window: number of bytes that the receiver accepts, starting at the first unacknowledged byte.
    pub(super) rwnd: u64,
    /// Number of bytes in the receive window that were never sent.
    pub(super) admits: u64,
}

/// Returns the TSN that stands for a segment's ordinal in policies.
pub(super) fn tsn(ordinal: u64) -> Tsn {
    Tsn(ordinal as u32)
}

/// The scheduler's decision for a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The chosen subflow, which has room.
    pub(super) subflow: u8,
    /// Subflows that send a copy of the segment once they have room.
    pub(super) copies: PathSet,
}

/// A scheduler with its view of the subflows and its decisions.
#[derive(Debug)]
pub(super) struct Scheduling {
    scheduler: Box<dyn Scheduler>,
    paths: Vec<PathView>,
    last_path_used: Option<PathId>,
    blocked: Option<Blocked>,
    /// Rest of the scheduler's last assignment of new data.
    assignment: Option<Assignment>,
    /// True if the scheduler holds all data back until the next event.
    held: bool,
}

impl Scheduling {
    pub(super) fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Scheduling {
            scheduler,
            paths: Vec::new(),
            last_path_used: None,
            blocked: None,
            assignment: None,
            held: false,
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.scheduler.poll_timeout()
    }

    /// Ensures that the scheduler is asked again about data that it held back.
    pub(super) fn wake(&mut self) {
        self.held = false;
    }

    /// Records that the receive window is full. `by`, the first record of its subflow, blocks new data. `None` ends
    /// this state.
    pub(super) fn note_blocked(&mut self, now: Instant, by: Option<(u8, u64)>) {
        self.blocked = by.map(|(id, ordinal)| {
            let (path, tsn) = (PathId(id), tsn(ordinal));
            let same = self.blocked.filter(|old| (old.path, old.tsn) == (path, tsn));
            Blocked { by: BlockedBy::ReceiveWindow, tsn, path, since: same.map_or(now, |old| old.since) }
        });
    }

    /// Passes a signal to the scheduler. The congestion control, whose view is `windows`, has already received the
    /// signal.
    pub(super) fn hear(&mut self, at: &Scene<'_>, windows: &[PathView], signal: &Signal<'_>) {
        let named =
            if let Signal::PathChanged(path) = signal { PathSet::one(*path) } else { PathSet::default() };
        self.look(at, windows, (u64::from(at.config.segment), PathSet::default()), named);
        let view = view(at, &self.paths, self.last_path_used, self.blocked);
        self.scheduler.on_signal(&view, signal);
        // A hold of the scheduler also applies to segments that leave now.
        self.held &= matches!(signal, Signal::Sent(_));
    }

    /// Chooses a subflow for a segment. Some subflow that was not tried must have room for it. Returns `None` if the
    /// scheduler holds the segment back.
    pub(super) fn choose(
        &mut self,
        at: &Scene<'_>,
        windows: &[PathView],
        backlog: &Backlog,
    ) -> Option<Choice> {
        if self.held {
            return None;
        }
        self.look(at, windows, (backlog.next_len, backlog.tried), PathSet::default());
        let view = view(at, &self.paths, self.last_path_used, self.blocked);
        let new = !backlog.retransmission;
        let kept = if new { self.assignment.take() } else { None };
        let admits = |path: &PathId| {
            view.paths.get(path.index()).is_some_and(PathView::has_room) && view.usable().contains(*path)
        };
        let first = |a: &Assignment| a.paths.iter().copied().find(admits).filter(|_| a.chunks > 0);
        let kept = kept.and_then(|a| Some((first(&a)?, a)));
        let found = match kept {
            Some(kept) => Some(kept),
            None => self.scheduler.next(&view, backlog).and_then(|a| Some((first(&a)?, a))),
        };
        // Only new data are held; a segment that was tried elsewhere waits by its own rules.
        self.held = new && found.is_none();
        let (path, mut assignment) = found?;
        let others = assignment.paths.iter().copied().filter(|p| *p != path && !backlog.tried.contains(*p));
        let open = |p: &PathId| view.usable().contains(*p);
        let choice = Choice { subflow: path.0, copies: others.filter(open).collect() };
        if new {
            self.last_path_used = Some(path);
            assignment.chunks -= 1;
            // The assignment ends with the waiting data; later data are decided again.
            self.assignment = Some(assignment).filter(|_| backlog.bytes > backlog.next_len);
        }
        Some(choice)
    }

    /// Returns a subflow that the scheduler penalises because data wait.
    pub(super) fn penalty(&mut self, at: &Scene<'_>, windows: &[PathView]) -> Option<PathId> {
        self.look(at, windows, (u64::from(at.config.segment), PathSet::default()), PathSet::default());
        let view = view(at, &self.paths, self.last_path_used, self.blocked);
        self.scheduler.penalise(&view)
    }

    /// Updates the view for a segment of `len` bytes that was already sent on the subflows in `tried`. The scheduler
    /// gets a signal for each change of a subflow's state, except for subflows in `named`, which the next signal names.
    fn look(&mut self, at: &Scene<'_>, windows: &[PathView], (len, tried): (u64, PathSet), named: PathSet) {
        if self.paths.len() < windows.len() {
            let new = windows[self.paths.len()..].iter().cloned();
            self.paths.extend(new.map(|path| PathView { state: PathState::Unconfirmed, ..path }));
        }
        let worst = at.subflows.iter().filter(|s| s.phase == Phase::Open).all(|s| s.mode == Mode::Loss);
        let mut changed = PathSet::default();
        for ((path, window), subflow) in self.paths.iter_mut().zip(windows).zip(at.subflows) {
            let state = state(subflow, worst);
            if path.state != state {
                changed.insert(path.id);
            }
            path.state = state;
            let has_room = subflow.has_room(len as u32, window.limit.cwnd, at.config);
            picture(path, window, subflow, at);
            let room = has_room && !tried.contains(path.id);
            path.blocked = !room && path.in_flight < path.limit.cwnd;
        }
        if changed.is_empty() {
            return;
        }
        self.assignment = None;
        for path in changed.iter().filter(|path| !named.contains(*path)) {
            let view = view(at, &self.paths, self.last_path_used, self.blocked);
            self.scheduler.on_signal(&view, &Signal::PathChanged(path));
        }
    }
}

/// Returns the view of the scheduler.
fn view<'a>(
    at: &Scene<'_>,
    paths: &'a [PathView],
    last_path_used: Option<PathId>,
    blocked: Option<Blocked>,
) -> View<'a> {
    View {
        now: at.now,
        in_flight: paths.iter().map(|p| p.in_flight).sum(),
        paths,
        rwnd: at.admits,
        last_path_used,
        primary: PathId(0),
        peer_reports: false,
        blocked,
        blocks: &[],
    }
}

/// Returns the path state of a subflow. `worst` is true if all open subflows are in slow start after a timeout. No
/// subflow is then preferred.
fn state(subflow: &Subflow, worst: bool) -> PathState {
    match (subflow.phase, subflow.mode) {
        (Phase::Opening | Phase::SynSent, _) => PathState::Unconfirmed,
        (Phase::Closed, _) => PathState::Closed,
        (Phase::Open, Mode::Loss) if !worst => PathState::PotentiallyFailed,
        (Phase::Open, _) => PathState::Active,
    }
}

/// Copies measured values of a subflow to its path view.
fn picture(path: &mut PathView, window: &PathView, subflow: &Subflow, at: &Scene<'_>) {
    let rto = &subflow.rto;
    path.srtt = rto.srtt.or((subflow.phase == Phase::Open).then_some(UNMEASURED));
    (path.rttvar, path.latest_rtt, path.min_rtt) = (rto.rttvar, rto.latest, rto.least);
    path.rto = rto.value();
    path.in_flight = subflow.in_flight(at.config);
    path.in_flight_chunks = subflow.board.len();
    path.last_sent = subflow.last_sent;
    path.limit = Limit { cwnd: subflow.window(window.limit.cwnd, at.config), ..window.limit };
}
