//! A congestion window that uses queueing delays. A loss halves the window only if losses coincide with long queues.
//!
//! | rule | where from | here |
//! |---|---|---|
//! | slow start, one MTU a window, RTO, idle time | RFC 9260 §7.2 | `rfc::Window` |
//! | slow start counts every byte, so that a window doubles with each round trip | RFC 3465 §2.2 without a limit, as TCP in Linux | the same |
//! | the queue at a loss tells congestion from random loss | Veno (Fu & Liew 2003) | [`Path::congested`], [`ranks`] |
//! | random loss: bandwidth times least round-trip time | Westwood+ (Grieco and Mascolo 2004) | [`Path::on_random_loss`] |
//! | first slow start ends when queueing delay rises, and rises with the window | HyStart++ (RFC 9406) | [`start`] |
//! | a window leaves over most of a round trip | TCP pacing in Linux | [`Path::set_pace`] |
//! | an empty queue lets a window back to most of what it was | none | [`Path::return_to_peak`] |
//! | a full queue leaves half, or 0.7 of an only path's window beside others; from there it grows as CUBIC does | RFC 9438 | [`curve`] |
//! | increases of paths behind one bottleneck are coupled | RFC 6356 | [`Shared`], [`Lia`] |
//! | what a silent path had in flight may leave at once by others | none | [`reserve`] |
//! | a window of which little is used becomes smaller, as an idle one does | RFC 2861, RFC 7661 §4.1 | [`idle`] |
//!
//! *Congestion*: a loss counts as congestion if the path's losses coincide with queues that are long compared with
//! recent queues. The losses include this loss. A drop-tail queue loses packets when it is full. A full queue may hold
//! a few packets or the data of seconds. A radio loses packets at any length of the queue ([`ranks`]). Until enough
//! losses are known for this decision, the queueing delay decides. A loss then counts as congestion if the delay
//! exceeds two values: half of the longest delay of the last minute, and a quarter of the least round-trip time.
//! Shorter delays may be jitter.
//!
//! *Random loss*: the window becomes the bandwidth in use (cwnd/rtt) times the least round-trip time. The product is
//! the window less the part of the window that waits in the queue. The path is known to lose a share of its chunks. If
//! the share of lost chunks exceeds that share by more than [`EXCESS`], a test decides. For the test, the window falls
//! to the measured delivery rate times the least round-trip time ([`under_way`]). If the share of lost chunks halves,
//! the queue was short and full, and the window stays reduced. If the share does not halve, the path loses this share
//! at any rate. The window then returns to its former size, and the share is known from then on.

mod curve;
mod delays;
mod idle;
mod longest;
mod losses;
mod ranks;
mod reserve;
mod start;

use strandcast_keys::keys;
use strandcast_proto::policy::{
    AckInfo, CongestionControl, Limit, LossCause, LossTrigger, Moves, PathId, PathState, PathView, Policy,
    Signal, View,
};
use strandcast_proto::rfc::{Window, WindowConfig};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::units::Rate;
use strandcast_proto::wire::Tsn;

use curve::Curve;
use delays::{in_use, queue, shorter, under_way, without_queue};
use longest::Longest;
use losses::{CHANCE, Losses, Suspicion, Test};
use ranks::{BESIDE, HALF, Ranks};
use reserve::Reserve;
use start::Start;

use super::TcpConfig;
use super::shared::Shared;
use super::window::{WindowPart, Windows};
use crate::estimate::{MIN_QUEUE, NO_QUEUE, Verdict};
use crate::part::Estimators;

keys! {
    /// [`QueueAware`] has no keys of its own.
    pub struct QueueAwareConfig {}
}

impl WindowPart for QueueAwareConfig {
    fn paper(&self) -> &'static str {
        "Veno, Westwood+, RFC 6356"
    }

    fn summary(&self) -> &'static str {
        "half or CUBIC's 0.7 at losses that come with long queues, else the bandwidth times the least round-trip time; coupled behind one bottleneck"
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        Box::new(QueueAware::new(config))
    }

    fn tcp(&self, _: TcpConfig) -> Result<Windows, &'static str> {
        Err("it needs the delivery rate and queueing delay that a scheme measures")
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.delivery();
    }
}

