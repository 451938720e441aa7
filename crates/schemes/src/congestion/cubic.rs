//! CUBIC (RFC 9438): the window is a cubic function of the time since the last congestion event.
//!
//! | RFC 9438 | here |
//! |---|---|
//! | §4.2 fig. 1, W_cubic(t) = C·(t − K)³ + W_max | [`Stage::curve`] |
//! | §4.2 fig. 2, K = cbrt((W_max − cwnd_epoch)/C) | [`Cubic::begin`] |
//! | §4.2 fig. 3, target = W_cubic(t + RTT) within [cwnd, 1.5·cwnd] | [`Cubic::grow`] |
//! | §4.3 fig. 4, Reno-friendly W_est | [`Cubic::grow`] |
//! | §4.4, §4.5 concave and convex region, (target − cwnd)/cwnd | [`Cubic::grow`] |
//! | §4.6 fig. 5, §4.7 fast convergence, §4.8 timeout | [`Cubic::decrease`] |
//! | §4.10 slow start; RFC 9406 | [`TcpWindows`](super::TcpWindows) |
//! | §5.8 time without a full window does not count | [`Progress::passed`] |
//!
//! Constants of §4.1 and §5.1: C = 0.4 segments/s³, β = 0.7, alpha = 3·(1 − β)/(1 + β) = 0.529.
//!
//! `ASSUMED`: the step of §4.4 is taken for each segment that an ACK covers, as in §4.3. Delayed ACKs therefore do not
//! change the curve. With `count=ack`, the step is taken for each ACK. Spurious events (§4.9) do not change the curve
//! either. If a signal reports a spurious event, the caller restores window and threshold.

use strandcast_keys::keys;
use strandcast_proto::policy::{LossTrigger, PathId};
use strandcast_proto::rfc::{Avoidance, CongestionEvent, PerPath, Progress};

use super::Counting;
use super::flow::FlowConfig;
use super::window::AvoidancePart;

keys! {
    /// Keys of CUBIC.
    #[derive(Copy)]
    pub struct CubicConfig {
        /// share of the window that is left after a loss
        beta: f64 [0.1, 0.99] = 0.7,
        /// factor of the cubic curve: the larger, the faster the window grows
        c as "cubic-c": f64 [0.001, 100.0, "segments/s³"] = 0.4,
        /// leave capacity to newcomers (RFC 9438 §4.7)
        fast_convergence: bool = true,
        /// never slower than Reno would be (RFC 9438 §4.3)
        friendly: bool = true,
        /// alpha is 1 from the window before the loss on (RFC 9438 §4.3); off: as before it, as in Linux
        alpha_one: bool = true,
    }
}

impl AvoidancePart for CubicConfig {
    const PAPER: &'static str = "RFC 9438";
    const SUMMARY: &'static str = "a cubic function of the time since the last loss; one window per path";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Cubic::per_path(*self)
    }

    fn flow(&self, flow: &mut FlowConfig) {
        flow.counting = Counting::Bytes;
    }
}

/// State of one path. Windows are in segments, times in seconds.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    /// W_max. `None` after a timeout, and if a stage began after slow start without a loss.
    w_max: Option<f64>,
    /// cwnd_prior: the window when ssthresh was last set.
    prior: f64,
    /// The current stage of congestion avoidance. `None` outside congestion avoidance.
    stage: Option<Stage>,
}

#[derive(Clone, Debug)]
struct Stage {
    /// t: time for which the window was full since the stage began.
    t: f64,
    /// C, segments/s³.
    c: f64,
    k: f64,
    w_max: f64,
    w_est: f64,
    /// Factor of Reno's growth in W_est.
    reno: f64,
}

impl Stage {
    /// W_cubic(t).
    fn curve(&self, t: f64) -> f64 {
        let d = t - self.k;
        self.c * d * d * d + self.w_max
    }
}

impl Cubic {
    /// Makes the state before the first ACK.
    pub fn new(config: CubicConfig) -> Self {
        Cubic { config, w_max: None, prior: 0.0, stage: None }
    }

    /// Sets the share of the window that remains after a loss, from now on.
    pub(super) fn set_beta(&mut self, beta: f64) {
        self.config.beta = beta;
    }

    /// Makes CUBIC windows, one for each path.
    pub fn per_path(config: CubicConfig) -> PerPath<Self> {
        PerPath::new(Cubic::new(config))
    }

    /// Begins a stage of congestion avoidance. `w` is the window at its beginning. A path without other paths would
    /// have a certain rate. This path may take the share `share` of that rate. The factor of the curve is the fourth
    /// power of `share`, and the factor of Reno's growth is its square.
    fn begin(&mut self, w: f64, share: f64) -> Stage {
        let w_max = self.w_max.unwrap_or(w).max(w);
        self.w_max = Some(w_max);
        let reno = share * share;
        let c = self.config.c * (reno * reno);
        let k = libm::cbrt((w_max - w) / c);
        Stage { t: 0.0, c, k, w_max, w_est: w, reno }
    }

    /// Returns the number of bytes by which the window grows. Calls `share` when a stage begins.
    pub(super) fn grow(&mut self, now: &Progress<'_>, share: impl FnOnce() -> f64) -> f64 {
        let (w, acked) = (now.cwnd / now.segment, now.acked / now.segment);
        let mut stage = match self.stage.take() {
            Some(stage) => Stage { t: stage.t + now.passed.as_secs_f64(), ..stage },
            None => self.begin(w, share()),
        };
        let CubicConfig { beta, friendly, alpha_one, .. } = self.config;
        let full = alpha_one && stage.w_est >= self.prior;
        let alpha = if full { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        stage.w_est += stage.reno * alpha * acked / w;
        let grown = if friendly && stage.curve(stage.t) < stage.w_est {
            stage.w_est - w
        } else {
            let rtt = now.srtt().map_or(0.0, |t| t.as_secs_f64());
            let target = stage.curve(stage.t + rtt).clamp(w, 1.5 * w);
            (target - w) * acked / w
        };
        self.stage = Some(stage);
        grown.max(0.0) * now.segment
    }

    /// Factor C of the stage, divided by the factor C of a path alone. `None` outside a stage.
    pub(super) fn delta(&self) -> Option<f64> {
        self.stage.as_ref().map(|stage| stage.reno * stage.reno)
    }
}

impl Avoidance for Cubic {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        self.grow(now, || 1.0)
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        let w = event.cwnd / event.segment;
        let CubicConfig { beta, fast_convergence, .. } = self.config;
        self.w_max = match (event.trigger, self.w_max) {
            (LossTrigger::Timeout, _) => None,
            (_, Some(before)) if fast_convergence && w < before => Some(w * (1.0 + beta) / 2.0),
            _ => Some(w),
        };
        self.prior = w;
        self.stage = None;
        beta
    }

    fn pause(&mut self, _: PathId) {
        self.stage = None;
    }
}
