//! Choice of the path for a lost chunk (Iyengar, Amer, Stewart, "Retransmission policies for concurrent multipath
//! transfer using SCTP multihoming", ICON 2004).

use std::collections::VecDeque;

use strandcast_keys::words;
use strandcast_proto::policy::{ChunkInfo, PathId, PathSet, PathState, PathView, Retransmit, Signal, View};
use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;
use strandcast_proto::wire::Tsn;

/// Number of transmissions over which a path's loss rate is computed.
pub const HISTORY: usize = 1000;

words! {
    /// The retransmission policies. All of them choose among usable paths. Except with ASAP, the chunk waits for room
    /// on the chosen path.
    #[derive(Default)]
    pub enum Rtx {
        /// RTX-CWND: the largest congestion window.
        #[default]
        Cwnd = "cwnd",
        /// RTX-SAME: the path it was lost on, while that is usable.
        Same = "same",
        /// RTX-ASAP: any path with room, at random.
        Asap = "asap",
        /// RTX-SSTHRESH: the largest slow-start threshold.
        Ssthresh = "ssthresh",
        /// RTX-LOSSRATE: the least share of the path's last [`HISTORY`] transmissions marked lost.
        LossRate = "lossrate",
        /// The lowest smoothed round-trip time, paths without one last: least delay, as Guo, Liu and Lian (2010)
        /// resend.
        LowestRtt = "lowest-rtt",
        /// The next usable path after the one it was lost on, in turn (RFC 4960 §6.4.1); that path itself without others.
        Alternate = "alternate",
        /// The scheduler decides, as of new data; not one of the paper's.
        Scheduler = "scheduler",
    }
}

/// Returns the next usable path after `path`, in turn. If there is no other path, returns `path`.
fn alternate(view: &View<'_>, path: PathId) -> Option<PathId> {
    let usable = view.usable();
    let others = || usable.iter().filter(|other| *other != path);
    others().find(|other| *other > path).or_else(|| others().next()).or_else(|| usable.iter().next())
}

/// Retransmission policy and its state. If several paths are equally good, one is drawn at random.
#[derive(Debug)]
pub(super) struct Chooser {
    rule: Rtx,
    random: Random,
    /// Histories by path slot, kept only for RTX-LOSSRATE.
    histories: Vec<History>,
}

impl Chooser {
    pub fn new(rule: Rtx, random: Random) -> Self {
        Chooser { rule, random, histories: Vec::new() }
    }

    #[inline]
    pub fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if self.rule == Rtx::LossRate {
            self.remember(view, signal);
        }
    }

    fn remember(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => {
                if let Some(t) = chunk.transmissions.last() {
                    self.history(t.path).sent(t.at, chunk.tsn);
                }
            }
            Signal::Lost { chunk, .. } => {
                for t in chunk.transmissions.iter().filter(|t| !t.in_flight) {
                    self.history(t.path).lost(t.at, chunk.tsn);
                }
            }
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_some_and(|p| p.state == PathState::Closed) =>
            {
                *self.history(*path) = History::default();
            }
            _ => {}
        }
    }

    fn history(&mut self, path: PathId) -> &mut History {
        if self.histories.len() <= path.index() {
            self.histories.resize_with(path.index() + 1, History::default);
        }
        &mut self.histories[path.index()]
    }

    fn loss_rate(&self, path: PathId) -> f64 {
        self.histories.get(path.index()).map_or(0.0, History::rate)
    }

    /// Returns the path for the retransmission of `chunk`. The core waits until this path has room.
    pub fn verdict(&mut self, view: &View<'_>, chunk: &ChunkInfo) -> Retransmit {
        match self.rule {
            Rtx::Scheduler => Retransmit::Requeue,
            _ => self.choose(view, chunk).map_or(Retransmit::Hold, Retransmit::On),
        }
    }

    /// Chooses the path for `chunk`. Returns `None` if no path is usable.
    fn choose(&mut self, view: &View<'_>, chunk: &ChunkInfo) -> Option<PathId> {
        let usable = view.usable();
        let last = chunk.path();
        match self.rule {
            // Even if the window is full, the core lets the first fast retransmission leave on the path that lost the
            // chunk.
            Rtx::Same if usable.contains(last) => Some(last),
            Rtx::Alternate => alternate(view, last),
            Rtx::Asap => {
                let room = |p: &PathView| f64::from(u8::from(p.has_room()));
                let full = !view.usable_paths().any(|p| p.has_room());
                if full && usable.contains(last) { Some(last) } else { self.best(view, |_, p| room(p)) }
            }
            Rtx::Same | Rtx::Cwnd | Rtx::Scheduler => self.best(view, |_, p| p.limit.cwnd as f64),
            Rtx::Ssthresh => self.best(view, |_, p| p.limit.ssthresh.map_or(f64::INFINITY, |s| s as f64)),
            Rtx::LossRate => self.best(view, |this, p| -this.loss_rate(p.id)),
            Rtx::LowestRtt => {
                self.best(view, |_, p| p.srtt.map_or(f64::NEG_INFINITY, |srtt| -(srtt.as_nanos() as f64)))
            }
        }
    }

    /// Returns the usable path with the highest score. If several paths have this score, one of them is drawn at
    /// random.
    fn best(&mut self, view: &View<'_>, score: impl Fn(&Self, &PathView) -> f64) -> Option<PathId> {
        let (mut highest, mut ties) = (f64::NEG_INFINITY, PathSet::default());
        for path in view.usable_paths() {
            let score = score(self, path);
            if score > highest {
                (highest, ties) = (score, PathSet::default());
            }
            if score >= highest {
                ties.insert(path.id);
            }
        }
        match ties.len() {
            0 => None,
            1 => ties.iter().next(),
            many => ties.iter().nth(self.random.below(many as u64) as usize),
        }
    }
}

/// Last transmissions of a path. The oldest one comes first.
#[derive(Debug, Default)]
struct History {
    sent: VecDeque<Entry>,
    lost: usize,
}

#[derive(Debug)]
struct Entry {
    at: Instant,
    tsn: Tsn,
    lost: bool,
}

impl History {
    fn sent(&mut self, at: Instant, tsn: Tsn) {
        if self.sent.len() == HISTORY {
            let oldest = self.sent.pop_front();
            self.lost -= usize::from(oldest.is_some_and(|e| e.lost));
        }
        self.sent.push_back(Entry { at, tsn, lost: false });
    }

    /// Marks the transmission of `tsn` at `at` as lost, if it is still stored. A second mark changes nothing.
    fn lost(&mut self, at: Instant, tsn: Tsn) {
        let first = self.sent.partition_point(|e| e.at < at);
        let same_time = self.sent.iter_mut().skip(first).take_while(|e| e.at == at);
        if let Some(entry) = same_time.filter(|e| e.tsn == tsn).find(|e| !e.lost) {
            entry.lost = true;
            self.lost += 1;
        }
    }

    fn rate(&self) -> f64 {
        self.lost as f64 / self.sent.len().max(1) as f64
    }
}