/// Least queueing delay in seconds that counts as long on any path, as long as ranks are unknown.
const MIN_LONG: f64 = 0.001;
/// Share of the least round-trip time. A shorter queueing delay proves nothing about the cause of a loss while ranks
/// are unknown. It does not prove either that two paths have different bottlenecks.
const TELLING: f64 = 0.25;
/// Time over which the first window leaves, seconds.
const FIRST_WINDOW: f64 = 0.01;
/// Number of windows that may leave per round trip. The second value applies while the window is to double at least
/// once more.
const PACE: f64 = 1.25;
const PACE_START: f64 = 2.5;
/// Number of round trips without a queue after which a window returns.
const EMPTY_TRIPS: f64 = 8.0;
/// Share of its former size to which the window returns.
const PEAK_SHARE: f64 = 0.7;

/// Windows of all paths.
#[derive(Debug)]
pub struct QueueAware {
    config: WindowConfig,
    shared: Shared,
    /// Paths by slot. `None` while the slot is closed.
    paths: Vec<Option<Path>>,
}

#[derive(Debug)]
struct Path {
    state: PathState,
    window: Window,
    /// Time at which a packet last left while at least the share 1/[`idle::USED_PART`] of the window was in flight.
    used: Option<Instant>,
    /// Initial window in bytes.
    initial: u64,
    /// Longest recent queueing delay in seconds.
    longest: Longest,
    /// Correlation of losses with long queueing delays.
    ranks: Ranks,
    /// Largest recent window in bytes at which the queue was full.
    peak: Longest,
    /// Time since which there has been no queue.
    empty: Option<Instant>,
    losses: Losses,
    curve: Curve,
    /// State of the first slow start while it lasts.
    start: Option<Start>,
    /// A window of slow start. The losses in slow start are too few to distinguish a full queue from random loss.
    suspicion: Option<Suspicion>,
    /// Rate at which a window leaves.
    pace: Option<Rate>,
    /// Additional room for data that a silent path has lost, while this path carries them.
    reserve: Option<Reserve>,
}

impl Path {
    fn new(config: WindowConfig, view: &PathView) -> Self {
        let window = Window::new(config, view.mtu);
        Path {
            state: view.state,
            used: None,
            initial: window.cwnd(),
            longest: Longest::default(),
            ranks: Ranks::default(),
            peak: Longest::default(),
            empty: None,
            losses: Losses::default(),
            curve: Curve::default(),
            start: Some(Start::new(Instant::ZERO)),
            suspicion: None,
            pace: Some(Rate::from_bytes_per_s(window.cwnd() as f64 / FIRST_WINDOW)),
            reserve: None,
            window,
        }
    }

    /// Paces a window over most of a round trip, as TCP on Linux does. A window that leaves at one time would overflow
    /// short queues.
    fn set_pace(&mut self, view: &PathView) {
        let doubles = self.window.limit().ssthresh.is_none_or(|s| self.window.cwnd() < s / 2);
        let ahead = if doubles { PACE_START } else { PACE };
        let own = view.est.reference_rtt.unwrap_or_default();
        // A queue that has disappeared still affects srtt for a while. Acknowledgements may also return by a path that
        // is shorter than the data's path.
        let now = |srtt: Duration| view.est.queue.map_or(srtt, |queue| shorter(srtt, own, queue));
        let trip = view.srtt.map(|srtt| now(srtt).max(Duration::from_micros(100)));
        let trip = trip.map(|trip| if own <= trip { trip } else { own.min(trip * 9 / 8) }.as_secs_f64());
        let more = self.reserve.as_ref().map_or(0.0, Reserve::pace);
        let rate = trip.map(|trip| ahead * self.window.cwnd() as f64 / trip + more);
        self.pace = rate.map(Rate::from_bytes_per_s);
    }

    /// Makes room for `bytes` that were in flight on a path that has fallen silent.
    fn stand_in(&mut self, now: Instant, view: &PathView, bytes: u64) {
        let cwnd = self.window.cwnd();
        self.reserve.get_or_insert_with(|| Reserve::new(now, view, cwnd)).grow(bytes);
        self.set_pace(view);
    }

