//! COUPLED, the window `coupled`. The windows of all paths together behave like the window of one TCP, so that traffic
//! leaves every path that loses more than the best path. ([`Coupled`] has another meaning: it is the state of one path
//! that all coupled windows read.)
//!
//! Wischik D., Raiciu C., Greenhalgh A., Handley M., "Design, implementation and evaluation of congestion control for
//! multipath TCP", NSDI 2011. The implementation follows the equations in Lee and Chung (2017). w_T is the sum of all
//! windows.
//!
//! | Lee and Chung 2017 | here |
//! |---|---|
//! | eq. 3, an ACK: w_r += 1/w_T | [`FullyCoupled::increase`], in bytes: acked·SMSS/w_T |
//! | eq. 3, a loss: w_r −= β·w_T | [`FullyCoupled::decrease`], as a share of w_r |
//! | slow start, recovery, timeout | [`TcpWindows`](super::TcpWindows) |
//!
//! Constants: β = 1/2, from the balance (1 − p)/w_T = p·w_T/2 of eq. 4 (`beta`).
//!
//! With one path, w_T equals w_r, and the window is Reno's window. If windows differ, a loss may require a decrease
//! that is larger than a small window. `ASSUMED`:
//! * One segment of such a window remains, so that the path is still probed. The threshold after a loss is at least one
//!   segment, because otherwise the window could not stay that small. For TCP and MPTCP flows, the key is `floor`,
//!   whose default with other windows is two. For SCTP, the setting is `half-floor=1`.
//! * β is a share of the window, as in eq. 3, and not of the data in flight (`cut` of TCP and MPTCP flows).
//! * w_T does not include paths that are inactive or have no round-trip time ([`Coupled`]). Their windows are Reno's
//!   windows. There is no key for this, because the paper has no such paths.

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

/// Returns w_T for `path`, whose window is `cwnd` bytes. If the path is not coupled with another path, returns the
/// path's own window.
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
