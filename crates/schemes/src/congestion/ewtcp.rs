//! Equally weighted TCP (EWTCP): each path is a TCP whose increase is weighted by the number of paths.
//!
//! M. Honda, Y. Nishida, L. Eggert, P. Sarolahti, H. Tokuda, "Multipath congestion control for shared bottleneck",
//! PFLDNeT 2009; implemented here as Lee and Chung (2017) print it.
//!
//! | Lee and Chung 2017 | here |
//! |---|---|
//! | eq. 2, an ACK: w_r += a/w_r | [`Ewtcp::increase`], in bytes: times acked·SMSS |
//! | eq. 2, a loss: w_r −= w_r/2 | the default of [`Avoidance::decrease`] |
//! | the text of eq. 2, a = 1/√n | [`Ewtcp::weight`] with `literal` |
//! | slow start, recovery, timeout | [`TcpWindows`](super::TcpWindows) |
//!
//! In equilibrium the increases a/w of the ACKs balance the decreases p·w/2 of the losses, so that w = √(2a/p).
//! Together n windows through one bottleneck are n·√a times the TCP window √(2/p). With a = 1/n², the default, the n
//! windows together are one TCP window. The paper's text claims this for a = 1/√n, but that weight gives n^(3/4) TCP
//! windows, 1.68 with two paths. The key `literal` selects it.
//!
//! With one path a is 1: Reno's window. `ASSUMED`: n does not include paths that are inactive or without a round-trip
//! time ([`Coupled`]), and their windows are Reno's. There is no key for this, because the paper's networks have no
//! such paths.

use strandcast_keys::keys;
use strandcast_proto::policy::{PathId, View};
use strandcast_proto::rfc::{Avoidance, Progress};

use super::coupled::Coupled;
use super::window::AvoidancePart;

keys! {
    /// Keys of EWTCP, which has no state.
    #[derive(Copy)]
    pub struct Ewtcp {
        /// weights of 1/√n for n paths, as Lee and Chung (2017) print them, in place of 1/n²
        literal: bool = false,
    }
}

impl AvoidancePart for Ewtcp {
    const PAPER: &'static str = "Honda et al. 2009; Lee and Chung 2017";
    const SUMMARY: &'static str =
        "increases weighted by the number of paths, together one TCP on one bottleneck";

    fn avoidance(&self) -> impl Avoidance + 'static {
        *self
    }
}

impl Ewtcp {
    /// a of eq. 2: growth of the window of `path`, as a share of a TCP's increase.
    pub fn weight(&self, view: &View<'_>, path: PathId) -> f64 {
        if Coupled::of(view, path).is_none() {
            return 1.0;
        }
        let n = Coupled::all(view).count() as f64;
        if self.literal { 1.0 / libm::sqrt(n) } else { 1.0 / (n * n) }
    }
}

impl Avoidance for Ewtcp {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        self.weight(now.view, now.path) * now.reno()
    }
}
