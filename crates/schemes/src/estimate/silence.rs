//! Detection of paths that have fallen silent. It uses times of the peer's clock (`Signal::PeerArrivals`). Reports that
//! return by other paths show the silence. A verdict therefore needs only the quickest return path, and not the path
//! itself.
//!
//! Some packets left a path later than the packet that arrived last. Let o be the departure time of the oldest of these
//! packets. Let x be the path's usual one-way delay by both clocks, which is the median of the last [`SAMPLES`] reports
//! of a new arrival. Let y be the time of the last arrival. A report written at w then shows that nothing has arrived
//! for z = w - max(y, o + x), although a packet was due.
//!
//! | z | verdict | which means |
//! |---|---|---|
//! | at most J | [`Verdict::Live`], or [`Verdict::Deaf`] | |
//! | more than J | [`Verdict::Stalled`] | no new chunks |
//! | the same [`RESEND`] later by our clock | [`Verdict::Silent`] | what is in flight is sent again elsewhere |
//! | more than [`DEATH`], and no heartbeat answered | [`Verdict::Dead`] | probation before it is used again |
//! | dead, but it has answered [`ANSWERS`] times | [`Verdict::Returning`] | new chunks while no live path is free |
//!
//! *The return path* has a separate verdict. The peer's SACKs return by several paths in turn ([`return_paths`]). A
//! path is deaf if no report returned by it for the time J, although [`ELSEWHERE`] reports returned by other paths.
//! Data that are sent on a deaf path arrive. As long as other paths deliver, data nevertheless take those paths. J
//! starts at the expected time of a report. This time includes the additional delay of the return path.
//!
//! An arrival by the path, or an answer to a heartbeat, ends the first three verdicts at once. For a deaf path, the
//! arrival must be a report. A dead path is live again when it has answered [`ANSWERS`] times over a time of at least
//! min([`PROBATION`] · 2^k, [`PROBATION_MOST`]). k is the number of times that the path died. It falls by one after
//! each time of [`STABLE`] without a death.
//!
//! *J* depends on the number of needless suspicions. A suspicion is needless if a packet arrives by the path within the
//! time [`NEEDLESS`] after it. Each needless suspicion raises J by [`STEP`]. J falls by one step in each time of
//! [`STEP_TIME`]. It stays between [`MIN_HOLDOFF`] and [`MAX_HOLDOFF`]. J settles where there are as many needless
//! suspicions as steps, which is 5 per minute. A quantile of the gaps between arrivals cannot replace J. Frequent
//! stalls would make such a quantile large, and it would include outages.
//!
//! Data that were in flight on a path when it fell silent may still arrive. They count as queued until then ([`held`]).
//!
//! `ASSUMED`, because no paper describes it: the whole detection. Without reports there are no verdicts. Timers then
//! find failed paths, as they do with peers that are not Strandcast.

mod deaths;
mod held;
mod holdoff;
mod return_path;
mod usual;

use std::collections::VecDeque;

use strandcast_proto::policy::{
    Estimate, LossCause, Moves, PathArrivals, PathEstimator, PathId, PathSet, PathState, PathView,
    PeerArrivals, PeerTime, Policy, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

pub use held::held;
#[cfg(test)]
pub(crate) use held::set_held;

use deaths::Deaths;
use held::Held;
use holdoff::Holdoff;
use return_path::ReturnPath;
use usual::Usual;

/// Number of reports over which the usual delay is the median.
pub const SAMPLES: usize = 32;
/// Least J, and initial J.
pub const MIN_HOLDOFF: Duration = Duration::from_millis(60);
/// Greatest J.
pub const MAX_HOLDOFF: Duration = Duration::from_millis(130);
/// Increase of J after a needless suspicion.
pub const STEP: Duration = Duration::from_millis(10);
/// Time in which J falls by one step.
pub const STEP_TIME: Duration = Duration::from_secs(12);
/// Time after a suspicion. If a packet arrives within it, the suspicion was needless.
pub const NEEDLESS: Duration = Duration::from_millis(50);
/// Time from a suspicion until the data in flight are retransmitted.
pub const RESEND: Duration = Duration::from_millis(40);
/// Time of silence after which a path is dead.
pub const DEATH: Duration = Duration::from_secs(1);
/// Number of answers of a dead path before it is used again.
pub const ANSWERS: u32 = 3;
/// Half of the probation after the first death.
pub const PROBATION: Duration = Duration::from_millis(300);
/// Longest probation.
pub const PROBATION_MOST: Duration = Duration::from_secs(10);
/// Time without a death after which the count of deaths falls by one.
pub const STABLE: Duration = Duration::from_secs(30);

/// Number of reports by other return paths that make a path deaf.
pub const ELSEWHERE: u32 = 3;
/// Time for which a return path must have been named before it counts. A report must first name the return path to the
/// peer.
pub const NAMED: Duration = Duration::from_millis(500);

/// Maximum number of departures that are stored for a path. The oldest departures are stored.
const REMEMBERED: usize = 256;
/// Greatest number of deaths that makes the probation longer.
const DEATHS: u32 = 6;
/// Greatest time between two answers of a path that count for the same return.
const APART: Duration = Duration::from_secs(2);

/// Verdict on a path.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Verdict {
    /// Packets arrive, or none is due.
    #[default]
    Live,
    /// Packets arrive, but no reports return.
    Deaf,
    /// The path was dead and answers, but not for long enough.
    Returning,
    /// A packet is overdue.
    Stalled,
    /// Data in flight count as lost.
    Silent,
    /// Nothing has arrived for a longer time.
    Dead,
}