    /// Returns whether a full queue is the cause of a loss that is detected now.
    fn congested(&self, view: &PathView) -> bool {
        let Some((queue, least)) = queue(view) else { return true };
        let long = (self.longest.get() / 2.0).max(TELLING * least).max(MIN_LONG);
        self.ranks.blame(queue).unwrap_or(queue > long)
    }

    /// Reacts to a loss. `full` is the share of the window that remains if the queue was full. `None` if the loss is
    /// random.
    fn on_loss(&mut self, view: &PathView, full: Option<f64>, trigger: LossTrigger, highest: Tsn) {
        let congested = full.is_some();
        let share = full.unwrap_or_else(|| without_queue(view).max(HALF));
        let mut ssthresh = self.window.ssthresh_after_loss(share);
        if !congested {
            // If the window is small because little was sent or nothing arrived, its size does not show the capacity of
            // the path (Westwood+).
            ssthresh = ssthresh.max(in_use(view).min(self.ssthresh()));
        }
        if congested {
            self.reserve = None;
        }
        match trigger {
            // Further timeouts give no new information (RFC 5681 §3.1). The threshold follows from the window before
            // the first timeout.
            LossTrigger::Timeout if self.window.cwnd() <= view.mtu => self.window.on_timeout(self.ssthresh()),
            LossTrigger::Timeout => {
                self.suspicion = None;
                self.window.on_timeout(ssthresh);
            }
            LossTrigger::FastRetransmit if congested && self.in_slow_start() => {
                self.suspicion = self.suspicion.take().or(Some(Suspicion { highest, ssthresh, lost: 1 }));
            }
            LossTrigger::FastRetransmit if congested => self.end_window(ssthresh, highest),
            LossTrigger::FastRetransmit => self.on_random_loss(view, ssthresh, highest),
            LossTrigger::HeadOfLine => {
                let before = self.ssthresh();
                self.window.on_penalty(self.window.ssthresh_after_loss(HALF), highest);
                self.window.set_ssthresh(before);
            }
        }
    }

    /// Reduces the window after a full queue lost data.
    fn end_window(&mut self, ssthresh: u64, highest: Tsn) {
        self.start = None;
        if self.window.counts_loss() {
            let cwnd = self.window.cwnd();
            self.curve.on_congestion(cwnd, (ssthresh as f64 / cwnd as f64).clamp(HALF, BESIDE));
        }
        self.window.on_fast_retransmit(ssthresh, highest);
    }

