//! Equally weighted TCP (EWTCP): each path is a TCP. The weight of its increase depends on the number of paths.
//!
//! Honda M., Nishida Y., Eggert L., Sarolahti P., Tokuda H., "Multipath congestion control for shared bottleneck",
//! PFLDNeT 2009. The implementation follows the equations in Lee and Chung (2017).
//!
//! | Lee and Chung 2017 | here |
//! |---|---|
//! | eq. 2, an ACK: w_r += a/w_r | [`Ewtcp::increase`], in bytes: times acked·SMSS |
//! | eq. 2, a loss: w_r −= w_r/2 | the default of [`Avoidance::decrease`] |
//! | the text of eq. 2, a = 1/√n | [`Ewtcp::weight`] with `literal` |
//! | slow start, recovery, timeout | [`TcpWindows`](super::TcpWindows) |
//!
//! In equilibrium, the increases a/w of the ACKs balance the decreases p·w/2 of the losses. The window is then
//! w = √(2a/p). If n windows share one bottleneck, their sum is n·√a times the TCP window √(2/p). The default is
//! a = 1/n². The n windows together then equal one TCP window. The paper's text claims this for a = 1/√n. With that
//! weight, however, the n windows together equal n^(3/4) TCP windows, which is 1.68 with two paths. The key `literal`
//! selects the weight 1/√n.
//!
//! With one path, a is 1, and the window is Reno's window. `ASSUMED`: n does not include paths that are inactive or
//! have no round-trip time ([`Coupled`]). The windows of such paths are Reno's windows. There is no key for this,
//! because the paper's networks have no such paths.

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
    /// Factor a of eq. 2: growth of the window of `path`, as a share of a TCP's increase.
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
