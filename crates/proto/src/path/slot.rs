//! Private state of a path, in addition to its public [`PathView`].

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
    /// Number of chunks that were sent on this path after they had been sent before.
    pub retransmissions: u64,
    /// Number of chunks declared lost by miss indications.
    pub lost_fast: u64,
    /// Number of chunks declared lost by timeout.
    pub lost_timeout: u64,
    /// Number of chunks that the scheme declared lost by itself ([`crate::policy::Act::Lose`]).
    pub lost_by_scheme: u64,
    /// Number of chunks declared lost by miss indications that arrived after all ([`TransportConfig::reordering`]).
    pub spurious_losses: u64,
    /// Payload bytes acknowledged.
    pub payload_acked: u64,
    /// Number of T3-rtx expirations.
    pub timeouts: u64,
    /// Number of these timeouts after which the peer acknowledged the lost chunks before they were retransmitted.
    pub spurious_timeouts: u64,
    /// Number of tail probes ([`TransportConfig::tail_probes`]).
    pub tail_probes: u64,
    /// Number of chunks sent on this path because they blocked a buffer on a slower path
    /// (`TransportConfig::head_of_line`).
    pub opportunistic: u64,
    /// Number of times that the window was reduced because chunks in flight on this path blocked a buffer.
    pub penalties: u64,
    /// Number of probes of path MTU discovery ([`TransportConfig::mtu_discovery`]).
    pub mtu_probes: u64,
    /// Number of heartbeats that were not answered in time.
    pub heartbeats_lost: u64,
    /// Time for which the path was unusable (potentially failed or inactive). Only finished periods are included.
    pub down: Duration,
    /// Start of the present unusable period.
    pub down_since: Option<Instant>,
}

impl PathStats {
    /// Time for which the path was unusable up to `now`.
    pub fn down_time(&self, now: Instant) -> Duration {
        self.down + self.down_since.map_or(Duration::ZERO, |s| now - s)
    }

    /// Share of the sent chunks that were declared lost, without those that are known to have arrived.
    pub fn loss(&self) -> f64 {
        if self.chunks_sent == 0 {
            return 0.0;
        }
        let declared = self.lost_fast + self.lost_timeout + self.lost_by_scheme;
        declared.saturating_sub(self.spurious_losses) as f64 / self.chunks_sent as f64
    }
}

/// State of a path in the association.
#[derive(Debug)]
pub(crate) struct Path {
    pub tuple: FourTuple,
    /// Wire id between two Strandcast peers.
    pub wire_id: Option<u16>,
    /// IP-level MTU.
    pub ip_mtu: u16,
    /// Search for the MTU, whose result is `ip_mtu`; `None` if there is no search.
    pub discovery: Option<Discovery>,
    /// Serials of the peer's latest report on the address of this path, and of its latest report on the suspension.
    /// Older reports are ignored.
    pub news: (Option<u32>, Option<u32>),
    /// True if the peer has echoed a nonce from the path's address.
    pub confirmed: bool,
    /// Bytes, including headers, that may still be sent to an address that the peer only claimed.
    pub credit: Option<usize>,
    /// Address to which the path may have moved.
    pub candidate: Option<Candidate>,
    /// True if this side requested no data on this path, and true if the peer did.
    pub suspended: (bool, bool),
    /// Time of the last SACK that arrived by this path.
    pub last_sack: Option<Instant>,
    /// Arrivals by this path, for a peer that requests reports of them.
    pub arrivals: Arrivals,
    /// Last packet with DATA that arrived by this path, and the totals, for a peer that requests reports of them.
    pub arrived: Option<ArrivedHere>,
    /// Time of T3-rtx.
    pub t3: Option<Instant>,
    /// State of the tail probe.
    pub tail: Tail,
    /// Lateness of overtaken packets.
    pub reordering: Reordering,
    /// Time of the last proof that the peer receives data sent on this path.
    pub answered: Option<Instant>,
    /// True if T3-rtx expired and no data sent on this path have been acknowledged since.
    pub timed_out: bool,
    /// Number of packets that may still leave in this burst.
    pub burst: u32,
    /// Pacing: earliest time of the next DATA.
    pub pace: Instant,
    pub heartbeats: Heartbeats,
    /// Round-trip time as a receiver measures it.
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

    /// Restarts the MTU discovery after the path has moved to other addresses.
    pub fn restart_discovery(&mut self) {
        if let Some(discovery) = &mut self.discovery {
            discovery.restart();
        }
    }

    /// Maximum bytes of an SCTP packet.
    pub fn packet_size(&self, config: &TransportConfig) -> usize {
        packet_size(self.tuple.remote, self.ip_mtu, config)
    }
}

/// Maximum bytes of an SCTP packet to `remote`: a multiple of four, as chunks are.
pub(crate) fn packet_size(remote: SocketAddr, ip_mtu: u16, config: &TransportConfig) -> usize {
    let v6 = if remote.is_ipv6() && config.encapsulation > 0 { 20 } else { 0 };
    let least = 512usize.saturating_sub(config.envelope.len());
    let headers = usize::from(config.encapsulation + v6) + config.envelope.len();
    usize::from(ip_mtu).saturating_sub(headers).max(least) & !3
}

/// Returns the public view of a new path.
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