    fn on_lost(&mut self) {
        self.losses.lost = self.losses.lost.saturating_add(1);
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.lost += 1;
        }
    }

    /// Decides at the end of the suspect window whether its losses were random. Before the end of that window,
    /// acknowledgements can only show that its losses were not random.
    fn resolve_suspicion(&mut self, ack: &AckInfo) {
        let Some(suspicion) = &self.suspicion else { return };
        if suspicion.lost >= CHANCE {
            let Suspicion { highest, ssthresh, .. } = *suspicion;
            self.suspicion = None;
            self.end_window(ssthresh, highest);
        } else if ack.highest_newly_acked.is_some_and(|h| h.is_after(suspicion.highest)) {
            self.suspicion = None;
        }
    }

    fn on_random_loss(&mut self, view: &PathView, ssthresh: u64, highest: Tsn) {
        if self.losses.test.is_some() {
            return;
        }
        let share = self.losses.recent();
        let cwnd = self.window.cwnd();
        if self.losses.excessive(share) {
            let cut = under_way(view).max(self.window.ssthresh_after_loss(0.5)).min(self.ssthresh());
            self.losses.test = Some(Test { after: Some(highest), share, cwnd });
            self.losses.restart();
            self.window.cap_at_ssthresh(cut);
        } else if !self.in_slow_start() {
            self.window.cap_at_ssthresh(ssthresh.min(cwnd));
            self.curve.on_random_loss(self.window.cwnd());
        }
    }

    /// Takes back `chunks` spurious losses. If all losses of the last event were spurious, the window returns to its
    /// size `before`.
    fn undo(&mut self, now: Instant, chunks: u32, before: Option<&Limit>) {
        self.losses.lost = self.losses.lost.saturating_sub(chunks);
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.lost = suspicion.lost.saturating_sub(chunks);
        }
        let Some(before) = before else { return };
        (self.suspicion, self.losses.test) = (None, None);
        self.window.undo(before);
        self.curve.undo();
        if self.in_slow_start() {
            self.start.get_or_insert_with(|| Start::new(now));
        }
    }

    /// Returns the threshold, or the window if that is larger.
    fn ssthresh(&self) -> u64 {
        self.window.limit().ssthresh.unwrap_or(u64::MAX).max(self.window.cwnd())
    }

    fn in_slow_start(&self) -> bool {
        self.window.limit().ssthresh.is_none_or(|s| self.window.cwnd() <= s)
    }

    /// If the queue stays empty although the window is full, the link carries more. For example, other flows may have
    /// ended. Slow start then returns to a large part of the window at which the queue was full.
    fn return_to_peak(&mut self, now: Instant, view: &PathView, ack: &AckInfo, queue: Option<(f64, f64)>) {
        let empty = |(queue, least): &(f64, f64)| *queue < (least * NO_QUEUE).max(MIN_QUEUE);
        let Some((_, least)) = queue.filter(empty) else {
            self.empty = None;
            return;
        };
        let since = *self.empty.get_or_insert(now);
        if ack.flight_before + view.mtu <= self.window.cwnd() || self.losses.test.is_some() {
            self.empty = None;
        } else if now.saturating_since(since).as_secs_f64() > least * EMPTY_TRIPS {
            let back = (PEAK_SHARE * self.peak.get()) as u64;
            if back > self.ssthresh() {
                self.window.set_ssthresh(back);
            }
            self.empty = Some(now);
        }
    }

    /// Evaluates an acknowledgement during the first slow start.
    fn end_slow_start(&mut self, now: Instant, view: &PathView, queue: Option<(f64, f64)>) {
        let (Some(start), Some((queue, least))) = (&mut self.start, queue) else { return };
        let (cwnd, chunks) = (self.window.cwnd(), view.in_flight_chunks.into());
        let rate = view.est.delivery_rate.map_or(0.0, |rate| rate.bytes_per_s());
        let seen = start::Seen { queue, least, srtt: view.srtt.unwrap_or_default(), rate, cwnd, chunks };
        match start.on_acked(now, &seen) {
            start::Verdict::None => {}
            start::Verdict::UpTo(window) => self.window.set_ssthresh(window),
            start::Verdict::On => self.window.set_ssthresh(u64::MAX),
            start::Verdict::Ended => self.start = None,
        }
    }
}

impl QueueAware {
    /// Makes windows that follow `config`.
    pub fn new(config: WindowConfig) -> Self {
        let config = WindowConfig { doubles: true, ..config };
        QueueAware { config, shared: Shared::default(), paths: Vec::new() }
    }

