//! Blocking estimation (Ferlin S., Alay Ö., Mehani O., Boreli R., "BLEST: Blocking Estimation-based MPTCP Scheduler for
//! Heterogeneous Networks", IFIP Networking 2016). The implementation follows `mptcp_blest.c` of multipath-tcp.org,
//! v0.95. The slower path s takes a chunk only under one condition. The window that the peer offers must have room for
//! all data that the faster path f sends until the chunk is acknowledged.
//!
//! f is the path with the lowest round-trip time. s is the path that [`fastest_with_room`] returns. If s = f, the chunk
//! takes f. w is a window in packets of MTU bytes. r_min and r_max are the least and the greatest smoothed round-trip
//! times of a path.
//!
//! | the rule | here |
//! |---|---|
//! | a chunk on s lingers T = max(R_s, r_min + (r_max - r_min) · (flight_s + 1)/w_s), r_max in place of the latter if flight_s + 1 ≥ w_s | [`Rtts::linger`] |
//! | n = ⌊T / ((r_min + r_max)/2 of f)⌋ + 1 round trips of f | [`Rtts::rounds`] |
//! | f sends X = λ · MTU · n · (w + ⌊(n-1)/2⌋) in them, w = max(w_f, ssthresh_f + 1) | [`Blest::sends`] |
//! | before the first loss, in slow start, X = λ · MTU · w_f · (2ⁿ - 1), n ≤ 16 | the same |
//! | s takes the chunk if X ≤ offered window - flight_s - chunk, else nothing is sent | [`Blest::blocks`] |
//! | λ, at most once per r_min of s: up if the window was blocked since, else down | [`Blest::adapt`] |
//!
//! | constant | key | value |
//! |---|---|---|
//! | λ at first | `blest-lambda` | 1.2 |
//! | least and greatest λ | `blest-least`, `blest-most` | 1.0, 1.3 |
//! | step up, step down | `blest-up`, `blest-down` | 0.04, 0.01 |
//!
//! Opportunistic retransmission and penalisation are as in the default scheduler (`head-of-line=linux`).
//!
//! In the kernel, the window counts as blocked when the kernel looks for data to retransmit. It does so if the receive
//! window is full, or if the send buffer contains only data that were already sent. The window counts as blocked even
//! if the kernel finds no such data. Here the window counts as blocked in three cases: [`View::blocked`] is not `None`,
//! a path gets a penalty, or data that are already in flight are copied to another path.
//!
//! `ASSUMED`: [`View::rwnd`] is the rest of the peer's window. The whole window is the greatest sum of this rest and
//! the data in flight since the last time at which no data were missing at the peer. Data that the peer holds out of
//! order are a part of the window, but do not count in this sum. A path without a round-trip time takes all data that
//! its window allows, because no comparison is possible. No chunk waits for a path that has room. In the kernel, chunks
//! that f has already carried do wait.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Assignment, Backlog, HeadOfLineConfig, LossTrigger, PathState, PathView, Policy, Scheduler, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::blocking::BlockingConfig;
use super::fastest::{fastest, fastest_with_room};
use crate::part::SchedulerPart;

/// Greatest number of round trips of slow start that are computed in advance.
const MOST_DOUBLINGS: u64 = 16;

keys! {
    /// The keys of [`Blest`].
    #[derive(Copy)]
    pub struct BlestConfig {
        /// factor on what the faster path is expected to send, at first (BLEST's lambda)
        blest_lambda: f64 [0.1, 10.0] = 1.2,
        /// least lambda
        blest_least: f64 [0.1, 10.0] = 1.0,
        /// greatest lambda
        blest_most: f64 [0.1, 10.0] = 1.3,
        /// increase of lambda after the window was blocked
        blest_up: f64 [0.0, 1.0] = 0.04,
        /// decrease of lambda otherwise
        blest_down: f64 [0.0, 1.0] = 0.01,
        and blocking: BlockingConfig,
    }
}

impl SchedulerPart for BlestConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Blest::new(*self))
    }

    fn tune(&self, config: &mut TransportConfig) {
        config.head_of_line = Some(HeadOfLineConfig::LINUX);
        self.blocking.tune(config);
    }
}

/// Least and greatest smoothed round-trip time of a path.
#[derive(Copy, Clone, Debug)]
struct Rtts {
    least: Duration,
    most: Duration,
}

impl Rtts {
    fn linger(&self, path: &PathView, len: u64) -> Duration {
        let (flight, window) = (path.in_flight + len, path.limit.cwnd.max(path.mtu));
        let now = if flight >= window {
            self.most
        } else {
            self.least + (self.most - self.least).mul_f64(flight as f64 / window as f64)
        };
        now.max(path.srtt.unwrap_or_default())
    }

