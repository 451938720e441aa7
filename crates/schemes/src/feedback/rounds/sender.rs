//! Sending half. The sending half labels packets, probes paths without data, and reports that the sender has no data to
//! send.

use smallvec::SmallVec;
use strandcast_proto::policy::{PathId, PathSet, PathState, Probe, Report, View};
use strandcast_proto::time::{Duration, Instant};

use super::notice::{Notice, Printer};
use super::timeout::earlier;

/// Time after which another train follows if a train had no effect.
const UNANSWERED: Duration = Duration::from_secs(1);
/// Time for which trains continue after the last data.
const AFTERWARDS: Duration = Duration::from_secs(2);
/// Number of probes in a train. The spacing with which the probes arrive shows the path's capacity.
const TRAIN: u8 = 2;
/// Times without sending after which the sender reports silence: the time while no round-trip time is known, and the
/// shortest time. Once a round-trip time is known, the time is half of it.
const SILENCE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(1));

/// If the receiver has sent no rate after this time of sending, the sender expects none.
const NO_RATES: Duration = Duration::from_secs(3);
/// Maximum number of packets in flight of a sender that the peer's full buffer has stopped. If more packets are in
/// flight, lost data may be the reason.
const FEW: u64 = 2;

/// Counters of one path.
#[derive(Copy, Clone, Default, Debug)]
struct Line {
    round: u32,
    number: u32,
    train: Option<Instant>,
    last_train: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Sender {
    /// Least time between two trains of a path.
    pause: Duration,
    /// State by path slot.
    lines: SmallVec<[Line; 4]>,
    /// Paths on which a train is due.
    due: PathSet,
    /// Path that new data take.
    current: Option<PathId>,
    first_sent: Option<Instant>,
    last_sent: Option<Instant>,
    /// True once the peer has named a round. A named round shows that the peer also uses rounds.
    granted: bool,
    /// Time at which the silence is to be reported.
    silence: Option<Instant>,
    /// Path for which silence is to be reported; `None` once it was reported.
    quiet: Option<PathId>,
    printer: Printer,
    trains: u64,
}

impl Sender {
    pub fn new(pause: Duration) -> Self {
        Sender {
            pause,
            lines: SmallVec::new(),
            due: PathSet::default(),
            current: None,
            first_sent: None,
            last_sent: None,
            granted: false,
            silence: None,
            quiet: None,
            printer: Printer::default(),
            trains: 0,
        }
    }

    fn line(&mut self, path: PathId) -> &mut Line {
        if self.lines.len() <= path.index() {
            self.lines.resize(path.index() + 1, Line::default());
        }
        &mut self.lines[path.index()]
    }

    /// Returns the label of the next packet on `path`.
    pub fn label(&mut self, path: PathId) -> Report {
        let line = self.line(path);
        let (round, number) = (line.round, line.number);
        line.number = number.wrapping_add(1);
        self.printer.label(round, number)
    }

    fn flows(&self, now: Instant) -> bool {
        self.last_sent.is_some_and(|t| now - t < AFTERWARDS)
    }

    /// Records that data left on `path`.
    pub fn sent(&mut self, view: &View<'_>, path: PathId) {
        if !view.peer_reports {
            return;
        }
        if !self.flows(view.now) {
            for p in view.paths.iter().filter(|p| p.state == PathState::Active) {
                self.line(p.id).train = Some(view.now);
            }
        }
        self.first_sent.get_or_insert(view.now);
        self.last_sent = Some(view.now);
        let current = view.last_path_used.unwrap_or(path);
        if let Some(old) = self.current.replace(current).filter(|old| *old != current) {
            self.line(old).train = Some(view.now);
        }
        self.silence = Some(view.now + silence(view, path));
    }

    /// Records that the receiver has a rate for `path`. A newer round begins with this rate.
    pub fn granted(&mut self, view: &View<'_>, path: PathId, round: u32) {
        self.granted = true;
        let pause = self.pause;
        let other = self.current != Some(path);
        let line = self.line(path);
        if round.wrapping_sub(line.round) as i32 > 0 {
            line.round = round;
            let next = line.last_train.map_or(view.now, |t| (t + pause).max(view.now));
            line.train = line.train.filter(|_| !other).or(other.then_some(next));
        }
    }

    /// Returns whether data have been sent for a while although the peer has sent no rate.
    pub fn is_ignored(&self) -> bool {
        let lasted = self.first_sent.zip(self.last_sent).map(|(first, last)| last - first);
        !self.granted && lasted.is_some_and(|t| t >= NO_RATES)
    }

    /// Updates the state after a change of a path.
    pub fn changed(&mut self, view: &View<'_>, path: PathId) {
        match view.paths.get(path.index()).map(|p| p.state) {
            Some(PathState::Active) if self.flows(view.now) => self.line(path).train = Some(view.now),
            Some(PathState::Closed) => {
                *self.line(path) = Line::default();
                self.due.remove(path);
                self.quiet = self.quiet.filter(|p| *p != path);
                self.current = self.current.filter(|p| *p != path);
            }
            _ => {}
        }
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let mut first = self.silence;
        for line in &self.lines {
            if line.train.is_some() {
                first = earlier(line.train, first);
            }
        }
        first
    }

    pub fn tick(&mut self, view: &View<'_>) {
        let flows = self.flows(view.now) && view.peer_reports;
        for (line, path) in self.lines.iter_mut().zip(view.paths) {
            if line.train.is_some_and(|t| t <= view.now) {
                let wanted = flows && path.state == PathState::Active && self.current != Some(path.id);
                line.train = wanted.then_some(view.now + UNANSWERED);
                if wanted {
                    line.last_train = Some(view.now);
                    self.due.insert(path.id);
                }
            }
        }
        if self.silence.is_some_and(|t| t <= view.now) {
            self.silence = None;
            let Some(path) = self.current.and_then(|p| view.paths.get(p.index())) else { return };
            // Silence has two causes. `idle`: the sender could send, but has no data. `full`: the peer's buffer is
            // full, and lost data cannot be the reason.
            let idle = path.has_room() && view.rwnd >= path.mtu;
            let full = view.rwnd < path.mtu && view.in_flight <= FEW * path.mtu;
            if idle || full {
                self.quiet = Some(path.id);
            } else if flows {
                self.silence = Some(view.now + silence(view, path.id));
            }
        }
    }

    /// Returns the next train that is due.
    pub fn probe(&mut self, view: &View<'_>) -> Option<Probe> {
        // This function is called with every packet. A check whether the set is empty takes less time than an iterator
        // over it.
        while !self.due.is_empty() {
            let path = self.due.iter().next()?;
            self.due.remove(path);
            if view.paths.get(path.index()).is_some_and(|p| p.state == PathState::Active) {
                self.trains += 1;
                return Some(Probe { path, count: TRAIN, padded: true });
            }
        }
        None
    }

    pub fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.push(("probe_trains", self.trains));
    }

    /// Moves the reports that need a separate packet to `out`.
    pub fn take_reports(&mut self, out: &mut Vec<Report>) {
        if let Some(path) = self.quiet.take() {
            out.push(Notice::Quiet.report(Some(path)));
        }
    }
}

/// Returns the time without sending after which a silence is reported.
fn silence(view: &View<'_>, path: PathId) -> Duration {
    let srtt = view.paths.get(path.index()).and_then(|p| p.srtt);
    srtt.map_or(SILENCE.0, |s| s / 2).max(SILENCE.1)
}