    /// Stores the state and MTU of a path that has changed, or that appears for the first time.
    fn meet(&mut self, view: &View<'_>, path: PathId) {
        let Some(now) = view.paths.get(path.index()) else { return };
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        let slot = &mut self.paths[path.index()];
        if now.state == PathState::Closed {
            *slot = None;
            self.shared.forget(path);
            return;
        }
        let slot = slot.get_or_insert_with(|| Path::new(self.config, now));
        let failed = matches!(slot.state, PathState::PotentiallyFailed | PathState::Inactive);
        slot.window.set_mtu(now.mtu);
        slot.initial = Window::new(self.config, now.mtu).cwnd();
        if failed && now.state == PathState::Active {
            slot.window.restart();
        }
        slot.state = now.state;
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        let shared = &mut self.shared;
        for (i, slot) in self.paths.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            if i != ack.path.index() {
                slot.window.on_acked_elsewhere(ack);
                continue;
            }
            let seen = &view[ack.path];
            let delays = queue(seen);
            if let Some((queue, _)) = delays {
                slot.longest.push(view.now, queue);
                slot.ranks.seen(view.now, seen.srtt, queue, ack.newly_acked_chunks);
                shared.seen(view.now, ack.path, queue);
            }
            let chunks = slot.window.cwnd() / seen.mtu.max(1);
            if let Some(cwnd) = slot.losses.on_acked(ack, chunks as u32) {
                slot.window.set_cwnd(cwnd.max(slot.window.cwnd()));
            }
            slot.resolve_suspicion(ack);
            slot.end_slow_start(view.now, seen, delays);
            slot.return_to_peak(view.now, seen, ack, delays);
            let (cwnd, curve) = (slot.window.cwnd(), &mut slot.curve);
            curve.on_acked(view.now, ack, cwnd, seen.mtu);
            slot.window.on_acked(ack, || {
                let part = shared.increase(view, ack.path, seen.mtu as f64);
                curve.step(view, ack.path, cwnd, part)
            });
            if slot.reserve.as_ref().is_some_and(|r| r.until <= view.now) {
                slot.reserve = None;
            }
            slot.set_pace(seen);
        }
    }
}

impl Policy for QueueAware {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        for i in self.paths.len()..view.paths.len() {
            self.meet(view, PathId(i as u8));
        }
        match signal {
            Signal::PathChanged(path) => self.meet(view, *path),
            Signal::Sent(chunk) => {
                if let Some(path) = self.paths.get_mut(chunk.path().index()).and_then(Option::as_mut) {
                    let seen = &view[chunk.path()];
                    path.on_sent(view.now, seen.rto, seen.in_flight);
                }
            }
            Signal::Queued => {
                for (path, seen) in self.paths.iter_mut().zip(view.paths) {
                    if let Some(path) = path {
                        path.decay(view.now, seen.rto);
                    }
                }
            }
            Signal::Acked(ack) => self.on_acked(view, ack),
            Signal::Lost { path, cause, .. } if *cause != LossCause::PathFailure => {
                if let Some(path) = self.paths.get_mut(path.index()).and_then(Option::as_mut) {
                    path.on_lost();
                }
            }
            Signal::Lost { path, chunk, .. } if Verdict::of(&view[*path]) >= Verdict::Stalled => {
                self.on_silent(view, chunk.len);
            }
            Signal::Spurious { path, trigger, chunks, before } => {
                if let Some(path) = self.paths.get_mut(path.index()).and_then(Option::as_mut) {
                    let missed = if *trigger == LossTrigger::FastRetransmit { *chunks } else { 0 };
                    path.undo(view.now, missed, before.as_ref());
                }
            }
            Signal::LossEvent { path, trigger, highest, .. } => {
                let Some(slot) = self.paths.get_mut(path.index()).and_then(Option::as_mut) else { return };
                let seen = &view[*path];
                let queue = queue(seen);
                if *trigger == LossTrigger::FastRetransmit
                    && slot.window.counts_loss()
                    && let Some((queue, _)) = queue
                {
                    slot.ranks.lost(queue);
                }
                let congested = slot.congested(seen);
                let alone = view.paths.iter().filter(|path| path.state != PathState::Closed).count() == 1;
                if *trigger == LossTrigger::FastRetransmit && congested {
                    if queue.is_some_and(|(queue, least)| queue > TELLING * least) {
                        self.shared.on_congestion(view, *path);
                    }
                    if !slot.in_slow_start() {
                        slot.peak.push(view.now, slot.window.cwnd() as f64);
                    }
                }
                let full = congested.then(|| slot.ranks.left(alone));
                slot.on_loss(seen, full, *trigger, *highest);
            }
            _ => {}
        }
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        Moves::by(signal)
    }
}

impl CongestionControl for QueueAware {
    fn limit(&self, path: PathId) -> Limit {
        let path = self.paths.get(path.index()).and_then(Option::as_ref);
        path.map_or(Limit::default(), |p| {
            let cwnd = p.reserve.as_ref().map_or(0, |r| r.limit).max(p.window.cwnd());
            Limit { cwnd, pacing: p.pace, ..p.window.limit() }
        })
    }
}
