//! Windows of TCP senders (RFC 5681), one per path. These windows contain everything except congestion avoidance, which
//! is an [`Avoidance`].
//!
//! | RFC | here |
//! |---|---|
//! | 5681 §3.1 slow start, eq. 2; RFC 3465 §2.2 limit L | [`TcpWindow::slow_start`], [`TcpConfig::slow_start_limit`] |
//! | 5681 §3.1 congestion avoidance | [`Avoidance::increase`] |
//! | 5681 §3.1 eq. 4 and loss window, §3.2 step 2 | [`TcpWindow::on_loss`] |
//! | 5681 §3.2 no growth in fast recovery | `recovery` in [`TcpWindow`] |
//! | 5681 §4.1 restart after idle time | [`TcpWindow::on_sent`] |
//! | 7661 §1, 9438 §5.8: no growth unless the window was full | [`TcpWindow::on_acked`] |
//! | 9406 HyStart++ | `hystart` |
//!
//! The sender handles window inflation during recovery, pipe, limited transmit, and further timeouts of the same
//! segment. These windows do not handle them. Each loss event shrinks a window. FlightSize is the path's `in_flight` at
//! the time of [`Signal::LossEvent`], at most the window. RFC 5681 §3.2 excludes data that limited transmit sent.
//! Recovery ends when the event's `highest` is acknowledged. [`SparedLosses`] decides which losses shrink a window.

use strandcast_keys::words;
use strandcast_proto::policy::{
    AckInfo, CongestionControl, Limit, LossTrigger, PathId, PathState, PathView, Policy, Signal, View,
};
use strandcast_proto::rfc::{Advance, Avoidance, CongestionEvent, Progress, SparedLosses, WindowConfig};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::Tsn;

use super::hystart::HyStart;

words! {
    /// Amount of data that an ACK counts for.
    pub enum Counting {
        /// One segment, regardless of the amount that the ACK acknowledges (RFC 5681 eq. 3, ns-2).
        Acks = "ack",
        /// The bytes that the ACK newly acknowledges (RFC 3465).
        Bytes = "bytes",
    }
}

words! {
    /// Quantity of which a share remains after a loss.
    pub enum DecreaseBase {
        /// FlightSize, at most the window (RFC 5681 eq. 4).
        Flight = "flight",
        /// The window, as in SCTP.
        Window = "window",
    }
}

/// The first window of a path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// min(4·SMSS, max(2·SMSS, 4380 bytes)) (RFC 3390).
    Rfc,
    /// Number of segments.
    Segments(u32),
    /// Number of bytes; the window is at least one segment.
    Bytes(u64),
}

impl InitialWindow {
    /// Converts the first window to bytes, for segments of `segment` bytes.
    pub(super) fn bytes(self, segment: f64) -> f64 {
        let bytes = match self {
            InitialWindow::Rfc => (4.0 * segment).min((2.0 * segment).max(4380.0)),
            InitialWindow::Segments(n) => f64::from(n) * segment,
            InitialWindow::Bytes(n) => n as f64,
        };
        bytes.max(segment)
    }
}

/// Settings of TCP's windows.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct TcpConfig {
    /// IW, the initial window.
    pub initial_window: InitialWindow,
    /// First ssthresh in bytes. `None`: arbitrarily high.
    pub initial_ssthresh: Option<u64>,
    /// L: greatest number of segments that an ACK adds in slow start. `None`: the window grows by all bytes that the
    /// ACK acknowledges.
    pub slow_start_limit: Option<u32>,
    /// Amount of data that an ACK counts for in congestion avoidance.
    pub counting: Counting,
    /// Quantity of which a share remains after a loss.
    pub decrease_base: DecreaseBase,
    /// Least ssthresh after a loss, segments.
    pub floor_segments: u32,
    /// True if a window grows only if it was full.
    pub when_full: bool,
    /// True if the window falls to the initial window after a time of one RTO without sending. False if the sender
    /// itself handles idle time.
    pub restart_after_idle: bool,
    /// Acknowledgements that count as progress. In TCP, the cumulative sequence number may be that of the path alone.
    pub advance: Advance,
    /// True if windows do not grow in fast recovery.
    pub freeze_in_recovery: bool,
    /// True if the first slow start ends when round-trip times rise (RFC 9406).
    pub hystart: bool,
}

