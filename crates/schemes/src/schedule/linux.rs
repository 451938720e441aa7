//! The default scheduler of Linux 6.19 (`mptcp_subflow_get_send` in `net/mptcp/protocol.c`). The default scheduler
//! takes the path that would be the first to finish sending its queued data.
//!
//! | Linux | here |
//! |---|---|
//! | linger time of a subflow = bytes queued / average pacing rate; the least one wins, the first of equal ones | [`Linux::linger`] |
//! | pacing rate = factor · max(window, in flight) / smoothed round-trip time | [`Linux::rate`] |
//! | average rate after a choice = (average · queued + rate · burst)/(queued + burst) | [`Linux::chosen`] |
//! | a choice is for a burst, or for what is left of the receive window if that is less | [`Linux::burst`] |
//! | the send buffer of the chosen subflow is full: nothing is sent, also not elsewhere | `None` of [`Scheduler::next`] |
//! | subflows marked as backups only while no other is active; a stale subflow is not active | [`View::usable`] |
//!
//! | constant | key | value |
//! |---|---|---|
//! | burst | `linux-burst` | 65,428 bytes: 2¹⁶ less the headers of TCP (20, options 40) and IPv6 (40, fragment 8) |
//! | factor while the window is below half of ssthresh | `linux-slow-start` | 2 (`tcp_pacing_ss_ratio`, 200 %) |
//! | factor later | `linux-pacing` | 1.2 (`tcp_pacing_ca_ratio`, 120 %) |
//! | send buffer of a subflow | `linux-queue` | 6 windows: it holds twice the window at 4,352 bytes of memory per segment |
//!
//! A subflow of Linux takes data beyond its window. Such data wait in the subflow's queue. The connection waits only
//! when the subflow's send buffer is full. Here data wait in one queue for all paths. `ASSUMED`: a path without room is
//! compared as if the waiting data were in its queue. The queue is limited by the path's send buffer. If the path is
//! still the first one, the chunk waits for it. With two paths this happens exactly when Linux would have queued all
//! waiting data on that path. The order of sequence numbers differs from Linux. The other path then takes the next
//! chunk, and not a chunk that follows the queued ones.
//!
//! Further choices are also `ASSUMED`. If a window sets a pacing rate
//! ([`Limit::pacing`](strandcast_proto::policy::Limit)), that rate is used. A path without a round-trip time is taken
//! while it has room, because Linux assumes a very high rate in this case. Without room, it is not considered. Memory
//! is counted in chunk bytes. A retransmitted chunk follows the same rule among the paths that have not carried it, if
//! one of them has room. Linux retransmits on an idle subflow. There is no penalty and no opportunistic retransmission
//! (`head-of-line=off`).

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{Assignment, Backlog, PathState, PathView, Policy, Scheduler, Signal, View};

use super::blocking::BlockingConfig;
use crate::part::SchedulerPart;

keys! {
    /// The keys of [`Linux`].
    #[derive(Copy)]
    pub struct LinuxConfig {
        /// most bytes of one decision
        linux_burst: u64 [1, 16_777_216, "bytes"] = 65_428,
        /// pacing rate over window per round trip, while the window is below half of ssthresh
        linux_slow_start: f64 [0.1, 10.0] = 2.0,
        /// the same later
        linux_pacing: f64 [0.1, 10.0] = 1.2,
        /// send buffer of a path, in windows
        linux_queue: f64 [1.0, 64.0] = 6.0,
        and blocking: BlockingConfig,
    }
}

impl SchedulerPart for LinuxConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Linux::new(*self))
    }

    fn tune(&self, config: &mut TransportConfig) {
        config.head_of_line = None;
        self.blocking.tune(config);
    }
}

/// Scheduler that takes the path with the lowest ratio of queued bytes to pacing rate.
#[derive(Clone, Debug)]
pub struct Linux {
    config: LinuxConfig,
    /// Average pacing rates in bytes per second, indexed by path slot.
    average: Vec<Option<f64>>,
}

impl Linux {
    /// Makes a scheduler that has not chosen a path yet.
    pub fn new(config: LinuxConfig) -> Self {
        Linux { config, average: Vec::new() }
    }

    /// Pacing rate of `path` in bytes per second. `None` if its round-trip time is unknown.
    fn rate(&self, path: &PathView) -> Option<f64> {
        let rtt = path.srtt?.as_secs_f64().max(1e-6);
        if let Some(rate) = path.limit.pacing {
            return Some(rate.bytes_per_s().max(1.0));
        }
        let window = path.limit.cwnd.max(path.mtu);
        let starts = path.limit.ssthresh.is_none_or(|s| window < s / 2);
        let factor = if starts { self.config.linux_slow_start } else { self.config.linux_pacing };
        Some(factor * window.max(path.in_flight) as f64 / rtt)
    }

    /// Time in seconds that `path` needs for the data queued on it.
    fn linger(&self, path: &PathView, backlog: &Backlog) -> f64 {
        let Some(rate) = self.average[path.id.index()] else {
            return if path.has_room() { 0.0 } else { f64::INFINITY };
        };
        let most = self.config.linux_queue * path.limit.cwnd.max(path.mtu) as f64;
        let in_flight = path.in_flight as f64;
        let queued = if path.has_room() {
            in_flight
        } else {
            (in_flight + backlog.bytes as f64).min(most).max(in_flight)
        };
        queued / rate
    }

    fn chosen(&mut self, path: &PathView, burst: u64) {
        let Some(rate) = self.rate(path) else { return };
        let (queued, burst) = (path.in_flight as f64, burst as f64);
        let average = &mut self.average[path.id.index()];
        *average = Some((average.unwrap_or(rate) * queued + rate * burst) / (queued + burst));
    }

    /// Number of bytes for one decision.
    fn burst(&self, view: &View<'_>) -> u64 {
        self.config.linux_burst.min(view.rwnd)
    }

    /// Records the rates of paths that are new or had no round-trip time.
    fn look(&mut self, view: &View<'_>) {
        if self.average.len() < view.paths.len() {
            self.average.resize(view.paths.len(), None);
        }
        for path in view.paths {
            if self.average[path.id.index()].is_none() {
                self.average[path.id.index()] = self.rate(path);
            }
        }
    }

    fn least<'a>(
        &self,
        paths: impl Iterator<Item = &'a PathView>,
        backlog: &Backlog,
    ) -> Option<&'a PathView> {
        let lingers = paths.map(|p| (self.linger(p, backlog), p));
        let least = lingers.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, p)| p);
        least.filter(|p| p.has_room())
    }
}

impl Policy for Linux {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        let Signal::PathChanged(path) = signal else { return };
        let closed = view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed);
        if let Some(average) = self.average.get_mut(path.index()).filter(|_| closed) {
            *average = None;
        }
    }
}

impl Scheduler for Linux {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.look(view);
        let fresh = |p: &&PathView| !backlog.tried.contains(p.id) && p.has_room();
        let path = if backlog.retransmission && view.usable_paths().any(|p| fresh(&p)) {
            self.least(view.usable_paths().filter(fresh), backlog)?
        } else {
            self.least(view.usable_paths(), backlog)?
        };
        let burst = self.burst(view);
        if burst > 0 {
            self.chosen(path, burst);
        }
        // A burst has no more bytes than the waiting data.
        let bytes = burst.min(backlog.bytes);
        let chunks = bytes.div_ceil(backlog.next_len.max(1)).clamp(1, u64::from(u32::MAX));
        Some(Assignment::on(path.id, chunks as u32))
    }
}

#[cfg(test)]
mod tests;