    /// Number of round trips in `time`, including the one that has begun.
    fn rounds(&self, time: Duration) -> u64 {
        let mean = (self.least + self.most).as_nanos() / 2;
        time.as_nanos().checked_div(mean).map_or(1, |n| n as u64 + 1)
    }
}

/// Scheduler that prefers the lowest round-trip time. The scheduler uses a slower path only if the path blocks no
/// window.
#[derive(Clone, Debug)]
pub struct Blest {
    config: BlestConfig,
    lambda: f64,
    adapted: Option<Instant>,
    /// True if the window was blocked since `adapted`.
    blocked: bool,
    /// Round-trip times by path slot.
    rtts: Vec<Option<Rtts>>,
    /// Window that the peer offers in bytes.
    offered: u64,
}

impl Blest {
    /// Makes a scheduler without measurements.
    pub fn new(config: BlestConfig) -> Self {
        let lambda = config.blest_lambda;
        Blest { config, lambda, adapted: None, blocked: false, rtts: Vec::new(), offered: 0 }
    }

    /// Factor on the data that the faster path is expected to send.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Updates round-trip times and the window from `view`.
    fn look(&mut self, view: &View<'_>) {
        if self.rtts.len() < view.paths.len() {
            self.rtts.resize(view.paths.len(), None);
        }
        for (path, rtts) in view.paths.iter().zip(&mut self.rtts) {
            *rtts = path.srtt.filter(|_| path.state != PathState::Closed).map(|rtt| {
                let Rtts { least, most } = rtts.unwrap_or(Rtts { least: rtt, most: rtt });
                Rtts { least: least.min(rtt), most: most.max(rtt) }
            });
        }
        self.adapted.get_or_insert(view.now);
        self.offered = self.offered.max(view.rwnd.saturating_add(view.in_flight));
        self.blocked |= view.blocked.is_some();
    }

    fn of(&self, path: &PathView) -> Option<Rtts> {
        self.rtts.get(path.id.index()).copied().flatten()
    }

    fn adapt(&mut self, now: Instant, pause: Duration) {
        if self.adapted.is_some_and(|last| now.saturating_since(last) < pause) {
            return;
        }
        let step = if self.blocked { self.config.blest_up } else { -self.config.blest_down };
        self.lambda = (self.lambda + step).min(self.config.blest_most).max(self.config.blest_least);
        (self.adapted, self.blocked) = (Some(now), false);
    }

    /// Returns the bytes that `fast` is expected to send in this number of its round trips.
    fn sends(&self, fast: &PathView, rounds: u64) -> f64 {
        let (mtu, window) = (fast.mtu.max(1), fast.limit.cwnd.max(fast.mtu));
        let bytes = match fast.limit.ssthresh {
            None => window as f64 * ((1_u64 << rounds.min(MOST_DOUBLINGS)) - 1) as f64,
            Some(threshold) => {
                let window = window.max(threshold.saturating_add(mtu));
                (window as f64 + ((rounds - 1) / 2) as f64 * mtu as f64) * rounds as f64
            }
        };
        bytes * self.lambda
    }

    /// Returns whether the next chunk on `slow` would keep `fast` from sending.
    fn blocks(&mut self, view: &View<'_>, fast: &PathView, slow: &PathView, len: u64) -> bool {
        let Some((of_fast, of_slow)) = self.of(fast).zip(self.of(slow)) else { return false };
        self.adapt(view.now, of_slow.least);
        let rounds = of_fast.rounds(of_slow.linger(slow, len));
        let left = self.offered.saturating_sub(slow.in_flight + len);
        self.sends(fast, rounds) > left as f64
    }
}

impl Policy for Blest {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Acked(ack) if ack.cum_tsn == ack.highest_reported => self.offered = 0,
            Signal::LossEvent { trigger: LossTrigger::HeadOfLine, .. } => self.blocked = true,
            Signal::Sent(chunk) if chunk.losses == 0 => {
                let mut times = chunk.transmissions.iter().map(|t| t.at);
                let first = times.next();
                self.blocked |= times.any(|at| Some(at) != first);
            }
            _ => {}
        }
        if matches!(signal, Signal::Acked(_) | Signal::PathChanged(_)) {
            self.look(view);
        }
    }
}

impl Scheduler for Blest {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        self.look(view);
        let path = fastest_with_room(view, backlog)?;
        let fast = fastest(view)?;
        let full = !fast.has_room() && !backlog.tried.contains(fast.id);
        let blocks = full && self.blocks(view, fast, path, backlog.next_len);
        (!blocks).then(|| Assignment::on(path.id, 1))
    }
}

#[cfg(test)]
mod tests;
