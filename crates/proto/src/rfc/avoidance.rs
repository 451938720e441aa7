//! Congestion avoidance as an exchangeable part: the growth of windows outside slow start, and the part of a window
//! that remains after a loss. The windows that use congestion avoidance ([`Aimd`](super::Aimd), or TCP's windows)
//! handle slow start, recovery, timeouts and idle times themselves.

use core::fmt::Debug;

use crate::policy::{LossTrigger, PathId, PathState, Signal, View};
use crate::time::Duration;

/// Growth and decrease of windows in congestion avoidance. One object handles all paths of an association or
/// connection. This permits coupled windows, and a state that covers several paths. [`PerPath`] provides a separate
/// object for each path.
pub trait Avoidance: Debug + Send {
    /// Handles a signal. The call precedes the calls that the signal causes: [`Signal::Acked`] precedes `increase`, and
    /// [`Signal::LossEvent`] precedes `decrease`.
    fn on_signal(&mut self, _view: &View<'_>, _signal: &Signal<'_>) {}

    /// Returns the bytes by which the window of the path grows. A negative number shrinks the window, but to no less
    /// than one segment.
    fn increase(&mut self, now: &Progress<'_>) -> f64;

    /// Returns the fraction of the window, from 0 to 1, that remains after a congestion event. The other rules of
    /// windows (minimum, one segment after a timeout) still apply.
    fn decrease(&mut self, _event: &CongestionEvent<'_>) -> f64 {
        0.5
    }

    /// Ends congestion avoidance on `path`, although no loss occurred. The next increase on the path begins a new
    /// stage.
    fn pause(&mut self, _path: PathId) {}

    /// Returns whether slow start ends with this acknowledgement, although no loss occurred. If slow start ends, the
    /// threshold becomes equal to the window. TCP's windows call this method for each acknowledgement by which a window
    /// below its threshold grows.
    fn ends_slow_start(&mut self, _now: &Progress<'_>) -> bool {
        false
    }

    /// Adds names and values of `path` for time series of a run, other than windows and thresholds. The method is
    /// called rarely.
    fn gauges(&self, _path: PathId, _out: &mut Vec<(&'static str, f64)>) {}
}

/// Acknowledged bytes for which a window in congestion avoidance may grow.
#[derive(Debug)]
pub struct Progress<'a> {
    /// State of all paths. The windows of the paths are in [`PathView::limit`](crate::policy::PathView).
    pub view: &'a View<'a>,
    /// Path on which the bytes were acknowledged.
    pub path: PathId,
    /// Acknowledged bytes to which this step applies: a whole window in [`Aimd`](super::Aimd), the bytes of one ACK in
    /// TCP's windows.
    pub acked: f64,
    /// Segment size in bytes: MTU (PMDCS) or SMSS.
    pub segment: f64,
    /// Window of the path before the increase, in bytes.
    pub cwnd: f64,
    /// Time since the previous increase, or since sending began again after a pause.
    pub passed: Duration,
}

impl Progress<'_> {
    /// Returns the smoothed round-trip time of the path.
    pub fn srtt(&self) -> Option<Duration> {
        self.view[self.path].srtt
    }

    /// Returns the increase in bytes of an uncoupled path: one segment per acknowledged window (RFC 9260 §7.2.2, RFC
    /// 5681 §3.1).
    pub fn reno(&self) -> f64 {
        self.acked * self.segment / self.cwnd
    }
}

/// Congestion event: the losses of one window.
#[derive(Debug)]
pub struct CongestionEvent<'a> {
    /// State of all paths.
    pub view: &'a View<'a>,
    /// Path of the losses.
    pub path: PathId,
    /// Trigger of the congestion event.
    pub trigger: LossTrigger,
    /// Segment size in bytes: MTU (PMDCS) or SMSS.
    pub segment: f64,
    /// Window of the path before the decrease, in bytes.
    pub cwnd: f64,
}

/// Congestion avoidance for each path separately. A window grows by one segment per round trip, and half of it remains
/// after a loss (RFC 9260 §7.2, RFC 5681 §3.1).
///
/// | RFC | here |
/// |---|---|
/// | 9260 §7.2.2 one MTU a window; 5681 §3.1 eq. 3 and RFC 3465 §2.1, SMSS·SMSS/cwnd an ACK | [`Progress::reno`] |
/// | 9260 §7.2.3, 5681 eq. 4: half | the default of [`Avoidance::decrease`] |
#[derive(Copy, Clone, Debug, Default)]
pub struct Reno;

impl Avoidance for Reno {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        now.reno()
    }
}

/// A separate `A` for each path, for windows that do not depend on each other. Each is created as a copy of the initial
/// state.
#[derive(Clone, Debug)]
pub struct PerPath<A> {
    new: A,
    /// States by path slot; `None` until the path has its first event.
    paths: Vec<Option<A>>,
}

impl<A: Avoidance + Clone> PerPath<A> {
    /// Creates the states of all paths. `new` is the state of a path on which nothing was sent yet.
    pub fn new(new: A) -> Self {
        PerPath { new, paths: Vec::new() }
    }

    /// Returns the state of `path`, if the path had an event.
    pub fn get(&self, path: PathId) -> Option<&A> {
        self.paths.get(path.index()).and_then(Option::as_ref)
    }

    /// Returns the state of `path`, which may be changed.
    pub fn of(&mut self, path: PathId) -> &mut A {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        self.paths[path.index()].get_or_insert_with(|| self.new.clone())
    }
}

impl<A: Avoidance + Clone> Avoidance for PerPath<A> {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if let Signal::PathChanged(path) = signal
            && view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed)
            && let Some(slot) = self.paths.get_mut(path.index())
        {
            *slot = None;
        }
        self.paths.iter_mut().flatten().for_each(|a| a.on_signal(view, signal));
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        self.of(now.path).increase(now)
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        self.of(event.path).decrease(event)
    }

    fn pause(&mut self, path: PathId) {
        self.of(path).pause(path);
    }

    fn ends_slow_start(&mut self, now: &Progress<'_>) -> bool {
        self.of(now.path).ends_slow_start(now)
    }

    fn gauges(&self, path: PathId, out: &mut Vec<(&'static str, f64)>) {
        if let Some(of) = self.get(path) {
            of.gauges(path, out);
        }
    }
}
