//! One path's private state beside its public [`PathView`].

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

/// What happened on a path since the association began.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PathStats {
    /// SCTP packets sent.
    pub packets_sent: u64,
    /// Bytes of SCTP packets sent.
    pub bytes_sent: u64,
    /// SCTP packets received.
    pub packets_received: u64,
    /// Bytes of SCTP packets received.
    pub bytes_received: u64,
    /// DATA chunks sent, retransmissions and copies included.
    pub chunks_sent: u64,
    /// DATA payload bytes sent, retransmissions and copies included.
    pub payload_sent: u64,
    /// DATA payload bytes received, duplicates included.
    pub payload_received: u64,
    /// Chunks sent a second time or later on this path.
    pub retransmissions: u64,
    /// Chunks declared lost by miss indications.
    pub lost_fast: u64,
    /// Chunks declared lost by timeout.
    pub lost_timeout: u64,
    /// Chunks that the scheme declared lost of its own accord ([`crate::policy::Act::Lose`]).
    pub lost_by_scheme: u64,
    /// Chunks declared lost by miss indications that arrived after all ([`TransportConfig::reordering`]).
    pub spurious_losses: u64,
    /// Payload bytes acknowledged.
    pub payload_acked: u64,
    /// T3-rtx expirations.
    pub timeouts: u64,
    /// Of these, those after which the peer acknowledged what had been taken for lost, before it was sent again.
    pub spurious_timeouts: u64,
    /// Tail probes ([`TransportConfig::tail_probes`]).
    pub tail_probes: u64,
    /// Chunks sent here because they held up a buffer on a slower path (`TransportConfig::head_of_line`).
    pub opportunistic: u64,
    /// Times its window was cut since chunks in flight here held up a buffer.
    pub penalties: u64,
    /// Probes of path MTU discovery ([`TransportConfig::mtu_discovery`]).
    pub mtu_probes: u64,
    /// Heartbeats that were not answered in time.
    pub heartbeats_lost: u64,
    /// Time spent unusable (potentially failed or inactive), finished periods only.
    pub down: Duration,
    /// Since when it is unusable.
    pub down_since: Option<Instant>,
}

impl PathStats {
    /// Time spent unusable up to `now`.
    pub fn down_time(&self, now: Instant) -> Duration {
        self.down + self.down_since.map_or(Duration::ZERO, |s| now - s)
    }

    /// Share of the chunks sent that were lost: declared so, and not found to have arrived after all.
    pub fn loss(&self) -> f64 {
        if self.chunks_sent == 0 {
            return 0.0;
        }
        let declared = self.lost_fast + self.lost_timeout + self.lost_by_scheme;
        declared.saturating_sub(self.spurious_losses) as f64 / self.chunks_sent as f64
    }
}

/// A path, as the association keeps it.
#[derive(Debug)]
pub(crate) struct Path {
    pub tuple: FourTuple,
    /// Its name between two Strandcast peers.
    pub wire_id: Option<u16>,
    /// IP-level MTU.
    pub ip_mtu: u16,
    /// The search for it, which `ip_mtu` follows; `None`: there is none.
    pub discovery: Option<Discovery>,
    /// Serials of the peer's latest report on where this path is, and on its suspension: older ones come too late.
    pub news: (Option<u32>, Option<u32>),
    /// The peer echoed a nonce from there once.
    pub confirmed: bool,
    /// The peer's address was only claimed so far: bytes that may still go there, headers counted.
    pub credit: Option<usize>,
    /// Where the path may have moved to.
    pub candidate: Option<Candidate>,
    /// This side or the peer asked for no data here.
    pub suspended: (bool, bool),
    /// When a SACK last came by it.
    pub last_sack: Option<Instant>,
    /// What came by it, for a peer that wants to know.
    pub arrivals: Arrivals,
    /// The last packet with DATA that came by it and all so far, for a peer that asked.
    pub arrived: Option<ArrivedHere>,
    /// T3-rtx.
    pub t3: Option<Instant>,
    /// The tail probe.
    pub tail: Tail,
    /// How late packets are that others overtake.
    pub reordering: Reordering,
    /// When something last proved that the peer receives what is sent here.
    pub answered: Option<Instant>,
    /// T3-rtx expired, and nothing sent here was acknowledged since.
    pub timed_out: bool,
    /// Packets that may still leave in this burst.
    pub burst: u32,
    /// Pacing: no DATA before.
    pub pace: Instant,
    pub heartbeats: Heartbeats,
    /// Its round trip as a receiver measures it.
    pub sounding: Sounding,
    pub stats: PathStats,
    /// When anything last arrived from there.
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

    /// The path goes on between other addresses: its MTU may be another one.
    pub fn restart_discovery(&mut self) {
        if let Some(discovery) = &mut self.discovery {
            discovery.restart();
        }
    }

    /// Bytes an SCTP packet may have.
    pub fn packet_size(&self, config: &TransportConfig) -> usize {
        packet_size(self.tuple.remote, self.ip_mtu, config)
    }
}

/// Bytes an SCTP packet to `remote` may have: a multiple of four, as chunks are.
pub(crate) fn packet_size(remote: SocketAddr, ip_mtu: u16, config: &TransportConfig) -> usize {
    let v6 = if remote.is_ipv6() && config.encapsulation > 0 { 20 } else { 0 };
    let least = 512usize.saturating_sub(config.envelope.len());
    let headers = usize::from(config.encapsulation + v6) + config.envelope.len();
    usize::from(ip_mtu).saturating_sub(headers).max(least) & !3
}

/// The public view of a new path.
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
