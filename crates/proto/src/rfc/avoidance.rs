//! Congestion avoidance as a strategy: how far windows grow outside of slow start, and what a loss leaves of them. A shell
//! ([`Aimd`](super::Aimd), or TCP's) does the rest: slow start, recovery, timeouts, idle time.

use core::fmt::Debug;

use crate::policy::{LossTrigger, PathId, PathState, Signal, View};
use crate::time::Duration;

/// How windows grow and shrink in congestion avoidance. One object for all paths of an association or connection, so that
/// windows can be coupled and states kept over several paths; [`PerPath`] makes one of each path's own.
pub trait Avoidance: Debug + Send {
    /// Something happened. Heard before what the same signal leads to: a [`Signal::Acked`] before `increase`, a
    /// [`Signal::LossEvent`] before `decrease`.
    fn on_signal(&mut self, _view: &View<'_>, _signal: &Signal<'_>) {}

    /// Bytes by which the window grows; negative, it shrinks, but not below one segment.
    fn increase(&mut self, now: &Progress<'_>) -> f64;

    /// A congestion event: the share of the window that is left. What the shell does beside that (floor, one segment after a
    /// timeout) stays as it is.
    fn decrease(&mut self, _event: &CongestionEvent<'_>) -> f64 {
        0.5
    }

    /// Congestion avoidance on `path` is over without a loss: the next increase there begins anew.
    fn pause(&mut self, _path: PathId) {}

    /// Whether slow start ends with this acknowledgement although nothing was lost: the threshold becomes the window. Asked by
    /// the shell of TCP, for each acknowledgement that lets a window below its threshold grow.
    fn ends_slow_start(&mut self, _now: &Progress<'_>) -> bool {
        false
    }

    /// Adds what it tells of `path` beyond windows and thresholds: names and values for series of a run. Asked seldom.
    fn gauges(&self, _path: PathId, _out: &mut Vec<(&'static str, f64)>) {}
}

/// Acknowledged bytes in congestion avoidance.
#[derive(Debug)]
pub struct Progress<'a> {
    /// All paths. The others' windows are in their [`PathView::limit`](crate::policy::PathView).
    pub view: &'a View<'a>,
    /// Where they were acknowledged.
    pub path: PathId,
    /// Bytes counted: a whole window in RFC 9260's shell, what an ACK counts for in TCP's.
    pub acked: f64,
    /// MTU (PMDCS) or SMSS, bytes.
    pub segment: f64,
    /// The path's window before, bytes.
    pub cwnd: f64,
    /// Time since the previous one, or since sending began again after a pause.
    pub passed: Duration,
}

impl Progress<'_> {
    /// Smoothed round-trip time of the path.
    pub fn srtt(&self) -> Option<Duration> {
        self.view[self.path].srtt
    }

    /// One segment a window: the increase of a path by itself (RFC 9260 §7.2.2, RFC 5681 §3.1), bytes.
    pub fn reno(&self) -> f64 {
        self.acked * self.segment / self.cwnd
    }
}

/// Losses of one window.
#[derive(Debug)]
pub struct CongestionEvent<'a> {
    /// All paths.
    pub view: &'a View<'a>,
    /// Where.
    pub path: PathId,
    /// How it was noticed.
    pub trigger: LossTrigger,
    /// MTU (PMDCS) or SMSS, bytes.
    pub segment: f64,
    /// The path's window before, bytes.
    pub cwnd: f64,
}

/// One segment per round trip more, half at a loss: each path for itself (RFC 9260 §7.2, RFC 5681 §3.1).
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

/// An `A` for each path, a copy of the first as it is: for windows that do not read each other.
#[derive(Clone, Debug)]
pub struct PerPath<A> {
    new: A,
    /// By path slot; `None` while nothing happened there.
    paths: Vec<Option<A>>,
}

impl<A: Avoidance + Clone> PerPath<A> {
    /// `new` is the state of a path on which nothing was sent.
    pub fn new(new: A) -> Self {
        PerPath { new, paths: Vec::new() }
    }

    /// What is known of `path`, if anything happened there.
    pub fn get(&self, path: PathId) -> Option<&A> {
        self.paths.get(path.index()).and_then(Option::as_ref)
    }

    /// The one of `path`.
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
