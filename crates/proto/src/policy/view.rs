//! The read-only picture of an association that every policy sees.

use core::ops::Index;

use smallvec::SmallVec;

use super::blocked::Blocked;
use super::ids::{LinkId, PathId, PathSet};
use super::symbols::BlockView;
use super::tariff::Tariff;
use crate::time::{Duration, Instant};
use crate::units::Rate;

/// What the core knows of a path's reachability (RFC 9260 §8.2, RFC 7829 §4.2).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PathState {
    /// The peer has not yet echoed a nonce from there: no data (RFC 9260 §5.4).
    Unconfirmed,
    /// Usable.
    Active,
    /// Errors counted, not yet given up: probed, used only when nothing better is left (RFC 7829).
    PotentiallyFailed,
    /// More errors than Path.Max.Retrans.
    Inactive,
    /// Suspended by either side: kept and probed, no data.
    Suspended,
    /// Left, or never used slot.
    Closed,
}

/// How much may be in flight on a path, as its congestion control sees it.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Limit {
    /// Congestion window in bytes of DATA chunks. The core never lets an active path fall below one packet.
    pub cwnd: u64,
    /// Slow-start threshold in bytes, where the algorithm has one.
    pub ssthresh: Option<u64>,
    /// Pace sending at this rate.
    pub pacing: Option<Rate>,
}

/// The name of [`Estimate::queue`] in traces.
pub const QUEUE: &str = "queue";

/// The name of [`Estimate::silence`] in traces.
pub const SILENCE: &str = "silence";

/// The least [`Estimate::silence`] of a path by which nothing is expected to arrive for now.
pub const SUSPECTED: f64 = 3.0;

/// Estimates of a path. `None`: no part of this association estimates it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Estimate {
    /// Available bandwidth.
    pub bandwidth: Option<Rate>,
    /// Rate at which data are acknowledged.
    pub delivery_rate: Option<Rate>,
    /// When a sample that the path itself limited last agreed with the delivery rate.
    pub tested: Option<Instant>,
    /// Queueing delay, seconds. A scheme that measures it gives up messages that would come too late.
    pub queue: Option<f64>,
    /// What a scheme makes of the path's silence, see [`SUSPECTED`].
    pub silence: Option<f64>,
    /// Probability that a packet is lost.
    pub loss: Option<f64>,
    /// Least round-trip time, the path without its queues.
    pub reference_rtt: Option<Duration>,
    /// Probability that a frame is in error on the access link.
    pub frame_error_rate: Option<f64>,
    /// Effective signal-to-noise ratio, linear.
    pub effective_snr: Option<f64>,
    /// The rate the receiver asks for.
    pub peer_rate: Option<Rate>,
    /// Whatever else a scheme's parts tell each other, by name.
    pub extra: SmallVec<[(&'static str, f64); 4]>,
}

impl Estimate {
    /// What has a name in traces and none of its own here, and the extras.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> + use<'_> {
        let tested = self.tested.map(|at| at.as_secs_f64());
        let named = [(QUEUE, self.queue), ("delivery rate tested", tested), (SILENCE, self.silence)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
        named.chain(self.extra.iter().copied())
    }

    /// The value of the named extra.
    #[inline]
    pub fn extra(&self, name: &str) -> Option<f64> {
        self.extra.iter().find(|(n, _)| same(n, name)).map(|(_, v)| *v)
    }

    /// Sets the named extra.
    #[inline]
    pub fn set_extra(&mut self, name: &'static str, value: f64) {
        match self.extra.iter_mut().find(|(n, _)| same(n, name)) {
            Some(slot) => slot.1 = value,
            None => self.extra.push((name, value)),
        }
    }
}

/// Whether two names are the same: most often they are one constant.
#[inline]
fn same(a: &str, b: &str) -> bool {
    core::ptr::eq(a, b) || a == b
}

/// One path, as measured by the core and judged by the scheme.
#[derive(Clone, Debug)]
pub struct PathView {
    /// Which path.
    pub id: PathId,
    /// Reachability.
    pub state: PathState,
    /// The largest DATA chunk that fits a packet, 16-byte header included: the "MTU" of window formulas (PMDCS).
    pub mtu: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Round-trip time variation.
    pub rttvar: Duration,
    /// The latest round-trip time sample.
    pub latest_rtt: Option<Duration>,
    /// Least sample seen.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout, with back-off and bounds.
    pub rto: Duration,
    /// The peer's SACK.Delay, by which a lone packet's acknowledgement may come later than the path is long; zero unless
    /// [`TransportConfig::ack_delays`](crate::config::TransportConfig::ack_delays) is on.
    pub ack_delay: Duration,
    /// Consecutive errors (RFC 9260 §8.2).
    pub error_count: u32,
    /// Bytes of DATA chunks in flight: chunk bytes, payload + 16 each, without padding.
    pub in_flight: u64,
    /// Chunks in flight.
    pub in_flight_chunks: u32,
    /// When DATA last left on it.
    pub last_sent: Option<Instant>,
    /// The driver's link it runs over.
    pub link: LinkId,
    /// What data on that link cost.
    pub tariff: Tariff,
    /// Max.Burst or pacing forbids another packet for the moment.
    pub blocked: bool,
    /// What the estimators say.
    pub est: Estimate,
    /// What the congestion control allows.
    pub limit: Limit,
}

impl PathView {
    /// Free window in bytes, none while blocked. A sender may overshoot by less than one packet, so any free byte is
    /// room for one.
    #[inline]
    pub fn room(&self) -> u64 {
        if self.blocked { 0 } else { self.limit.cwnd.saturating_sub(self.in_flight) }
    }

    /// Whether another packet may leave, as far as window, Max.Burst and pacing go.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// How long an answer usually takes at most: `rto` before its lower bound, srtt + 4·rttvar, and at least the peer's SACK.Delay
    /// in place of the latter.
    pub fn rto_raw(&self) -> Option<Duration> {
        self.srtt.map(|s| s + (4 * self.rttvar).max(self.ack_delay))
    }
}

/// Read-only picture of all paths of one association.
#[derive(Copy, Clone, Debug)]
pub struct View<'a> {
    /// The time of the call.
    pub now: Instant,
    /// All slots, [`PathState::Closed`] ones included: `paths[id.index()]`.
    pub paths: &'a [PathView],
    /// What the peer's receive window still admits, bytes.
    pub rwnd: u64,
    /// Bytes in flight over all paths.
    pub in_flight: u64,
    /// The path the last new DATA left on.
    pub last_path_used: Option<PathId>,
    /// The path the application asked for ([`crate::association::Association::set_primary`]), once it is confirmed; until
    /// then, and if it asked for none, the one of the handshake.
    pub primary: PathId,
    /// The peer speaks REPORT: delayed-ack counts and reports reach it.
    pub peer_reports: bool,
    /// The chunk that keeps new data from being sent, while one does although a usable path has room.
    pub blocked: Option<Blocked>,
    /// The blocks that the receiver does not have yet, oldest first; none unless the association codes in blocks.
    pub blocks: &'a [BlockView],
}

impl<'a> View<'a> {
    /// Paths data may go to: the active ones; if none, the potentially failed; if none, the inactive one with the
    /// fewest errors, so that a sender is never mute while it has a path (RFC 9260 §8.2, RFC 7829 §4.2).
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

    /// The one usable path while none is active.
    #[cold]
    fn least_bad(&self) -> PathSet {
        // RFC 7829 §4.2: the potentially failed destination with the least error count, else any dormant one.
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
