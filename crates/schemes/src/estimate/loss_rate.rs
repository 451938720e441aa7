//! Loss rate of a path, computed from its window and round-trip time (Liu et al. 2019, section 3). Also the deviation
//! of the loss rate from its recent values.
//!
//! The paper's text lacks the equations. The equations here follow from the paper's words, and from the two models that
//! it names. Mathis: goodput G = C·MSS / (RTT·√PLR). Vegas: G = cwnd / RTT_min. Together they give PLR = (C·MSS/cwnd)²
//! · (RTT_min/RTT)². The PLR is the loss rate at which a TCP would have this window.
//!
//! | Liu et al. (2019) | here |
//! |---|---|
//! | eq 1, Mathis' goodput | inverted in [`loss_rate`] |
//! | eq 2, RTT = ψ·RTT + (1-ψ)·(t_SACK - t_sent - δ) | [`LossRate`], once per round trip |
//! | eq 3, PLR from goodput | [`loss_rate`] |
//! | eq 4, Vegas' goodput | [`goodput`] |
//! | eqs 5-7, jitter indicator of PLR over the last m | [`Deviation`] |
//! | "unreliable transmission condition": positive and rising | [`Deviation::unreliable`] |
//! | Algorithm 1: for each active path PLR, its jitter, a list | [`LossRate`] on `Acked`; `Estimate::loss`, extras [`JITTER`] and [`UNRELIABLE`] |
//!
//! Constants: MSS 1500 bytes ("1,500 MTUs" in the paper).
//!
//! `ASSUMED`. The key that changes a choice is in parentheses:
//! * ψ = 7/8 is the weight of the old value (`psi`; the paper's number is missing). δ = 0: the round-trip time is
//!   measured by Karn's rule, with chunks that were sent once.
//! * C = √(3/2), for receivers without delayed acknowledgements (`c`). With delayed acknowledgements, C would be
//!   √(3/4) = 0.866.
//! * m = 20 (`m`);
//! * RTT_min is the path's own least round-trip time, as in Vegas (`rttmin=path`). The paper says "the minimum in all
//!   paths" (`rttmin=global`). With the paper's value, the slower of two paths with equal windows would have the lower
//!   loss rate. It would then be preferred.
//! * A sample is taken once per round trip, and with the first SACK after a loss. At that SACK, the window has already
//!   been reduced.
//! * Before the first round-trip time, PLR = (C·MSS/cwnd)². A path that is not active has no loss rate. Its state
//!   begins again when the path is active.
//! * PLR is between 10⁻⁶ and 1. cwnd counts as at least one MSS, and RTT as at least RTT_min.

