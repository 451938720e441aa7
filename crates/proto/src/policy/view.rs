//! The read-only view of an association for policies.

use core::ops::Index;

use smallvec::SmallVec;

use super::blocked::Blocked;
use super::ids::{LinkId, PathId, PathSet};
use super::symbols::BlockView;
use super::tariff::Tariff;
use crate::time::{Duration, Instant};
use crate::units::Rate;

/// Reachability of a path (RFC 9260 §8.2, RFC 7829 §4.2).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PathState {
    /// The peer has not yet echoed a nonce from the path's address, or not since the path was resumed
    /// ([`proves_resumed`](crate::config::TransportConfig::proves_resumed)), so that the path carries no data (RFC 9260
    /// §5.4).
    Unconfirmed,
    /// The path is usable.
    Active,
    /// Errors were counted, but not enough for an inactive path. The path is probed, and carries data only if no better
    /// path is left (RFC 7829).
    PotentiallyFailed,
    /// There were more errors than Path.Max.Retrans.
    Inactive,
    /// Either side suspended the path: it is kept and probed, without data.
    Suspended,
    /// The path has left, or the slot was never used.
    Closed,
}

/// Limits of data in flight on a path, by its congestion control.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Limit {
    /// Congestion window in bytes of DATA chunks. The core uses at least one packet for an active path.
    pub cwnd: u64,
    /// Slow-start threshold in bytes, if the algorithm has one.
    pub ssthresh: Option<u64>,
    /// Rate for pacing, if the algorithm paces.
    pub pacing: Option<Rate>,
}

/// Name of [`Estimate::queue`] in traces.
pub const QUEUE: &str = "queue";

/// Name of [`Estimate::silence`] in traces.
pub const SILENCE: &str = "silence";

/// Value of [`Estimate::silence`] from which on no data are expected to arrive by the path for now.
pub const SUSPECTED: f64 = 3.0;