impl Verdict {
    /// Returns the verdict on `path`. Returns `Live` if no part of the scheme detects silence.
    pub fn of(path: &PathView) -> Verdict {
        match path.est.silence {
            None | Some(..0.5) => Verdict::Live,
            Some(v) if v > 4.5 => Verdict::Dead,
            Some(v) if v > 3.5 => Verdict::Silent,
            Some(v) if v > 2.5 => Verdict::Stalled,
            Some(v) if v > 1.5 => Verdict::Returning,
            _ => Verdict::Deaf,
        }
    }

    /// Returns whether the verdict on `path` is [`Verdict::Live`].
    #[inline]
    pub(crate) fn trusts(path: &PathView) -> bool {
        path.est.silence.is_none_or(|verdict| verdict < 0.5)
    }

    /// Returns whether nothing is expected to arrive by `path`. Nothing is expected if the verdict is
    /// [`Verdict::Stalled`] or worse.
    #[inline]
    pub(crate) fn suspects(path: &PathView) -> bool {
        path.est.silence.is_some_and(|verdict| verdict > 2.5)
    }

    /// Writes the verdict into the estimates of a path.
    pub(crate) fn write(self, out: &mut Estimate) {
        out.silence = Some(f64::from(self as u8));
    }
}

/// Paths by which the peer's SACKs should return. They are the two quickest live paths.
pub fn return_paths(view: &View<'_>) -> PathSet {
    // This function is called after most signals. It looks up verdicts only of paths that could be among the two
    // quickest.
    let usable = view.usable();
    let (mut first, mut second) = (None, None);
    for path in view.paths {
        let Some(way) = path.srtt.map(|srtt| (srtt, path.id)) else { continue };
        if second.is_some_and(|second| way >= second)
            || !usable.contains(path.id)
            || Verdict::of(path) != Verdict::Live
        {
            continue;
        }
        if first.is_none_or(|first| way < first) {
            second = first.replace(way);
        } else {
            second = Some(way);
        }
    }
    let (Some((_, first)), Some((_, second))) = (first, second) else { return PathSet::default() };
    let mut both = PathSet::one(first);
    both.insert(second);
    both
}

/// Estimator of the verdict on each path.
#[derive(Debug, Default)]
pub struct Silence {
    /// Paths by slot. `None` while the slot is closed or unused.
    paths: Vec<Option<Watched>>,
    count: Count,
    /// Time at which the first stalled path becomes silent.
    next: Option<Instant>,
    /// True if the last report changed an estimate of a path. The second flag is true if a path has appeared since
    /// then.
    moved: bool,
    met: bool,
}

/// Number of times that each verdict was reached.
#[derive(Copy, Clone, Debug, Default)]
struct Count {
    deaf: u64,
    stalled: u64,
    needless: u64,
    silent: u64,
    dead: u64,
}

