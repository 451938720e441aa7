//! Additive increase, multiplicative decrease over all paths: everything of RFC 9260 §7.2 but the size of the step in
//! congestion avoidance, which is a small strategy, so that coupled windows need no other shell.

use core::fmt::Debug;

use super::window::{Window, WindowConfig};
use crate::policy::{
    AckInfo, CongestionControl, Limit, LossTrigger, PathId, PathState, Policy, Signal, View,
};

/// How far a window grows in congestion avoidance.
pub trait Increase: Debug + Send {
    /// Bytes by which the window of `path` grows, now that a whole window was acknowledged there.
    fn per_window(&self, view: &View<'_>, path: PathId) -> u64;
}

/// One MTU a window: each path for itself (RFC 9260 §7.2.2).
#[derive(Copy, Clone, Debug, Default)]
pub struct Reno;

impl Increase for Reno {
    fn per_window(&self, view: &View<'_>, path: PathId) -> u64 {
        view[path].mtu
    }
}

/// Windows of all paths, grown by `I`. Every loss counts as congestion, whatever the verdict on its cause.
#[derive(Debug)]
pub struct Aimd<I> {
    config: WindowConfig,
    increase: I,
    /// By path slot; `None` while the slot is closed.
    paths: Vec<Option<Slot>>,
}

#[derive(Debug)]
struct Slot {
    state: PathState,
    window: Window,
}

impl<I: Increase> Aimd<I> {
    /// Windows that follow `config` and grow by `increase`.
    pub fn new(config: WindowConfig, increase: I) -> Self {
        Aimd { config, increase, paths: Vec::new() }
    }

    /// The window of `path`, if it is open.
    pub fn window(&self, path: PathId) -> Option<&Window> {
        self.paths.get(path.index())?.as_ref().map(|s| &s.window)
    }

    fn window_mut(&mut self, path: PathId) -> Option<&mut Window> {
        self.paths.get_mut(path.index())?.as_mut().map(|s| &mut s.window)
    }

    /// Takes the state and MTU of a path that changed, or is seen for the first time.
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
        let fresh = || Slot { state: now.state, window: Window::new(self.config, now.mtu) };
        let slot = slot.get_or_insert_with(fresh);
        let failed = matches!(slot.state, PathState::PotentiallyFailed | PathState::Inactive);
        slot.window.set_mtu(now.mtu);
        if failed && now.state == PathState::Active {
            slot.window.restart();
        }
        slot.state = now.state;
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        let increase = &self.increase;
        for (i, slot) in self.paths.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            if i == ack.path.index() {
                slot.window.on_acked(ack, || increase.per_window(view, ack.path));
            } else {
                slot.window.on_acked_elsewhere(ack);
            }
        }
    }
}

impl<I: Increase> Policy for Aimd<I> {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        for i in self.paths.len()..view.paths.len() {
            self.meet(view, PathId(i as u8));
        }
        match signal {
            Signal::PathChanged(path) => self.meet(view, *path),
            Signal::Sent(chunk) => {
                let path = chunk.path();
                if let Some(window) = self.window_mut(path) {
                    window.on_sent(view.now, view[path].rto);
                }
            }
            Signal::Queued => {
                for (slot, path) in self.paths.iter_mut().zip(view.paths) {
                    if let Some(slot) = slot {
                        slot.window.decay(view.now, path.rto);
                    }
                }
            }
            Signal::Acked(ack) => self.on_acked(view, ack),
            Signal::LossEvent { path, trigger, highest, .. } => {
                if let Some(window) = self.window_mut(*path) {
                    match trigger {
                        LossTrigger::FastRetransmit => window.on_fast_retransmit(*highest),
                        LossTrigger::Timeout => window.on_timeout(),
                    }
                }
            }
            _ => {}
        }
    }
}

impl<I: Increase> CongestionControl for Aimd<I> {
    fn limit(&self, path: PathId) -> Limit {
        self.window(path).map_or(Limit::default(), Window::limit)
    }
}