impl Default for TcpConfig {
    fn default() -> Self {
        TcpConfig {
            initial_window: InitialWindow::Rfc,
            initial_ssthresh: None,
            slow_start_limit: Some(1),
            counting: Counting::Acks,
            decrease_base: DecreaseBase::Flight,
            floor_segments: 2,
            when_full: true,
            restart_after_idle: false,
            advance: Advance::CumulativeAlways,
            freeze_in_recovery: true,
            hystart: false,
        }
    }
}

/// TCP's windows over SCTP's packets. Bytes are counted, because a SACK may cover many packets. A loss reduces the
/// window to a share of the window, and not of the data in flight. Lost data are no longer in flight when the window
/// receives the loss.
impl From<WindowConfig> for TcpConfig {
    fn from(sctp: WindowConfig) -> Self {
        TcpConfig {
            initial_window: sctp.initial_mtus.map_or(InitialWindow::Rfc, InitialWindow::Segments),
            initial_ssthresh: sctp.initial_ssthresh,
            slow_start_limit: sctp.strict.then_some(1),
            counting: Counting::Bytes,
            decrease_base: DecreaseBase::Window,
            floor_segments: sctp.half_floor_mtus,
            restart_after_idle: true,
            advance: sctp.advance,
            freeze_in_recovery: sctp.freeze_in_recovery,
            ..TcpConfig::default()
        }
    }
}

/// Windows of all paths. In congestion avoidance `A` determines their growth and decrease.
#[derive(Debug)]
pub struct TcpWindows<A> {
    config: TcpConfig,
    avoidance: A,
    /// Windows by path slot. `None` while the slot is closed.
    paths: Vec<Option<TcpWindow>>,
    spared: SparedLosses,
}

impl<A: Avoidance> TcpWindows<A> {
    /// Makes windows that follow `config` and `avoidance`.
    pub fn new(config: TcpConfig, avoidance: A) -> Self {
        TcpWindows { config, avoidance, paths: Vec::new(), spared: SparedLosses::default() }
    }

    fn window(&mut self, path: PathId) -> Option<(&mut TcpWindow, &mut A)> {
        Some((self.paths.get_mut(path.index())?.as_mut()?, &mut self.avoidance))
    }

    /// Stores the state and segment size of a path that has changed, or that appears for the first time.
    fn meet(&mut self, view: &View<'_>, path: PathId) {
        let Some(now) = view.paths.get(path.index()) else { return };
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        let slot = &mut self.paths[path.index()];
        if now.state == PathState::Closed {
            *slot = None;
        } else {
            slot.get_or_insert_with(|| TcpWindow::new(self.config, now)).follow(now, &mut self.avoidance);
        }
    }
}

impl<A: Avoidance> Policy for TcpWindows<A> {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        for i in self.paths.len()..view.paths.len() {
            self.meet(view, PathId(i as u8));
        }
        self.avoidance.on_signal(view, signal);
        match signal {
            Signal::PathChanged(path) => self.meet(view, *path),
            Signal::Sent(chunk) => {
                let path = chunk.path();
                if let Some((window, avoidance)) = self.window(path) {
                    window.on_sent(view.now, &view[path], avoidance, chunk.tsn, chunk.len);
                }
            }
            Signal::Acked(ack) => {
                if let Some((window, avoidance)) = self.window(ack.path) {
                    window.on_acked(view, ack, avoidance);
                }
            }
            Signal::Spurious { path, before: Some(before), .. } => {
                if let Some((window, _)) = self.window(*path) {
                    window.undo(before);
                }
            }
            Signal::Lost { .. } | Signal::LossEvent { .. } => {
                let Some((path, trigger, highest)) = self.spared.counts(signal) else { return };
                if let Some((window, avoidance)) = self.window(path) {
                    window.on_loss(view, path, trigger, highest, avoidance);
                }
            }
            _ => {}
        }
    }
}