use strandcast_keys::{keys, words};
use strandcast_proto::policy::{
    AckInfo, Estimate, LossTrigger, Moves, PathEstimator, PathId, PathState, PathView, Policy, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::Deviation;

/// Name of the extra estimate with the jitter indicator of the loss rate, from -1 to 1.
pub const JITTER: &str = "loss-jitter";
/// Name of an extra estimate. The estimate is 1 while the path is in an unreliable condition, and 0 otherwise.
pub const UNRELIABLE: &str = "loss-unreliable";

/// Vegas' goodput in bytes per second (`liu2019` eq. 4). It is one window per least round-trip time. It is 0 if
/// `rtt_min` is 0.
pub fn goodput(cwnd: u64, rtt_min: Duration) -> f64 {
    let seconds = rtt_min.as_secs_f64();
    if seconds > 0.0 { cwnd as f64 / seconds } else { 0.0 }
}

/// Loss rate at which a TCP in Mathis' model has this goodput in bytes per second (`liu2019` eq. 3). The loss rate is
/// between 10⁻⁶ and 1. Without goodput or round-trip time the loss rate is 1.
pub fn loss_rate(c: f64, mss: f64, rtt: Duration, goodput: f64) -> f64 {
    let carried = rtt.as_secs_f64() * goodput;
    if carried <= 0.0 {
        return 1.0;
    }
    let root = c * mss / carried;
    (root * root).clamp(1e-6, 1.0)
}

words! {
    /// Path whose least round-trip time eq. 4 takes.
    #[derive(Default)]
    pub enum RttMin {
        /// The path's own.
        #[default]
        Path = "path",
        /// Least value over all active paths.
        Global = "global",
    }
}

keys! {
    /// Keys of the estimator.
    #[derive(Copy)]
    pub struct LossRateConfig {
        /// weight of the old round-trip time
        psi: f64 [0.0, 1.0] = 0.875,
        /// constant of Mathis' model
        c: f64 [0.1, 10.0] = 1.2247,
        /// segment size of Mathis' model
        mss: u64 [100, 65_535, "bytes"] = 1500,
        /// samples over which a jitter indicator is taken
        samples as "m": usize [1, 1000, "samples"] = 20,
        /// least round-trip time of Vegas' goodput: the path's, or the least of all
        rtt_min as "rttmin": RttMin = RttMin::Path,
    }
}

/// Estimator that runs Algorithm 1 for all paths of an association.
#[derive(Debug)]
pub struct LossRate {
    config: LossRateConfig,
    /// Paths by slot. `None` if the path is not active, or if nothing was sent on it.
    paths: Vec<Option<Path>>,
}

/// State of one path.
#[derive(Debug)]
struct Path {
    /// RTT of eq. 2.
    rtt: Option<Duration>,
    rate: f64,
    jitter: Deviation,
    /// Time of the next sample.
    due: Instant,
}

impl LossRate {
    /// Makes an estimator without paths.
    pub fn new(config: LossRateConfig) -> Self {
        LossRate { config, paths: Vec::new() }
    }

    fn slot(&mut self, path: PathId) -> &mut Option<Path> {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        &mut self.paths[path.index()]
    }

    fn window(&self, path: &PathView) -> u64 {
        path.limit.cwnd.max(self.config.mss)
    }

    /// PLR of a path without a round-trip time. The PLR follows from eqs 3 and 4 with RTT = RTT_min.
    fn unmeasured(&self, path: &PathView) -> f64 {
        let second = Duration::from_secs(1);
        loss_rate(self.config.c, self.config.mss as f64, second, goodput(self.window(path), second))
    }

    /// PLR of `path`, whose round-trip time is `rtt`. The PLR follows from eqs 3 and 4.
    fn measured(&self, view: &View<'_>, path: &PathView, rtt: Duration) -> f64 {
        let least = match self.config.rtt_min {
            RttMin::Path => path.min_rtt,
            RttMin::Global => {
                view.paths.iter().filter(|p| p.state == PathState::Active).filter_map(|p| p.min_rtt).min()
            }
        };
        let least = least.unwrap_or(rtt).min(rtt);
        loss_rate(self.config.c, self.config.mss as f64, rtt, goodput(self.window(path), least))
    }

    /// Smoothed round-trip time by eq. 2.
    fn smooth(&self, old: Option<Duration>, sample: Duration) -> Duration {
        old.map_or(sample, |old| {
            let smoothed =
                self.config.psi * old.as_secs_f64() + (1.0 - self.config.psi) * sample.as_secs_f64();
            Duration::from_secs_f64(smoothed)
        })
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        let Some(path) = view.paths.get(ack.path.index()).filter(|p| p.state == PathState::Active) else {
            return;
        };
        self.meet(view, path);
        let Some(slot) = self.slot(ack.path) else { return };
        if view.now < slot.due {
            return;
        }
        let old = slot.rtt;
        let Some(rtt) = ack.rtt.map(|sample| self.smooth(old, sample)).or(old) else { return };
        let rate = self.measured(view, path, rtt);
        if let Some(slot) = self.slot(ack.path) {
            slot.rtt = Some(rtt);
            slot.rate = rate;
            slot.jitter.push(rate);
            slot.due = view.now + rtt;
        }
    }

    /// Begins the state of an active path. While the first round trip of the path lasts, continues the present state.
    fn meet(&mut self, view: &View<'_>, path: &PathView) {
        if path.state != PathState::Active || matches!(self.slot(path.id), Some(Path { rtt: Some(_), .. })) {
            return;
        }
        let (rate, samples) = (self.unmeasured(path), self.config.samples);
        let fresh = || Path { rtt: None, rate, jitter: Deviation::new(samples), due: view.now };
        self.slot(path.id).get_or_insert_with(fresh).rate = rate;
    }
}

impl Policy for LossRate {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => {
                if let Some(path) = view.paths.get(chunk.path().index()) {
                    self.meet(view, path);
                }
            }
            Signal::Acked(ack) => self.on_acked(view, ack),
            Signal::LossEvent { path, trigger, .. } if *trigger != LossTrigger::HeadOfLine => {
                if let Some(slot) = self.slot(*path) {
                    slot.due = view.now;
                }
            }
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state != PathState::Active) =>
            {
                *self.slot(*path) = None;
            }
            _ => {}
        }
    }

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        Moves::by(signal)
    }
}

impl PathEstimator for LossRate {
    fn estimate(&self, path: PathId, out: &mut Estimate) {
        let slot = self.paths.get(path.index()).and_then(Option::as_ref);
        let Some(slot) = slot else {
            // If no value was written, none must be removed.
            if out.loss.take().is_some() {
                out.set_extra(JITTER, 0.0);
                out.set_extra(UNRELIABLE, 0.0);
            }
            return;
        };
        out.loss = Some(slot.rate);
        out.set_extra(JITTER, slot.jitter.value());
        out.set_extra(UNRELIABLE, if slot.jitter.unreliable() { 1.0 } else { 0.0 });
    }
}

#[cfg(test)]
mod tests;
