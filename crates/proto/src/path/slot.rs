//! Private state of a path. The public state of a path is [`PathView`].

use core::net::SocketAddr;

use super::candidate::Candidate;
use super::discovery::Discovery;
use super::heartbeat::Heartbeats;
use super::reordering::Reordering;
use super::sounding::Sounding;
use super::tail::Tail;
use super::tuple::FourTuple;
use crate::config::TransportConfig;
use crate::policy::{Limit, PathId, PathState, PathView, Tariff};
use crate::rx::{Arrivals, ArrivedHere};
use crate::time::{Duration, Instant};
use crate::wire::packet::HEADER_LEN;

/// Counters of a path since the association began.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct PathStats {
    /// Number of SCTP packets sent.
    pub packets_sent: u64,
    /// Bytes of SCTP packets sent.
    pub bytes_sent: u64,
    /// Number of SCTP packets received.
    pub packets_received: u64,
    /// Bytes of SCTP packets received.
    pub bytes_received: u64,
    /// Number of DATA chunks sent, including retransmissions and copies.
    pub chunks_sent: u64,
    /// Bytes of DATA payload sent, including retransmissions and copies.
    pub payload_sent: u64,
    /// Bytes of DATA payload received, including duplicates.
    pub payload_received: u64,
    /// Number of chunks sent on this path that had been sent before, on any path.
    pub retransmissions: u64,
    /// Number of chunks declared lost by miss indications.
    pub lost_fast: u64,
    /// Number of chunks declared lost by timeout.
    pub lost_timeout: u64,
    /// Number of chunks that the scheme declared lost by itself ([`crate::policy::Act::Lose`]).
    pub lost_by_scheme: u64,
    /// Number of chunks that arrived although miss indications had declared them lost
    /// ([`TransportConfig::reordering`]).
    pub spurious_losses: u64,
    /// Number of payload bytes that the peer acknowledged.
    pub payload_acked: u64,
    /// Number of expirations of T3-rtx.
    pub timeouts: u64,
    /// Number of timeouts that were spurious: the peer acknowledged the lost chunks before they were retransmitted.
    pub spurious_timeouts: u64,
    /// Number of tail probes sent ([`TransportConfig::tail_probes`]).
    pub tail_probes: u64,
    /// Number of chunks sent on this path because they blocked a buffer while in flight on a slower path
    /// (`TransportConfig::head_of_line`).
    pub opportunistic: u64,
    /// Number of reductions of this path's window because chunks in flight on it blocked a buffer.
    pub penalties: u64,
    /// Number of sent probes of path MTU discovery ([`TransportConfig::mtu_discovery`]).
    pub mtu_probes: u64,
    /// Number of heartbeats that were not answered in time.
    pub heartbeats_lost: u64,
    /// Total time for which the path was unusable (potentially failed or inactive). An unusable period counts once it
    /// has ended.
    pub down: Duration,
    /// Start of the current unusable period.
    pub down_since: Option<Instant>,
}

impl PathStats {
    /// Returns the time for which the path was unusable up to `now`.
    pub fn down_time(&self, now: Instant) -> Duration {
        self.down + self.down_since.map_or(Duration::ZERO, |s| now - s)
    }

    /// Returns the fraction of the sent chunks that were declared lost. Chunks that were declared lost but are known to
    /// have arrived do not count.
    pub fn loss(&self) -> f64 {
        if self.chunks_sent == 0 {
            return 0.0;
        }
        let declared = self.lost_fast + self.lost_timeout + self.lost_by_scheme;
        declared.saturating_sub(self.spurious_losses) as f64 / self.chunks_sent as f64
    }
}

