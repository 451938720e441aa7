//! Distribution of data in periods. The distribution consists of the length of a period, the order of the paths, and
//! the quota of each path.
//!
//! | Xu et al. (2015), section VI | here |
//! |---|---|
//! | eq. 9, w | [`weight`] |
//! | eqs 8, 9, C | [`capacity`] |
//! | eq. 10, R_c = C - R_e | where the estimates are, in the preset |
//! | eq. 11, T_handle | [`Offer::handling_time`] |
//! | eq. 12, P_d | [`period`] |
//! | eq. 13, D_max | [`most`] |
//! | PathList; Algorithm 4, D | [`Distribution::begin`], [`Offer::quota`] |
//! | Algorithm 4, its break | [`Allocation::Literal`] |
//!
//! `ASSUMED`: Algorithm 4 cannot be run as printed. It stops at the first path whose quota is more than D_max, without
//! assigning data. If R_c > 0, a quota is more than the path's whole window. D_max, however, is the sum of the free
//! windows. A single path, or two equal paths, would therefore never get data. For this reason:
//! * A quota is a credit: the number of packets that a path may still take in the distribution period. Whenever a
//!   packet may be sent, the paths are tried in the order of PathList, the paper's list of paths. The packet goes to
//!   the first path that has credit left and room in its congestion window. The receiver must also have room (the
//!   current D_max). Retransmissions need no credit.
//! * Credits are whole packets, rounded up.
//! * If no path with room has credit left, the next period begins at once. It begins at the earliest a quarter of the
//!   least reference round-trip time after the previous beginning. Until then, packets go to the first path with room.
//! * [`Allocation::Literal`] is the printed algorithm, and shows its stall. If nothing is in flight, four packets are
//!   sent nevertheless, so that acknowledgements continue.
//! * P_d is at least the least reference round-trip time, and at most 1 s. ⌊P_d/T⌋ is at least 1. It is always at least
//!   1 unless P_d was limited to 1 s.
//! * A path without a bandwidth estimate takes a round-trip time to handle its window. Its quota is its window.
//! * If paths in PathList are equal, the lower reference round-trip time decides, and then the lower path id.

use smallvec::SmallVec;
use strandcast_keys::words;
use strandcast_proto::policy::PathId;
use strandcast_proto::time::{Duration, Instant};

/// Longest distribution period, in seconds.
const LONGEST: f64 = 1.0;
/// Shortest distribution period in seconds. The shortest distribution period also applies if there is no path.
const SHORTEST: f64 = 1e-3;

/// Eq. 9: w = max {cwnd/fwnd + Δfcount, β}, with `counted` = Δfcount.
pub fn weight(cwnd: u64, fwnd: f64, counted: u32, beta: f64) -> f64 {
    let used = if fwnd > 0.0 { cwnd as f64 / fwnd } else { 0.0 };
    (used + f64::from(counted)).max(beta)
}

/// Eqs 8 and 9: C = BW_e / w · log₂(1 + ESNR), in bytes per second.
pub fn capacity(bandwidth: f64, w: f64, snr: f64) -> f64 {
    bandwidth / w * libm::log2(1.0 + snr)
}

/// Eq. 12 for these handling times in seconds. The result is at least the `least` reference round-trip time, and at
/// most one second.
pub fn period(times: impl Iterator<Item = f64>, least: f64) -> f64 {
    times.fold(0.0, f64::max).min(LONGEST).max(least)
}

/// Eq. 13: D_max, the number of bytes that may be distributed. D_max depends on the free windows of all paths and on
/// the room at the receiver.
pub fn most(free: impl Iterator<Item = u64>, rwnd: u64) -> u64 {
    free.fold(0, u64::saturating_add).min(rwnd)
}

/// Relation of a path's quota to its window.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Quota {
    /// The path's quality is unknown: the quota is one window.
    Window,
    /// The quota is the number of windows that the path handles in the period.
    Windows,
    /// The quota depends on the sign of R_c, in bytes per second (Algorithm 4).
    Residual(f64),
}

/// A path that takes part in a distribution period.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Offer {
    /// Id of the path.
    pub path: PathId,
    /// Window of the path, bytes.
    pub cwnd: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Rate in bytes per second at which the path handles its window, if it is known.
    pub rate: Option<f64>,
    /// Value by which PathList is sorted. The highest value comes first.
    pub rank: f64,
    /// Amount that the path may take.
    pub quota: Quota,
    /// Reference round-trip time of the path, or the value that replaces it.
    pub round_trip: Duration,
}

