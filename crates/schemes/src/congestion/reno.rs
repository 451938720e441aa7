//! TCP's window (RFC 5681): [`TcpWindows`] with `rfc::Reno` of the core.

use strandcast_keys::keys;
use strandcast_proto::rfc::{Avoidance, Reno};

use super::window::AvoidancePart;

keys! {
    /// TCP's window has no keys of its own.
    pub struct RenoConfig {}
}

impl AvoidancePart for RenoConfig {
    const PAPER: &'static str = "RFC 5681";
    const SUMMARY: &'static str = "one segment more per round trip, half at a loss; one window per path";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Reno
    }
}

keys! {
    /// Reno on each path has no keys of its own.
    pub struct UncoupledConfig {}
}

/// Reno under the name `uncoupled`. Papers on coupled windows use this name for Reno on each path.
impl AvoidancePart for UncoupledConfig {
    const PAPER: &'static str = "RFC 5681, Lee and Chung 2017";
    const SUMMARY: &'static str = "reno under the name that it has among coupled windows";

    fn avoidance(&self) -> impl Avoidance + 'static {
        Reno
    }
}
