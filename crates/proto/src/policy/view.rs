//! The read-only view of an association that policies receive.

use core::ops::Index;

use smallvec::SmallVec;

use super::blocked::Blocked;
use super::ids::{LinkId, PathId, PathSet};
use super::symbols::BlockView;
use super::tariff::Tariff;
use crate::time::{Duration, Instant};
use crate::units::Rate;

/// State of a path (RFC 9260 §8.2, RFC 7829 §4.2).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PathState {
    /// The peer has not yet echoed a nonce from the path's address, or not since the path was resumed
    /// ([`proves_resumed`](crate::config::TransportConfig::proves_resumed)), so that the path carries no data (RFC 9260
    /// §5.4).
    Unconfirmed,
    /// The path is usable.
    Active,
    /// Errors were counted on the path, but not enough to make it inactive. The path is probed. A potentially failed
    /// path carries data only if no better path is left (RFC 7829).
    PotentiallyFailed,
    /// The path had more errors than Path.Max.Retrans.
    Inactive,
    /// Either side suspended the path. A suspended path is kept and probed, but carries no data.
    Suspended,
    /// The path is closed, or its slot was never used.
    Closed,
}

/// Limits of the data in flight on a path, set by the congestion control.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Limit {
    /// Congestion window in bytes of DATA chunks. For an active path, the core permits at least one packet.
    pub cwnd: u64,
    /// Slow-start threshold in bytes, if the congestion control has one.
    pub ssthresh: Option<u64>,
    /// Pacing rate, if the congestion control paces.
    pub pacing: Option<Rate>,
}

/// Name of [`Estimate::queue`] in traces.
pub const QUEUE: &str = "queue";

/// Name of [`Estimate::silence`] in traces.
pub const SILENCE: &str = "silence";

/// Value of [`Estimate::silence`] from which on a path is expected to deliver no data for now.
pub const SUSPECTED: f64 = 3.0;