impl Offer {
    /// Eq. 11, in seconds. If the rate is zero or unknown, the result is one round-trip time.
    pub fn handling_time(&self) -> f64 {
        let by_rate = self.rate.filter(|r| *r > 0.0).map(|r| self.cwnd as f64 / r);
        by_rate.unwrap_or(self.round_trip.as_secs_f64())
    }

    /// Algorithm 4: D in bytes for a period of `period` seconds.
    pub fn quota(&self, period: f64) -> f64 {
        let time = self.handling_time();
        let turns = if time > 0.0 { libm::floor(period / time).max(1.0) } else { 1.0 };
        match self.quota {
            Quota::Window => self.cwnd as f64,
            Quota::Windows => turns * self.cwnd as f64,
            Quota::Residual(rc) if rc > 0.0 => turns * self.cwnd as f64 + rc * period,
            Quota::Residual(_) => turns * self.cwnd.saturating_sub(self.in_flight) as f64,
        }
    }
}

words! {
    /// Use of quotas.
    pub enum Allocation {
        /// Credits, used whenever there is room.
        Credits = "credits",
        /// Algorithm 4 as printed.
        Literal = "literal",
    }
}

/// Path of PathList, and the number of bytes that the path may still take.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Entry {
    /// Id of the path.
    pub path: PathId,
    /// Credit in bytes. It may be overdrawn by less than one packet.
    pub credit: f64,
}

/// The current distribution period.
#[derive(Clone, Debug)]
pub struct Distribution {
    allocation: Allocation,
    list: SmallVec<[Entry; 8]>,
    began: Option<Instant>,
    ends: Instant,
    /// Earliest time at which the next period may begin after all credits are used up.
    restart: Instant,
}

impl Distribution {
    /// Makes the state before the first period.
    pub fn new(allocation: Allocation) -> Self {
        let (ends, restart) = (Instant::ZERO, Instant::ZERO);
        Distribution { allocation, list: SmallVec::new(), began: None, ends, restart }
    }

    /// Begins a period with the paths of `offers`. `most` is D_max in bytes.
    pub fn begin(&mut self, now: Instant, offers: &mut [Offer], most: u64) {
        let shortest = offers.iter().map(|o| o.round_trip.as_secs_f64()).fold(f64::INFINITY, f64::min);
        let shortest = if shortest.is_finite() { shortest } else { 0.0 };
        let length = period(offers.iter().map(Offer::handling_time), shortest).max(SHORTEST);
        offers.sort_by(|a, b| {
            b.rank.total_cmp(&a.rank).then(a.round_trip.cmp(&b.round_trip)).then(a.path.cmp(&b.path))
        });
        self.list.clear();
        let mut total = 0.0;
        for offer in offers.iter() {
            let quota = offer.quota(length);
            total += quota;
            let given = self.allocation == Allocation::Credits || total <= most as f64;
            if !given {
                break;
            }
            self.list.push(Entry { path: offer.path, credit: quota });
        }
        self.began = Some(now);
        self.ends = now + seconds(length);
        self.restart = now + seconds(shortest / 4.0);
    }

    /// Returns whether the period is over, or whether none has begun.
    pub fn is_over(&self, now: Instant) -> bool {
        self.began.is_none() || self.ends <= now
    }

    /// Ends the period because the paths have changed.
    pub fn end(&mut self) {
        self.began = None;
    }

    /// End of the period.
    pub fn ends(&self) -> Instant {
        self.ends
    }

    /// True if a period may end early once its credits are used up.
    pub fn may_restart(&self, now: Instant) -> bool {
        self.allocation == Allocation::Credits && self.restart <= now
    }

    /// Allocation of quotas.
    pub fn allocation(&self) -> Allocation {
        self.allocation
    }

    /// PathList.
    pub fn list(&self) -> &[Entry] {
        &self.list
    }

    /// Records that `bytes` of new data left on `path`.
    pub fn sent(&mut self, path: PathId, bytes: u64) {
        if let Some(entry) = self.list.iter_mut().find(|e| e.path == path) {
            entry.credit -= bytes as f64;
        }
    }
}

/// Duration of `s` seconds. Periods are shorter than a day.
fn seconds(s: f64) -> Duration {
    Duration::from_nanos((s.min(86_400.0) * 1e9) as u64)
}

#[cfg(test)]
mod tests;
