//! Coupled binomial windows: `mpsqrt` (square root), and `mpiad` (inverse increase, additive decrease).
//!
//! Le T., Hong C., Lee S., "Multipath Binomial Congestion Control Algorithms", IEICE Transactions on Communications
//! E95-B(6), 2012. The equations are those in Lee and Chung, "A Multipath Congestion Control Scheme for High-Quality
//! Multimedia Streaming", KSII Transactions on Internet and Information Systems 11(1), 2017. The single-path windows
//! are those of Bansal and Balakrishnan, "Binomial Congestion Control Algorithms", INFOCOM 2001.
//!
//! | Lee and Chung 2017 | here |
//! |---|---|
//! | eq. 8 and 9: w += δ·α/w^k per round trip, δ·α/w^(k+1) per ACK | [`Binomial::increase`], [`Form::slowness`] |
//! | eq. 8 and 9: w −= β·w^l at a loss | [`Binomial::decrease`], [`Form::cut`] |
//! | eq. 9, δ: not printed | [`MeanWindows::share`], squared |
//!
//! | | k | l | α | β |
//! |---|---|---|---|---|
//! | `mpsqrt` | 1/2 | 1/2 | 1 | 1/2 |
//! | `mpiad` | 1 | 0 | 2 | 1 |
//!
//! Equation 8 gives the step per round trip (Bansal and Balakrishnan). Each ACK adds 1/w of this step. With
//! `literal=on`, equation 8 gives the step per ACK, as Lee and Chung's equation 1 does. Equation 8 requires β
//! < 1. `mpiad` does not fulfil this.
//!
//! `ASSUMED`: δ = (max x/Σ x)², where x is the mean window divided by the round-trip time. If k + l = 1, the window in
//! equilibrium is w = √(δ·α/(β·p)). If n equal paths share one bottleneck, each path therefore has √δ = 1/n of a
//! single-path window. With one path δ is 1. Paths that are inactive or have no round-trip time are not coupled
//! ([`Coupled`](super::Coupled)). No ACK adds more than it would add in slow start. This affects only windows below √2
//! segments. `rfc::Aimd` or `TcpWindows` applies floors and timeouts. After a timeout, the threshold is the window that
//! would remain after a loss.

use strandcast_keys::keys;
use strandcast_proto::policy::{PathId, Signal, View};
use strandcast_proto::rfc::{Avoidance, CongestionEvent, Progress};

use super::mean_windows::MeanWindows;
use super::window::AvoidancePart;

keys! {
    /// Keys of `mpsqrt`.
    #[derive(Copy)]
    pub struct SqrtConfig {
        /// α: growth per round trip is α/√w
        alpha: f64 [0.01, 100.0, "segments"] = 1.0,
        /// β: a loss takes β·√w
        beta: f64 [0.01, 1.0, "segments"] = 0.5,
        /// growth for each ACK is what equation 9 prints, not its share of a round trip
        literal: bool = false,
    }
}

keys! {
    /// Keys of `mpiad`.
    #[derive(Copy)]
    pub struct InverseConfig {
        /// α: growth per round trip is α/w
        alpha: f64 [0.01, 100.0, "segments"] = 2.0,
        /// β: a loss takes β
        beta: f64 [0.01, 100.0, "segments"] = 1.0,
        /// growth for each ACK is what equation 9 prints, not its share of a round trip
        literal: bool = false,
    }
}

const PAPER: &str = "Le et al. 2012, Lee and Chung 2017";

impl AvoidancePart for SqrtConfig {
    const PAPER: &'static str = PAPER;
    const SUMMARY: &'static str = "grows by 1/√w per round trip, a loss takes √w/2; coupled over all paths";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Binomial::square_root(*self)
    }
}

impl AvoidancePart for InverseConfig {
    const PAPER: &'static str = PAPER;
    const SUMMARY: &'static str =
        "grows by 2/w per round trip, a loss takes one segment; coupled over all paths";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Binomial::inverse(*self)
    }
}

/// The exponents k and l.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Form {
    /// k = l = 1/2.
    SquareRoot,
    /// k = 1, l = 0.
    Inverse,
}

impl Form {
    /// w^k.
    fn slowness(self, w: f64) -> f64 {
        match self {
            Form::SquareRoot => w.sqrt(),
            Form::Inverse => w,
        }
    }

    /// w^l.
    fn cut(self, w: f64) -> f64 {
        match self {
            Form::SquareRoot => w.sqrt(),
            Form::Inverse => 1.0,
        }
    }
}

/// Binomial windows of all paths.
#[derive(Clone, Debug)]
pub struct Binomial {
    form: Form,
    alpha: f64,
    beta: f64,
    /// True if growth is for each ACK, not for each round trip.
    literal: bool,
    means: MeanWindows,
    /// δ, which is computed again at each ACK.
    delta: f64,
}

impl Binomial {
    /// k = l = 1/2.
    pub fn square_root(config: SqrtConfig) -> Self {
        Binomial::new(Form::SquareRoot, (config.alpha, config.beta), config.literal)
    }

    /// k = 1, l = 0.
    pub fn inverse(config: InverseConfig) -> Self {
        Binomial::new(Form::Inverse, (config.alpha, config.beta), config.literal)
    }

    fn new(form: Form, (alpha, beta): (f64, f64), literal: bool) -> Self {
        Binomial { form, alpha, beta, literal, means: MeanWindows::default(), delta: 1.0 }
    }
}

impl Avoidance for Binomial {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.means.on_signal(view, signal);
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let w = now.cwnd / now.segment;
        let share = self.means.share(now.view, now.path);
        self.delta = share * share;
        let acks = if self.literal { 1.0 } else { w };
        let step = self.delta * self.alpha / (self.form.slowness(w) * acks);
        step.min(1.0) * now.acked
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        let w = event.cwnd / event.segment;
        1.0 - self.beta * self.form.cut(w) / w
    }

    fn gauges(&self, _: PathId, out: &mut Vec<(&'static str, f64)>) {
        let name = match self.form {
            Form::SquareRoot => "mpsqrt_delta",
            Form::Inverse => "mpiad_delta",
        };
        out.push((name, self.delta));
    }
}
