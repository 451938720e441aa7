//! COUPLED, the window `coupled`: the windows of all paths together behave like one TCP's window, so that traffic
//! leaves every path that loses more than the best path. ([`Coupled`] is something else: the state of one path that all
//! coupled windows read.)
//!
//! D. Wischik, C. Raiciu, A. Greenhalgh, M. Handley, "Design, implementation and evaluation of congestion control for
//! multipath TCP", NSDI 2011; implemented here as Lee and Chung (2017) print it. w_T is the sum of all windows.
//!
//! | Lee and Chung 2017 | here |
//! |---|---|
//! | eq. 3, an ACK: w_r += 1/w_T | [`FullyCoupled::increase`], in bytes: acked·SMSS/w_T |
//! | eq. 3, a loss: w_r −= β·w_T | [`FullyCoupled::decrease`], as a share of w_r |
//! | slow start, recovery, timeout | [`TcpWindows`](super::TcpWindows) |
//!
//! Constants: β = 1/2, from the balance (1 − p)/w_T = p·w_T/2 of eq. 4 (`beta`).
//!
//! With one path w_T is w_r, and the window is Reno's. If windows differ, a loss may take more than the whole of a
//! small window. `ASSUMED`:
//! - one segment of such a window remains, so that the path is still probed. The threshold after a loss is at least one
//!   segment, because otherwise the window could not stay that small. The key is `floor` for TCP and MPTCP flows, whose
//!   default elsewhere is two, and `half-floor=1` for SCTP;
//! - β is a share of the window, as in eq. 3, not of the data in flight (`cut` of such flows);
//! - w_T does not include paths that are inactive or without a round-trip time ([`Coupled`]); their windows are Reno's.
//!   There is no key for this, because the paper has no such paths.

use strandcast_keys::keys;
use strandcast_proto::policy::{PathId, View};
use strandcast_proto::rfc::{Avoidance, CongestionEvent, Progress};

use super::DecreaseBase;
use super::coupled::Coupled;
use super::flow::FlowConfig;
use super::window::AvoidancePart;

keys! {
    /// Keys of the fully coupled window, which has no state.
    #[derive(Copy)]
    pub struct FullyCoupled {
        /// part that a loss takes, as a share of all windows together
        beta: f64 [0.01, 1.0] = 0.5,
    }
}

impl AvoidancePart for FullyCoupled {
    const PAPER: &'static str = "Wischik et al. 2011; Lee and Chung 2017";
    const SUMMARY: &'static str =
        "all windows together are one TCP's: traffic leaves paths that lose more than the best";

    fn avoidance(&self) -> impl Avoidance + 'static {
        *self
    }

    fn flow(&self, flow: &mut FlowConfig) {
        flow.floor = 1;
        flow.decrease_base = DecreaseBase::Window;
    }
}

/// w_T for `path`, whose window is `cwnd` bytes; the path's own window if it is not coupled with another path.
fn total(view: &View<'_>, path: PathId, cwnd: f64) -> f64 {
    let others = || Coupled::all(view).filter(|c| c.path != path).map(|c| c.cwnd).sum::<f64>();
    Coupled::of(view, path).map_or(cwnd, |_| cwnd + others())
}

impl Avoidance for FullyCoupled {
    fn increase(&mut self, now: &Progress<'_>) -> f64 {
        now.acked * now.segment / total(now.view, now.path, now.cwnd)
    }

    fn decrease(&mut self, event: &CongestionEvent<'_>) -> f64 {
        let total = total(event.view, event.path, event.cwnd);
        (1.0 - self.beta * (total / event.cwnd)).max(0.0)
    }
}
