//! Earliest completion first (Lim Y., Nahum E., Towsley D., Gibbens R., "ECF: An MPTCP Path Scheduler to Manage
//! Heterogeneous Paths", CoNEXT 2017). The implementation follows `mptcp_ecf.c` of multipath-tcp.org, v0.95. The slower
//! path s takes a chunk only if s would finish no later than the faster path f would after waiting for room.
//!
//! f is the path with the lowest round-trip time, and s is the path that [`fastest_with_room`] returns. k is the number
//! of waiting bytes, w a window in bytes, R a smoothed round-trip time, and δ = max(σ_f, σ_s). If s = f, the chunk
//! takes f. Otherwise:
//!
//! | the rule | here |
//! |---|---|
//! | f finishes sooner: R_f · (max(k, w_f) + w_f) < w_f · (R_s + δ) · (1 + waiting · β) | [`Ecf::sooner`] |
//! | s would take longer than two round trips of f: R_s · max(k, w_s) ≥ w_s · (2·R_f + δ) | [`Ecf::worth_waiting`] |
//! | both: nothing is sent, waiting = 1 | [`Ecf::waits`] |
//! | not the first: s takes it, waiting = 0; the first alone: s takes it, waiting stays | |
//!
//! | constant | key | value | from |
//! |---|---|---|---|
//! | β | `ecf-beta` | 0.25 | paper and kernel |
//! | σ in mean deviations (RFC 6298's RTTVAR) | `ecf-deviation` | 2 | kernel: half of its `rttvar`, which is four mean deviations |
//! | least σ | `ecf-floor` | 100 ms | kernel: its `rttvar` is at least the least retransmission timeout, 200 ms |
//!
//! The paper counts n = 1 + k/w_f round trips. The kernel uses at least two. In the paper, σ is the deviation of the
//! round-trip time. `ecf-deviation=1,ecf-floor=0` is therefore nearer to the paper. Products in the kernel wrap at 32
//! bits, but the products in this module do not.
//!
//! Opportunistic retransmission and penalisation are as in the default scheduler (`head-of-line=linux`).
//!
//! `ASSUMED`: k is the payload that waits for a path. Windows count 16 more bytes per chunk. A path without a
//! round-trip time takes all data that its window allows, because no comparison is possible. No chunk waits for a path
//! that has room. In the kernel, chunks that f has already carried do wait.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{Assignment, Backlog, HeadOfLineConfig, PathView, Policy, Scheduler, View};
use strandcast_proto::time::Duration;

use super::blocking::BlockingConfig;
use super::fastest::{fastest, fastest_with_room};
use crate::part::SchedulerPart;

keys! {
    /// The keys of [`Ecf`].
    #[derive(Copy)]
    pub struct EcfConfig {
        /// advantage that a slower path needs while the sender waits (ECF's beta)
        ecf_beta: f64 [0.0, 4.0] = 0.25,
        /// deviation of round-trip times that ECF counts with, in mean deviations
        ecf_deviation: f64 [0.0, 8.0] = 2.0,
        /// least deviation of round-trip times that ECF counts with
        ecf_floor: Duration [0, 1000, "ms"] = Duration::from_millis(100),
        and blocking: BlockingConfig,
    }
}

impl SchedulerPart for EcfConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Ecf::new(*self))
    }

    fn tune(&self, config: &mut TransportConfig) {
        config.head_of_line = Some(HeadOfLineConfig::LINUX);
        self.blocking.tune(config);
    }
}

/// Scheduler that prefers the lowest round-trip time. The scheduler uses a slower path only if waiting for the faster
/// path would take longer.
#[derive(Clone, Debug)]
pub struct Ecf {
    config: EcfConfig,
    waiting: bool,
}

impl Ecf {
    /// Makes a scheduler that does not wait.
    pub fn new(config: EcfConfig) -> Self {
        Ecf { config, waiting: false }
    }

    /// Returns whether a chunk that `slow` could take now must wait for `fast`.
    fn waits(&mut self, fast: &PathView, slow: &PathView, backlog: &Backlog) -> bool {
        let Some((f, s)) = Side::of(fast).zip(Side::of(slow)) else { return false };
        let delta = self.sigma(fast).max(self.sigma(slow));
        let k = backlog.bytes as f64;
        if !self.sooner(k, &f, &s, delta) {
            self.waiting = false;
            return false;
        }
        let waits = Self::worth_waiting(k, &f, &s, delta);
        self.waiting |= waits;
        waits
    }

    fn sooner(&self, k: f64, f: &Side, s: &Side, delta: f64) -> bool {
        let margin = if self.waiting { 1.0 + self.config.ecf_beta } else { 1.0 };
        f.rtt * (k.max(f.window) + f.window) < f.window * (s.rtt + delta) * margin
    }

    fn worth_waiting(k: f64, f: &Side, s: &Side, delta: f64) -> bool {
        s.rtt * k.max(s.window) >= s.window * (2.0 * f.rtt + delta)
    }

    /// Deviation of the round-trip times of `path` in nanoseconds.
    fn sigma(&self, path: &PathView) -> f64 {
        let measured = self.config.ecf_deviation * nanos(path.rttvar);
        measured.max(nanos(self.config.ecf_floor))
    }
}

/// Number of nanoseconds as a whole number, so that the rule compares exactly.
fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

/// State of a path that the rule reads.
struct Side {
    /// Smoothed round-trip time in nanoseconds.
    rtt: f64,
    /// Window in bytes.
    window: f64,
}

impl Side {
    fn of(path: &PathView) -> Option<Self> {
        Some(Side { rtt: nanos(path.srtt?), window: path.limit.cwnd.max(path.mtu) as f64 })
    }
}

impl Policy for Ecf {}

impl Scheduler for Ecf {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let path = fastest_with_room(view, backlog)?;
        let fast = fastest(view)?;
        let full = !fast.has_room() && !backlog.tried.contains(fast.id);
        let waits = full && self.waits(fast, path, backlog);
        (!waits).then(|| Assignment::on(path.id, 1))
    }
}

#[cfg(test)]
mod tests;