impl<A: Avoidance> CongestionControl for TcpWindows<A> {
    fn limit(&self, path: PathId) -> Limit {
        let window = self.paths.get(path.index()).and_then(Option::as_ref);
        window.map_or(Limit::default(), TcpWindow::limit)
    }

    fn gauges(&self, path: PathId, out: &mut Vec<(&'static str, f64)>) {
        self.avoidance.gauges(path, out);
    }
}

/// The window of one path, bytes.
#[derive(Clone, Debug)]
struct TcpWindow {
    config: TcpConfig,
    state: PathState,
    segment: f64,
    cwnd: f64,
    ssthresh: f64,
    /// Sequence number whose acknowledgement ends fast recovery.
    recovery: Option<Tsn>,
    /// Time of the previous ACK. After a pause, the time at which sending began again.
    clock: Option<Instant>,
    last_sent: Option<Instant>,
    /// Observer of round-trip times until the first slow start is over.
    hystart: Option<HyStart>,
}

impl TcpWindow {
    fn new(config: TcpConfig, path: &PathView) -> Self {
        let mut window = TcpWindow {
            config,
            state: path.state,
            segment: path.mtu.max(1) as f64,
            cwnd: 0.0,
            ssthresh: config.initial_ssthresh.map_or(f64::INFINITY, |s| s as f64),
            recovery: None,
            clock: None,
            last_sent: None,
            hystart: config.hystart.then(HyStart::default),
        };
        window.cwnd = window.initial();
        window
    }

    fn initial(&self) -> f64 {
        self.config.initial_window.bytes(self.segment)
    }

    fn limit(&self) -> Limit {
        let ssthresh = Some(self.ssthresh).filter(|s| s.is_finite()).map(|s| s as u64);
        Limit { cwnd: self.cwnd as u64, ssthresh, pacing: None }
    }

    /// Takes state and segment size of the path. A window that was never used changes with the segment size.
    fn follow(&mut self, path: &PathView, avoidance: &mut impl Avoidance) {
        let failed = matches!(self.state, PathState::PotentiallyFailed | PathState::Inactive);
        self.segment = path.mtu.max(1) as f64;
        if self.last_sent.is_none() {
            self.cwnd = self.initial();
        } else if failed && path.state == PathState::Active {
            // Two segments remain, so that the peer acknowledges at once (RFC 7829 §4.2 leaves one or two).
            self.restart(2.0 * self.segment);
            avoidance.pause(path.id);
        }
        self.state = path.state;
    }

    fn restart(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
        self.recovery = None;
    }

    fn on_sent(
        &mut self,
        now: Instant,
        path: &PathView,
        avoidance: &mut impl Avoidance,
        sequence: Tsn,
        len: u64,
    ) {
        if path.in_flight <= len {
            // No other data are in flight. The time before this packet therefore did not let the window grow.
            self.clock = Some(now);
            let idle = self.last_sent.is_some_and(|t| now - t > path.rto);
            if idle && self.config.restart_after_idle && self.initial() < self.cwnd {
                self.restart(self.initial());
                avoidance.pause(path.id);
            }
        }
        self.last_sent = Some(now);
        if let Some(hystart) = &mut self.hystart {
            hystart.on_sent(sequence);
        }
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo, avoidance: &mut impl Avoidance) {
        let passed = self.clock.map_or(Duration::ZERO, |t| view.now - t);
        self.clock = Some(view.now);
        let advanced = !ack.lateness.is_zero()
            || match self.config.advance {
                Advance::Cumulative | Advance::CumulativeAlways => ack.cum_advanced,
                Advance::Pseudo => ack.pseudo_cum_advanced || ack.rtx_pseudo_cum_advanced,
            };
        let frozen = self.config.freeze_in_recovery && self.recovery.is_some();
        let full = !self.config.when_full || ack.flight_before as f64 + self.segment > self.cwnd;
        if advanced && full && !frozen && ack.newly_acked > 0 {
            let acked = self.counted(ack);
            let (path, segment, cwnd) = (ack.path, self.segment, self.cwnd);
            let progress = Progress { view, path, acked, segment, cwnd, passed };
            if self.cwnd >= self.ssthresh {
                self.avoid(&progress, avoidance);
            } else if avoidance.ends_slow_start(&progress) {
                self.ssthresh = self.cwnd;
            } else {
                self.slow_start(ack);
            }
        }
        self.maybe_leave_recovery(ack);
    }