/// Estimates of a path. A value is `None` if no part of this association estimates it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Estimate {
    /// Available bandwidth.
    pub bandwidth: Option<Rate>,
    /// Rate at which data are acknowledged.
    pub delivery_rate: Option<Rate>,
    /// Time at which a sample that the path itself limited last confirmed or changed the delivery rate.
    pub tested: Option<Instant>,
    /// Queueing delay in seconds. A scheme that measures the delay gives up messages that would be late.
    pub queue: Option<f64>,
    /// Rating of the path's silence by the scheme; see [`SUSPECTED`].
    pub silence: Option<f64>,
    /// Probability that a packet is lost.
    pub loss: Option<f64>,
    /// Minimum round-trip time, which is that of the path without queues.
    pub reference_rtt: Option<Duration>,
    /// Probability that a frame is in error on the access link.
    pub frame_error_rate: Option<f64>,
    /// Effective signal-to-noise ratio, linear.
    pub effective_snr: Option<f64>,
    /// Rate that the receiver requests.
    pub peer_rate: Option<Rate>,
    /// Other values that a scheme's parts exchange, by name.
    pub extra: SmallVec<[(&'static str, f64); 4]>,
}

impl Estimate {
    /// Values that have a name in traces but no field, and the extra values.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> + use<'_> {
        let tested = self.tested.map(|at| at.as_secs_f64());
        let named = [(QUEUE, self.queue), ("delivery rate tested", tested), (SILENCE, self.silence)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
        named.chain(self.extra.iter().copied())
    }

    /// Value of the extra value `name`.
    #[inline]
    pub fn extra(&self, name: &str) -> Option<f64> {
        self.extra.iter().find(|(n, _)| same(n, name)).map(|(_, v)| *v)
    }

    /// Sets the extra value `name`.
    #[inline]
    pub fn set_extra(&mut self, name: &'static str, value: f64) {
        match self.extra.iter_mut().find(|(n, _)| same(n, name)) {
            Some(slot) => slot.1 = value,
            None => self.extra.push((name, value)),
        }
    }
}

/// Returns whether two names are equal. Usually both are the same constant.
#[inline]
fn same(a: &str, b: &str) -> bool {
    core::ptr::eq(a, b) || a == b
}

/// State of one path: measurements of the core, and results of the scheme.
#[derive(Clone, Debug)]
pub struct PathView {
    /// Identifier of the path.
    pub id: PathId,
    /// Reachability of the path.
    pub state: PathState,
    /// Largest DATA chunk that fits a packet, including its header of 16 bytes. It is the "MTU" of window formulas
    /// (PMDCS).
    pub mtu: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Round-trip time variation.
    pub rttvar: Duration,
    /// Latest sample of the round-trip time.
    pub latest_rtt: Option<Duration>,
    /// Minimum sample of the round-trip time.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout, with back-off and bounds.
    pub rto: Duration,
    /// SACK.Delay of the peer. The acknowledgement of a single packet may take longer than the path's round-trip time
    /// by this delay. It is zero unless [`TransportConfig::ack_delays`](crate::config::TransportConfig::ack_delays) is
    /// on.
    pub ack_delay: Duration,
    /// Number of consecutive errors (RFC 9260 §8.2).
    pub error_count: u32,
    /// Bytes of DATA chunks in flight: payload + 16 each, without padding.
    pub in_flight: u64,
    /// Number of chunks in flight.
    pub in_flight_chunks: u32,
    /// Time at which DATA last left on the path.
    pub last_sent: Option<Instant>,
    /// Link of the driver over which the path runs.
    pub link: LinkId,
    /// Costs of data on that link.
    pub tariff: Tariff,
    /// True if Max.Burst or pacing forbids another packet for the moment.
    pub blocked: bool,
    /// Results of the estimators.
    pub est: Estimate,
    /// Limits of the congestion control.
    pub limit: Limit,
}

impl PathView {
    /// Free window in bytes; zero while blocked. A sender may exceed the window by less than one packet, so that any
    /// free byte is room for a packet.
    #[inline]
    pub fn room(&self) -> u64 {
        if self.blocked { 0 } else { self.limit.cwnd.saturating_sub(self.in_flight) }
    }

    /// Returns whether window, Max.Burst and pacing permit another packet.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// Usual maximum time of an answer: srtt + 4·rttvar, without the lower bound of `rto`. The second term is at least
    /// the peer's SACK.Delay.
    #[inline]
    pub fn rto_raw(&self) -> Option<Duration> {
        self.srtt.map(|s| s + (4 * self.rttvar).max(self.ack_delay))
    }
}

/// Read-only view of all paths of one association.
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// Time of the call.
    pub now: Instant,
    /// All slots, including [`PathState::Closed`] ones: `paths[id.index()]`.
    pub paths: &'a [PathView],
    /// Bytes that the peer's receive window still admits.
    pub rwnd: u64,
    /// Bytes in flight over all paths.
    pub in_flight: u64,
    /// Path on which the last new DATA left.
    pub last_path_used: Option<PathId>,
    /// Path that the application requested ([`crate::association::Association::set_primary`]), once it is confirmed.
    /// Until then, and without a request, it is the path of the handshake.
    pub primary: PathId,
    /// True if the peer supports REPORT, so that it reads reports and counts of delayed acknowledgements.
    pub peer_reports: bool,
    /// Chunk that prevents new data from being sent although a usable path has room.
    pub blocked: Option<Blocked>,
    /// Blocks that the receiver does not have yet, oldest first; empty unless the association codes in blocks.
    pub blocks: &'a [BlockView],
}

impl<'a> View<'a> {
    /// Paths to which data may go: the active paths; without any, the potentially failed path with the fewest errors;
    /// without any, the inactive path with the fewest errors. A sender with a path therefore never stops sending (RFC
    /// 9260 §8.2, RFC 7829 §4.2).
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

    /// Returns the one usable path while no path is active.
    #[cold]
    fn least_bad(&self) -> PathSet {
        // RFC 7829 §4.2: the potentially failed destination with the lowest error count, else any dormant one.
        let least = |s| {
            let of = self.paths.iter().filter(move |p| p.state == s);
            of.min_by_key(|p| (p.error_count, p.id)).map(|p| PathSet::one(p.id))
        };
        least(PathState::PotentiallyFailed).or_else(|| least(PathState::Inactive)).unwrap_or_default()
    }

    /// The views of [`View::usable`] paths, lowest id first.
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