/// State of one path.
#[derive(Debug)]
struct Watched {
    /// Departure times of packets that have not arrived, and after which no later packet has arrived either. Only the
    /// oldest ones are stored, and at most one per millisecond.
    left: VecDeque<Instant>,
    /// Number of packets that arrived, and time of the last arrival.
    packets: u64,
    arrived: PeerTime,
    usual: Usual,
    holdoff: Holdoff,
    verdict: Verdict,
    /// Time by the peer's clock from which on a packet was due, for the present suspicion of the path.
    due: PeerTime,
    /// Time at which a stalled path becomes silent.
    silent_at: Option<Instant>,
    deaths: Deaths,
    back: ReturnPath,
    held: Held,
}

impl Watched {
    fn new(now: Instant) -> Self {
        Watched {
            left: VecDeque::with_capacity(REMEMBERED),
            packets: 0,
            arrived: PeerTime::default(),
            usual: Usual::default(),
            holdoff: Holdoff::new(now),
            verdict: Verdict::Live,
            due: PeerTime::default(),
            silent_at: None,
            deaths: Deaths::new(now),
            back: ReturnPath::default(),
            held: Held::default(),
        }
    }

    fn sent(&mut self, now: Instant) {
        let apart = |last: &Instant| now.saturating_since(*last) >= Duration::from_millis(1);
        if self.left.len() < REMEMBERED && self.left.back().is_none_or(apart) {
            self.left.push_back(now);
        }
    }

    /// Records that a packet that left at `sent` has arrived. Packets that left before this packet are no longer
    /// awaited.
    fn through(&mut self, sent: Instant) {
        while self.left.front().is_some_and(|t| *t <= sent) {
            self.left.pop_front();
        }
    }

    /// Processes a report. If the report contains an arrival that ends a verdict, returns that verdict.
    fn hear(&mut self, now: Instant, news: &PathArrivals, count: &mut Count) {
        if news.packets <= self.packets {
            return;
        }
        self.held.arrives(news);
        let usual = self.usual.median();
        match (news.sent, usual) {
            (Some(sent), _) => self.through(sent),
            (None, Some(usual)) => {
                while self.left.front().is_some_and(|t| news.at.ahead_of(*t) >= usual) {
                    self.left.pop_front();
                }
            }
            (None, None) => self.left.clear(),
        }
        if let Some(sent) = news.sent {
            self.usual.push(news.at.ahead_of(sent));
        }
        if self.verdict > Verdict::Returning && news.at.since(self.due) < self.holdoff.get() + NEEDLESS {
            self.holdoff.needless(now);
            count.needless += 1;
        }
        (self.packets, self.arrived) = (news.packets, news.at);
        if self.verdict > Verdict::Deaf {
            self.answered(now);
        }
    }

    /// Records that a packet arrived.
    fn answered(&mut self, now: Instant) {
        (self.verdict, self.silent_at) = (self.deaths.answered(now), None);
        if self.verdict == Verdict::Live && self.back.deaf {
            self.verdict = Verdict::Deaf;
        }
    }

    /// Records a report that was in transit for `took` microseconds by both clocks. `own` is true if the report
    /// returned by this path. `named` is true if this path is a named return path.
    fn reported(&mut self, now: Instant, own: bool, named: bool, took: i64, count: &mut Count) {
        if own {
            self.back.on_report(now, took);
            self.verdict = if self.verdict == Verdict::Deaf { Verdict::Live } else { self.verdict };
        } else if self.back.missed(now, named, took, self.holdoff.get()) {
            count.deaf += 1;
            self.verdict = self.verdict.max(Verdict::Deaf);
        }
    }

    /// Returns the verdict and the held bytes for the estimates.
    fn shown(&self) -> (Verdict, u64) {
        (self.verdict, self.held.bytes())
    }

    /// Time by the peer's clock from which on a packet is due. `None` if no packet is due.
    fn due(&self) -> Option<PeerTime> {
        let (oldest, usual) = (self.left.front()?, self.usual.median()?);
        let expected = (oldest.as_nanos() / 1000) as i64 + usual;
        Some(self.arrived.max(PeerTime(u64::try_from(expected).unwrap_or(0))))
    }

