//! Balanced linked adaptation (Balia): coupled windows. After a loss, the window decreases by less or more than half.
//! The decrease depends on the ratio of the path's rate to the best path's rate.
//!
//! Peng Q., Walid A., Hwang J.-S., Low S.H., "Multipath TCP: Analysis, Design, and Implementation", IEEE/ACM
//! Transactions on Networking 24(1), 2016; draft-walid-mptcp-congestion-control-04.
//!
//! | draft, §3 | here |
//! |---|---|
//! | x_r = w_r/rtt_r, α_r = max_k x_k / x_r | [`Coupled::rate`], [`Rates::of`] |
//! | an ACK: w_r += x_r / (rtt_r · (Σ x_k)²) · (1 + α_r)/2 · (4 + α_r)/5 | [`Balia::increase`], in bytes: times acked·SMSS |
//! | a loss: w_r −= w_r/2 · min(α_r, 1.5) | [`Balia::decrease`] |
//!
//! Constants: a loss reduces a window by at most 1.5 halves. The factors of the increase are 1/2, 4/5 and 1/5.
//!
//! With one path, α is 1, the step is SMSS²/w, and a loss halves the window. With one path, the algorithm is thus Reno.
//! `ASSUMED`: paths that are inactive or have no round-trip time follow Reno ([`Coupled`]). A timeout leaves one
//! segment, as in TCP, and α determines the threshold.

use strandcast_keys::keys;
use strandcast_proto::policy::{PathId, View};
use strandcast_proto::rfc::{Aimd, Avoidance, CongestionEvent, Progress, WindowConfig};

use super::coupled::Coupled;
use super::window::{AvoidancePart, Windows};

keys! {
    /// [`Balia`] has no keys of its own.
    pub struct BaliaConfig {}
}

impl AvoidancePart for BaliaConfig {
    const PAPER: &'static str = "draft-walid-mptcp-congestion-control-04";
    const SUMMARY: &'static str =
        "increases and decreases coupled over all paths, between friendliness and responsiveness";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Balia
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        Box::new(Aimd::new(config, self.avoidance()))
    }
}

/// Greatest number of halves by which a loss reduces a window.
const MOST_HALVES: f64 = 1.5;

/// The windows of the draft.
#[derive(Copy, Clone, Debug, Default)]
pub struct Balia;

/// Rates of all paths, seen from one of them; bytes per second.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Rates {
    own: Coupled,
    alpha: f64,
    sum: f64,
}

impl Rates {
    /// Returns the rates. Returns `None` if no other path counts, so that `path` is not coupled.
    fn of(view: &View<'_>, path: PathId) -> Option<Self> {
        let own = Coupled::of(view, path)?;
        let rates = || Coupled::all(view).map(|c| c.rate());
        let (best, sum) = (rates().fold(0.0, f64::max), rates().sum());
        (rates().count() > 1 && own.cwnd > 0.0).then(|| Rates { own, alpha: best / own.rate(), sum })
    }
}

impl Avoidance for Balia {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        let Some(Rates { own, alpha, sum }) = Rates::of(now.view, now.path) else { return now.reno() };
        let step = own.rate() / (own.rtt * sum * sum);
        step * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0 * now.acked * now.segment
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        let alpha = Rates::of(event.view, event.path).map_or(1.0, |r| r.alpha);
        1.0 - alpha.min(MOST_HALVES) / 2.0
    }
}
