//! Coupled CUBIC (MPCUBIC): the window of each path follows a cubic curve. The curve is flatter if more paths share the
//! rate.
//!
//! Le T., Hong C., Lee S., "MPCubic: An Extended Cubic TCP for Multiple Paths over High Bandwidth-Delay Networks",
//! ICTC 2011. The equation is the one in Lee and Chung, "A Multipath Congestion Control Scheme for High-Quality
//! Multimedia Streaming", KSII Transactions on Internet and Information Systems 11(1), 2017.
//!
//! | Lee and Chung 2017 | here |
//! |---|---|
//! | eq. 10: w(t) = δ·C·(t − K)³ + w_max | [`Cubic`] with δ·C in place of C, also in K = cbrt((w_max − w)/(δ·C)) |
//! | δ: not printed | [`MeanWindows::share`], to the fourth power |
//!
//! Keys and other rules are those of [`Cubic`] (RFC 9438). With one path, δ is 1, and the window equals CUBIC's window
//! bit for bit.
//!
//! `ASSUMED`: δ = (max x/Σ x)⁴, where x is the mean window divided by the round-trip time. CUBIC's mean window is
//! proportional to the fourth root of C. If n equal paths share one bottleneck, each path therefore has 1/n of a CUBIC
//! window, with δ = 1/n⁴. δ is computed when a stage begins, and stays until the next loss. Otherwise K would jump. The
//! Reno-friendly window (RFC 9438 §4.3) grows (max x/Σ x)² times as fast as with one path. The reason is that Reno's
//! window is proportional to the square root of its growth. Paths that are inactive or have no round-trip time follow
//! CUBIC ([`Coupled`](super::Coupled)).

use strandcast_keys::keys;
use strandcast_proto::policy::{PathId, Signal, View};
use strandcast_proto::rfc::{Avoidance, CongestionEvent, PerPath, Progress};

use super::flow::FlowConfig;
use super::mean_windows::MeanWindows;
use super::window::AvoidancePart;
use super::{Counting, Cubic, CubicConfig};

keys! {
    /// Keys of the window. They are the keys of [`Cubic`].
    #[derive(Copy)]
    pub struct MpCubicConfig {
        and cubic: CubicConfig,
    }
}

impl AvoidancePart for MpCubicConfig {
    const PAPER: &'static str = "Le et al. 2011, Lee and Chung 2017";
    const SUMMARY: &'static str = "cubic functions of the time since the last loss, coupled over all paths";

    fn avoidance(&self) -> impl Avoidance + 'static {
        MpCubic::new(self.cubic)
    }

    fn flow(&self, flow: &mut FlowConfig) {
        flow.counting = Counting::Bytes;
    }
}

/// CUBIC windows of all paths.
#[derive(Clone, Debug)]
pub struct MpCubic {
    paths: PerPath<Cubic>,
    means: MeanWindows,
}

impl MpCubic {
    /// The state before the first ACK.
    pub fn new(config: CubicConfig) -> Self {
        MpCubic { paths: Cubic::per_path(config), means: MeanWindows::default() }
    }
}

impl Avoidance for MpCubic {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.means.on_signal(view, signal);
        self.paths.on_signal(view, signal);
    }

    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let means = &self.means;
        self.paths.of(now.path).grow(now, || means.share(now.view, now.path))
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        self.paths.decrease(event)
    }

    fn pause(&mut self, path: PathId) {
        self.paths.pause(path);
    }

    fn gauges(&self, path: PathId, out: &mut Vec<(&'static str, f64)>) {
        let delta = self.paths.get(path).and_then(Cubic::delta);
        out.extend(delta.map(|delta| ("mpcubic_delta", delta)));
    }
}