    fn slow_start(&mut self, ack: &AckInfo) {
        let most = self.config.slow_start_limit.map_or(f64::INFINITY, |l| f64::from(l) * self.segment);
        let mut step = most.min(ack.newly_acked as f64);
        if let Some(hystart) = &mut self.hystart {
            step *= hystart.pace(ack);
        }
        self.cwnd = self.ssthresh.min(self.cwnd + step);
        if self.hystart.as_ref().is_some_and(HyStart::over) {
            self.hystart = None;
            self.ssthresh = self.cwnd;
        }
    }

    /// Returns the number of bytes for which an ACK counts in congestion avoidance.
    fn counted(&self, ack: &AckInfo) -> f64 {
        match self.config.counting {
            Counting::Acks => self.segment.min(ack.newly_acked as f64),
            // After a timeout, a single ACK may cover more bytes than the remaining window.
            Counting::Bytes => self.cwnd.min(ack.newly_acked as f64),
        }
    }

    fn avoid(&mut self, progress: &Progress<'_>, avoidance: &mut impl Avoidance) {
        let grown = progress.cwnd + avoidance.increase(progress);
        // A window may be smaller than a segment, because the segment has become larger. Such a window is not raised.
        self.cwnd = grown.max(progress.segment.min(progress.cwnd));
    }

    fn maybe_leave_recovery(&mut self, ack: &AckInfo) {
        let Some(exit) = self.recovery else { return };
        // Several paths may share one sequence of TSNs. A gap of another path must then not keep this path in recovery.
        let passed = self.config.advance == Advance::Pseudo
            && ack.earliest_outstanding.is_none_or(|t| t.is_after(exit));
        if passed || !ack.cum_tsn.is_before(exit) {
            self.recovery = None;
        }
    }

    /// Takes back the last losses, because they were spurious (RFC 4015 §3.2).
    fn undo(&mut self, before: &Limit) {
        self.ssthresh = self.ssthresh.max(before.ssthresh.map_or(f64::INFINITY, |s| s as f64));
        self.cwnd = self.cwnd.max(before.cwnd as f64);
        self.recovery = None;
    }

    fn on_loss(
        &mut self,
        view: &View<'_>,
        path: PathId,
        trigger: LossTrigger,
        highest: Tsn,
        avoidance: &mut impl Avoidance,
    ) {
        let (segment, cwnd) = (self.segment, self.cwnd);
        let timeout = trigger == LossTrigger::Timeout;
        let basis = match self.config.decrease_base {
            DecreaseBase::Flight => self.cwnd.min(view[path].in_flight as f64),
            DecreaseBase::Window => self.cwnd,
        };
        let floor = f64::from(self.config.floor_segments) * self.segment;
        let left = avoidance.decrease(&CongestionEvent { view, path, trigger, segment, cwnd });
        self.ssthresh = floor.max(basis * left.clamp(0.0, 1.0));
        self.cwnd = match trigger {
            LossTrigger::Timeout => self.segment,
            LossTrigger::FastRetransmit => self.ssthresh,
            LossTrigger::HeadOfLine => self.cwnd.min(self.ssthresh),
        };
        self.recovery = (!timeout).then_some(highest);
        self.hystart = None;
    }
}