/// State of a path that the association keeps.
#[derive(Debug)]
pub(crate) struct Path {
    pub tuple: FourTuple,
    /// Wire id of the path between two Strandcast peers.
    pub wire_id: Option<u16>,
    /// IP-level MTU in bytes.
    pub ip_mtu: u16,
    /// Search for the MTU, which sets `ip_mtu`; `None` if there is no search.
    pub discovery: Option<Discovery>,
    /// Serials of two of the peer's reports about this path: the latest about its address, and the latest about its
    /// suspension. Older reports are ignored.
    pub news: (Option<u32>, Option<u32>),
    /// True if the peer has returned a nonce from the path's address.
    pub confirmed: bool,
    /// Bytes, including headers, that may still be sent to an address that the peer only claimed.
    pub credit: Option<usize>,
    /// Candidate address, to which the path may have moved.
    pub candidate: Option<Candidate>,
    /// Two flags. The first is true if this side suspended the path, and the second is true if the peer suspended it.
    pub suspended: (bool, bool),
    /// Time of the last SACK that arrived by this path.
    pub last_sack: Option<Instant>,
    /// Arrivals by this path. They are recorded only for a peer that requests the path of each arrival.
    pub arrivals: Arrivals,
    /// Last packet with DATA that arrived by this path, and the totals of all arrivals by this path. They are recorded
    /// only for a peer that requests reports of arrivals.
    pub arrived: Option<ArrivedHere>,
    /// Time at which T3-rtx expires.
    pub t3: Option<Instant>,
    /// State of the path's tail probe.
    pub tail: Tail,
    /// Lateness of the path's overtaken packets.
    pub reordering: Reordering,
    /// Time of the last proof that the peer receives data sent on this path.
    pub answered: Option<Instant>,
    /// True if T3-rtx expired and no data sent on this path have been acknowledged since then.
    pub timed_out: bool,
    /// Number of packets that may still be sent in this burst.
    pub burst: u32,
    /// Earliest time at which pacing lets the next DATA packet leave.
    pub pace: Instant,
    pub heartbeats: Heartbeats,
    /// Round-trip time that this side measures while it receives data.
    pub sounding: Sounding,
    pub stats: PathStats,
    /// Time of the last arrival from the path's address.
    pub last_received: Option<Instant>,
}

impl Path {
    pub fn new(tuple: FourTuple, ip_mtu: u16, config: &TransportConfig, next_heartbeat: Instant) -> Self {
        Path {
            tuple,
            wire_id: None,
            news: (None, None),
            ip_mtu,
            discovery: config.mtu_discovery.map(|most| Discovery::new(ip_mtu, most)),
            confirmed: false,
            credit: None,
            candidate: None,
            suspended: (false, false),
            last_sack: None,
            arrivals: Arrivals::default(),
            arrived: None,
            t3: None,
            tail: Tail::default(),
            reordering: Reordering::default(),
            answered: None,
            timed_out: false,
            burst: config.max_burst,
            pace: Instant::ZERO,
            heartbeats: Heartbeats::new(next_heartbeat),
            sounding: Sounding::default(),
            stats: PathStats::default(),
            last_received: None,
        }
    }

    /// Restarts MTU discovery after the path moved to other addresses.
    pub fn restart_discovery(&mut self) {
        if let Some(discovery) = &mut self.discovery {
            discovery.restart();
        }
    }

    /// Returns the maximum size in bytes of an SCTP packet on this path.
    pub fn packet_size(&self, config: &TransportConfig) -> usize {
        packet_size(self.tuple.remote, self.ip_mtu, config)
    }
}

/// Returns the maximum size in bytes of an SCTP packet to `remote`. It is a multiple of four, because the size of each
/// chunk is one.
pub(crate) fn packet_size(remote: SocketAddr, ip_mtu: u16, config: &TransportConfig) -> usize {
    let v6 = if remote.is_ipv6() && config.encapsulation > 0 { 20 } else { 0 };
    let least = 512usize.saturating_sub(config.envelope.len());
    let headers = usize::from(config.encapsulation + v6) + config.envelope.len();
    usize::from(ip_mtu).saturating_sub(headers).max(least) & !3
}

/// Returns the public view ([`PathView`]) of a new path.
pub(crate) fn new_view(id: PathId, tuple: &FourTuple, config: &TransportConfig, ip_mtu: u16) -> PathView {
    PathView {
        id,
        state: PathState::Unconfirmed,
        mtu: (packet_size(tuple.remote, ip_mtu, config) - HEADER_LEN) as u64,
        srtt: None,
        rttvar: Duration::ZERO,
        latest_rtt: None,
        ack_delay: config.peer_ack_delay().unwrap_or_default(),
        min_rtt: None,
        rto: config.rto_initial,
        error_count: 0,
        in_flight: 0,
        in_flight_chunks: 0,
        last_sent: None,
        link: tuple.link,
        tariff: Tariff::default(),
        blocked: false,
        est: Default::default(),
        limit: Limit::default(),
    }
}
