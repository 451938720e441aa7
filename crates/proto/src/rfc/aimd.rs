//! Windows of RFC 9260 §7.2 for all paths: slow start, recovery, timeout, and decay of idle windows. The growth in
//! congestion avoidance, and the fraction of a window that remains after a loss, are exchangeable ([`Avoidance`]).
//! Coupled windows therefore use this code too.

use super::avoidance::{Avoidance, CongestionEvent, Progress};
use super::spared::SparedLosses;
use super::window::{Window, WindowConfig};
use crate::policy::{
    AckInfo, CongestionControl, Limit, LossTrigger, Moves, PathId, PathState, Policy, Signal, View,
};
use crate::time::{Duration, Instant};
use crate::wire::serial::Tsn;

/// Windows of all paths. `A` decides their growth and decrease in congestion avoidance. With [`Reno`](super::Reno) it
/// is additive increase, multiplicative decrease. [`SparedLosses`] selects the losses that count.
#[derive(Debug)]
pub struct Aimd<A> {
    config: WindowConfig,
    avoidance: A,
    /// Windows by path slot; `None` if the slot's path is closed.
    paths: Vec<Option<Slot>>,
    spared: SparedLosses,
}

#[derive(Debug)]
struct Slot {
    state: PathState,
    window: Window,
    /// Time of the last step of congestion avoidance, or of the restart after an idle time.
    clock: Option<Instant>,
}

impl<A: Avoidance> Aimd<A> {
    /// Creates windows that follow `config` and `avoidance`.
    pub fn new(config: WindowConfig, avoidance: A) -> Self {
        Aimd { config, avoidance, paths: Vec::new(), spared: SparedLosses::default() }
    }

    /// Returns the window of `path`, if it is open.
    pub fn window(&self, path: PathId) -> Option<&Window> {
        self.paths.get(path.index())?.as_ref().map(|s| &s.window)
    }

    /// Adopts the state and MTU of a path that changed or is new.
    fn meet(&mut self, view: &View<'_>, path: PathId) {
        let Some(now) = view.paths.get(path.index()) else { return };
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        let slot = &mut self.paths[path.index()];
        if now.state == PathState::Closed {
            *slot = None;
            return;
        }
        let fresh = || Slot { state: now.state, window: Window::new(self.config, now.mtu), clock: None };
        let slot = slot.get_or_insert_with(fresh);
        let failed = matches!(slot.state, PathState::PotentiallyFailed | PathState::Inactive);
        slot.window.set_mtu(now.mtu);
        if failed && now.state == PathState::Active {
            slot.window.restart();
            self.avoidance.pause(path);
        }
        slot.state = now.state;
    }

    fn on_sent(&mut self, view: &View<'_>, path: PathId, len: u64) {
        let Some(slot) = self.paths.get_mut(path.index()).and_then(Option::as_mut) else { return };
        let now = &view[path];
        slot.window.on_sent(view.now, now.rto);
        if now.in_flight <= len {
            // Nothing else is in flight: the window could not grow in the time before.
            slot.clock = Some(view.now);
        }
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        let avoidance = &mut self.avoidance;
        for (i, slot) in self.paths.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            if i != ack.path.index() {
                slot.window.on_acked_elsewhere(ack);
                continue;
            }
            let (path, cwnd) = (ack.path, slot.window.cwnd() as f64);
            let passed = slot.clock.map_or(Duration::ZERO, |t| view.now - t);
            let clock = &mut slot.clock;
            slot.window.on_acked(ack, || {
                *clock = Some(view.now);
                let segment = view[path].mtu as f64;
                avoidance.increase(&Progress { view, path, acked: cwnd, segment, cwnd, passed })
            });
        }
    }

    fn on_loss(&mut self, view: &View<'_>, path: PathId, trigger: LossTrigger, highest: Tsn) {
        let Some(slot) = self.paths.get_mut(path.index()).and_then(Option::as_mut) else { return };
        let window = &mut slot.window;
        let timeout = trigger == LossTrigger::Timeout;
        if !timeout && !window.counts_loss() {
            return;
        }
        let (segment, cwnd) = (view[path].mtu as f64, window.cwnd() as f64);
        let left = self.avoidance.decrease(&CongestionEvent { view, path, trigger, segment, cwnd });
        let ssthresh = window.ssthresh_after_loss(left);
        match trigger {
            LossTrigger::Timeout => window.on_timeout(ssthresh),
            LossTrigger::FastRetransmit => window.on_fast_retransmit(ssthresh, highest),
            LossTrigger::HeadOfLine => window.on_penalty(ssthresh, highest),
        }
    }
}

impl<A: Avoidance> Policy for Aimd<A> {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        for i in self.paths.len()..view.paths.len() {
            self.meet(view, PathId(i as u8));
        }
        self.avoidance.on_signal(view, signal);
        match signal {
            Signal::PathChanged(path) => self.meet(view, *path),
            Signal::Sent(chunk) => self.on_sent(view, chunk.path(), chunk.len),
            Signal::Queued => {
                for (slot, path) in self.paths.iter_mut().zip(view.paths) {
                    if let Some(slot) = slot {
                        slot.window.decay(view.now, path.rto);
                    }
                }
            }
            Signal::Acked(ack) => self.on_acked(view, ack),
            Signal::Spurious { path, before: Some(before), .. } => {
                if let Some(slot) = self.paths.get_mut(path.index()).and_then(Option::as_mut) {
                    slot.window.undo(before);
                }
            }
            Signal::Lost { .. } | Signal::LossEvent { .. } => {
                if let Some((path, trigger, highest)) = self.spared.counts(signal) {
                    self.on_loss(view, path, trigger, highest);
                }
            }
            _ => {}
        }
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        Moves::by(signal)
    }
}

impl<A: Avoidance> CongestionControl for Aimd<A> {
    fn limit(&self, path: PathId) -> Limit {
        self.window(path).map_or(Limit::default(), Window::limit)
    }

    fn gauges(&self, path: PathId, out: &mut Vec<(&'static str, f64)>) {
        self.avoidance.gauges(path, out);
    }
}