/// Estimates of a path. A value is `None` if no part of the scheme estimates it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Estimate {
    /// Available bandwidth.
    pub bandwidth: Option<Rate>,
    /// Rate at which data are acknowledged.
    pub delivery_rate: Option<Rate>,
    /// Time at which a sample last confirmed or changed the delivery rate. The path itself must have limited this
    /// sample.
    pub tested: Option<Instant>,
    /// Queueing delay in seconds. A scheme that measures the delay gives up messages that would be late.
    pub queue: Option<f64>,
    /// Rating of the path's silence by the scheme. A path is suspected from a rating of [`SUSPECTED`] on.
    pub silence: Option<f64>,
    /// Probability that a packet is lost.
    pub loss: Option<f64>,
    /// Minimum round-trip time. The minimum round-trip time is the time of the path without queues.
    pub reference_rtt: Option<Duration>,
    /// Probability that a frame is in error on the access link.
    pub frame_error_rate: Option<f64>,
    /// Effective signal-to-noise ratio (ESNR) as a linear ratio.
    pub effective_snr: Option<f64>,
    /// Rate that the receiver of data requests.
    pub peer_rate: Option<Rate>,
    /// Further values that the parts of a scheme exchange, by name.
    pub extra: SmallVec<[(&'static str, f64); 4]>,
}

impl Estimate {
    /// Returns the named values for traces: some fields, and the extra values.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> + use<'_> {
        let tested = self.tested.map(|at| at.as_secs_f64());
        let named = [(QUEUE, self.queue), ("delivery rate tested", tested), (SILENCE, self.silence)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
        named.chain(self.extra.iter().copied())
    }

    /// Returns the extra value called `name`.
    #[inline]
    pub fn extra(&self, name: &str) -> Option<f64> {
        self.extra.iter().find(|(n, _)| same(n, name)).map(|(_, v)| *v)
    }

    /// Sets the extra value called `name`.
    #[inline]
    pub fn set_extra(&mut self, name: &'static str, value: f64) {
        match self.extra.iter_mut().find(|(n, _)| same(n, name)) {
            Some(slot) => slot.1 = value,
            None => self.extra.push((name, value)),
        }
    }
}

/// Returns whether two names are equal. Usually both names are one constant, which makes the comparison fast.
#[inline]
fn same(a: &str, b: &str) -> bool {
    core::ptr::eq(a, b) || a == b
}

/// State of one path: measurements of the core, and results of the scheme.
#[derive(Clone, Debug)]
pub struct PathView {
    /// Identifier of the path.
    pub id: PathId,
    /// State of the path.
    pub state: PathState,
    /// Bytes of the largest DATA chunk that fits a packet, including the chunk's header of 16 bytes. The size of this
    /// DATA chunk is the "MTU" in formulas of windows (PMDCS).
    pub mtu: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Variation of the round-trip time (RTTVAR).
    pub rttvar: Duration,
    /// Latest sample of the round-trip time.
    pub latest_rtt: Option<Duration>,
    /// Smallest sample of the round-trip time.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout, with back-off and within its bounds.
    pub rto: Duration,
    /// SACK.Delay that the peer is assumed to use. The acknowledgement of a single packet may exceed the path's
    /// round-trip time by this delay. The value is zero unless
    /// [`TransportConfig::ack_delays`](crate::config::TransportConfig::ack_delays) is on.
    pub ack_delay: Duration,
    /// Number of consecutive errors of the path (RFC 9260 §8.2).
    pub error_count: u32,
    /// Bytes of DATA chunks in flight on the path. Each chunk counts as payload + 16, without padding.
    pub in_flight: u64,
    /// Number of chunks in flight on the path.
    pub in_flight_chunks: u32,
    /// Time at which DATA were last sent on the path.
    pub last_sent: Option<Instant>,
    /// Link of the driver over which the path runs.
    pub link: LinkId,
    /// Costs of data on this link.
    pub tariff: Tariff,
    /// True if Max.Burst or pacing forbids another packet at present.
    pub blocked: bool,
    /// Estimates of the path.
    pub est: Estimate,
    /// Limits of the path, set by the congestion control.
    pub limit: Limit,
}

impl PathView {
    /// Returns the free bytes of the window; zero while `blocked` is true. A sender may exceed the window by less than
    /// one packet. Any free byte is therefore room for a packet.
    #[inline]
    pub fn room(&self) -> u64 {
        if self.blocked { 0 } else { self.limit.cwnd.saturating_sub(self.in_flight) }
    }

    /// Returns whether window, Max.Burst and pacing permit another packet.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// Returns the longest usual time of an answer: srtt + 4·rttvar, without the lower bound of `rto`. The second term
    /// counts as at least the peer's SACK.Delay.
    #[inline]
    pub fn rto_raw(&self) -> Option<Duration> {
        self.srtt.map(|s| s + (4 * self.rttvar).max(self.ack_delay))
    }
}

/// Read-only view of all paths of one association.
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// Time at which the policy is called.
    pub now: Instant,
    /// Views of all slots, including [`PathState::Closed`] slots. The view of a path is `paths[id.index()]`.
    pub paths: &'a [PathView],
    /// Bytes that the peer's receive window still admits.
    pub rwnd: u64,
    /// Bytes in flight over all paths.
    pub in_flight: u64,
    /// Path on which new DATA were last sent.
    pub last_path_used: Option<PathId>,
    /// Primary path: the path that the application requested ([`crate::association::Association::set_primary`]), once
    /// it is confirmed. Before this, and without a request, it is the path of the handshake.
    pub primary: PathId,
    /// True if the peer supports REPORT. A peer that supports REPORT reads reports and counts of delayed
    /// acknowledgements.
    pub peer_reports: bool,
    /// Chunk that prevents new data from being sent, although a usable path has room.
    pub blocked: Option<Blocked>,
    /// Coded blocks that the receiver does not have yet, oldest first. The list is empty unless data are sent in coded
    /// blocks.
    pub blocks: &'a [BlockView],
}

impl<'a> View<'a> {
    /// Returns the paths that may carry data. The active paths may carry data. If no path is active, the result is the
    /// potentially failed path with the fewest errors. If no path is potentially failed, the result is the inactive
    /// path with the fewest errors. A sender that has a path therefore never stops sending (RFC 9260 §8.2, RFC 7829
    /// §4.2).
    #[inline]
    pub fn usable(&self) -> PathSet {
        let mut active = PathSet::default();
        for path in self.paths {
            if path.state == PathState::Active {
                active.insert(path.id);
            }
        }
        if active.is_empty() { self.least_bad() } else { active }
    }

    /// Returns the one usable path if no path is active.
    #[cold]
    fn least_bad(&self) -> PathSet {
        // RFC 7829 §4.2: the potentially failed destination with the lowest error count, else any dormant one.
        let least = |s| {
            let of = self.paths.iter().filter(move |p| p.state == s);
            of.min_by_key(|p| (p.error_count, p.id)).map(|p| PathSet::one(p.id))
        };
        least(PathState::PotentiallyFailed).or_else(|| least(PathState::Inactive)).unwrap_or_default()
    }

    /// Returns the views of the [`View::usable`] paths, lowest id first.
    #[inline]
    pub fn usable_paths(&self) -> impl Iterator<Item = &'a PathView> + use<'a> {
        let set = self.usable();
        self.paths.iter().filter(move |p| set.contains(p.id))
    }
}

impl Index<PathId> for View<'_> {
    type Output = PathView;
    #[inline]
    fn index(&self, id: PathId) -> &PathView {
        &self.paths[id.index()]
    }
}