    fn judge(&mut self, now: Instant, written: PeerTime, count: &mut Count) {
        self.holdoff.passes(now);
        self.deaths.passes(now);
        let Some(due) = self.due() else { return };
        let (overdue, holdoff) = (written.since(due), self.holdoff.get());
        if overdue > holdoff && self.verdict < Verdict::Stalled {
            // If the path is deaf, no report of its arrivals would return. The detector therefore does not wait for an
            // arrival.
            let resend = if self.back.deaf { Duration::ZERO } else { RESEND };
            (self.verdict, self.due, self.silent_at) = (Verdict::Stalled, due, Some(now + resend));
            count.stalled += 1;
        }
        if overdue > DEATH && self.verdict < Verdict::Dead {
            (self.verdict, self.silent_at) = (Verdict::Dead, None);
            self.deaths.died(now);
            count.dead += 1;
        }
    }

    /// Makes a stalled path silent once its time is over.
    fn tick(&mut self, now: Instant, count: &mut Count) {
        if self.silent_at.is_some_and(|at| at <= now) {
            (self.verdict, self.silent_at) = (Verdict::Silent, None);
            count.silent += 1;
        }
    }
}

impl Silence {
    fn of(&mut self, now: Instant, path: PathId) -> &mut Watched {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        let (slot, met) = (&mut self.paths[path.index()], &mut self.met);
        slot.get_or_insert_with(|| {
            *met = true;
            Watched::new(now)
        })
    }

    fn hear(&mut self, view: &View<'_>, report: &PeerArrivals) {
        let (now, named, mut count) = (view.now, return_paths(view), self.count);
        let took = -report.written.ahead_of(now);
        self.of(now, report.via);
        let mut moved = false;
        for news in &report.paths {
            let path = self.of(now, news.path);
            let before = path.shown();
            path.hear(now, news, &mut count);
            moved |= path.shown() != before;
        }
        for (i, path) in self.paths.iter_mut().enumerate() {
            let (Some(path), id) = (path, PathId(i as u8)) else { continue };
            let before = path.verdict;
            path.reported(now, id == report.via, named.contains(id), took, &mut count);
            path.judge(now, report.written, &mut count);
            moved |= path.verdict != before;
        }
        (self.count, self.moved) = (count, moved | core::mem::take(&mut self.met));
        if moved {
            self.look_ahead();
        }
    }

    /// Computes when the first stalled path becomes silent. Called after verdicts may have changed.
    fn look_ahead(&mut self) {
        self.next = self.paths.iter().flatten().filter_map(|p| p.silent_at).min();
    }
}

impl Policy for Silence {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => {
                let newest = chunk.transmissions.iter().rev().take_while(|t| t.at == view.now);
                for sent in newest {
                    self.of(view.now, sent.path).sent(view.now);
                }
            }
            Signal::PeerArrivals(report) => self.hear(view, report),
            Signal::Lost { path, chunk, cause: LossCause::PathFailure } => {
                let path = self.of(view.now, *path);
                if path.verdict == Verdict::Silent {
                    path.held.lost(view.now - RESEND, chunk.len);
                }
            }
            Signal::Tick => {
                for path in self.paths.iter_mut().flatten() {
                    path.tick(view.now, &mut self.count);
                }
                self.look_ahead();
            }
            Signal::Heartbeat(answer) if answer.rtt.is_some() => {
                let path = self.of(view.now, answer.path);
                path.through(answer.sent);
                path.held.through(answer.sent);
                path.back.answered(view.now);
                path.answered(view.now);
                self.look_ahead();
            }
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed) =>
            {
                if let Some(slot) = self.paths.get_mut(path.index()) {
                    *slot = None;
                }
                self.look_ahead();
            }
            _ => {}
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        match signal {
            // Most reports change no verdict.
            Signal::PeerArrivals(_) if self.moved => Moves::All,
            _ => Moves::by(signal),
        }
    }

    fn hears_arrivals(&self) -> bool {
        true
    }

    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        if !view.peer_reports {
            out.push("the peer does not speak REPORT: timers alone find out that a path is silent");
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        let Count { deaf, stalled, needless, silent, dead } = self.count;
        out.extend([("deaf", deaf), ("stalled", stalled), ("needless_stalled", needless)]);
        out.extend([("silent", silent), ("dead", dead)]);
    }
}

impl PathEstimator for Silence {
    fn estimate(&self, path: PathId, out: &mut Estimate) {
        match self.paths.get(path.index()).and_then(Option::as_ref) {
            Some(watched) => {
                watched.verdict.write(out);
                watched.held.write(out);
            }
            None => {
                out.silence = None;
                Held::default().write(out);
            }
        }
    }
}

#[cfg(test)]
mod tests;
