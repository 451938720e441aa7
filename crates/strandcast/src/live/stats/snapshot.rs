//! State of a stream at one time, from the transport's counters.

use std::collections::BTreeMap;

use serde::Serialize;
use strandcast_net::driver::PathSnapshot;
use strandcast_net::monitor::{MonitorStats, Reading};
use strandcast_proto::association::{AssociationStats, DropCounts};
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{Advice, Estimate, PathState, PathView};
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

use super::buffers::BuffersNow;
use super::coding::CodingNow;
use super::wire::WireNow;

/// Side of a stream. The side determines which counters have a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The side sends the media.
    #[default]
    Send,
    /// The side receives the media.
    Receive,
    /// Both sides together. The counters of paths are the sender's, and those of media the
    /// receiver's.
    Both,
}

/// State of a stream at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StreamState {
    /// Media are sent or received.
    #[default]
    Streaming,
    /// There is a connection, but no input to send.
    NoInput,
    /// No packet arrives from the peer.
    Outage,
    /// The sender has no connection.
    Connecting,
    /// The receiver has no sender.
    Waiting,
}

impl StreamState {
    /// Name of the state in outputs.
    pub fn name(self) -> &'static str {
        match self {
            StreamState::Streaming => "streaming",
            StreamState::NoInput => "no-input",
            StreamState::Outage => "outage",
            StreamState::Connecting => "connecting",
            StreamState::Waiting => "waiting",
        }
    }
}

/// State of a path at one time. The counters of the path are the counters of its link since the start of the stream,
/// over all connections.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PathNow {
    /// Number of the link. The number of the link does not change when the link is renamed, closed or opened again.
    pub id: u32,
    /// Name of the interface, the address or the emulated link.
    pub name: String,
    /// `active`, `potentially-failed`, `inactive`, `unconfirmed`, `suspended` or `closed`.
    pub state: &'static str,
    /// Payload rate over the interval of the figures, including copies and retransmissions.
    pub rate_bps: f64,
    /// Largest rate that the link is known to carry. `None` at a receiver, or if the scheme does not measure this rate.
    pub capacity_bps: Option<f64>,
    /// Time since the link, and not the source, last limited the rate. `None` if the link never limited the rate, so
    /// that it carries at least this rate.
    pub capacity_age_s: Option<f64>,
    /// Rate that the path could carry in addition to the present one.
    pub headroom_bps: Option<f64>,
    /// Smoothed round-trip time.
    pub rtt_ms: Option<f64>,
    /// Share of the chunks of the last 10 s that were declared lost. `None` at a receiver, or if no chunks were sent.
    pub loss: Option<f64>,
    /// Share of all sent chunks that were declared lost; `None` at a receiver.
    pub loss_total: Option<f64>,
    /// Number of chunks sent, including copies and retransmissions.
    pub chunks: u64,
    /// Number of chunks that were declared lost and are not known to have arrived.
    pub chunks_lost: u64,
    /// Congestion window; `None` at a receiver.
    pub window_bytes: Option<u64>,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Number of payload bytes since the start.
    pub bytes: u64,
    /// Time for which the path was unusable.
    pub down_s: f64,
    /// Number of chunks that were sent again on this path because they blocked a buffer on a slower path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opportunistic_resends: Option<u64>,
    /// Number of times that the window was reduced because data of this path blocked a buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_of_line_penalties: Option<u64>,
    /// Values of the scheme's estimators, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<&'static str, f64>,
    /// Bytes that are left of the allowance of the path's link (`--tariff`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance_bytes: Option<u64>,
    /// Counters of the path's link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkNow>,
}

impl PathNow {
    /// Row for tests.
    #[cfg(test)]
    pub(super) fn test(name: &str, state: &'static str) -> PathNow {
        PathNow { name: name.to_owned(), state, loss_total: Some(0.006), ..PathNow::default() }
    }
}

/// Counters of a wireless link since its first query.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkNow {
    /// Number of transmissions, including retransmissions.
    pub tx_frames: u64,
    /// Number of retransmissions.
    pub tx_retries: u64,
    /// Number of abandoned frames.
    pub tx_failed: u64,
    /// Number of frames received.
    pub rx_frames: u64,
    /// Number of frames received in error.
    pub rx_errors: u64,
    /// Signal strength.
    pub signal_dbm: Option<i8>,
    /// Transmit rate.
    pub rate_bps: Option<f64>,
}

/// Numbers of queries of the links' counters, by outcome.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkMonitorNow {
    /// Number of answers with counters.
    pub readings: u64,
    /// Number of answers that contained no station.
    pub alone: u64,
    /// Number of refused queries.
    pub refused: u64,
    /// Reason of the last refusal.
    pub why: Option<String>,
}

impl LinkMonitorNow {
    /// Returns the counts; `None` before the first query.
    pub(super) fn of(stats: &MonitorStats) -> Option<LinkMonitorNow> {
        let MonitorStats { readings, unassociated: alone, refused, last, .. } = *stats;
        let asked = readings + alone + refused > 0;
        asked.then(|| LinkMonitorNow { readings, alone, refused, why: last.map(|why| why.to_string()) })
    }
}

/// Last advice of the scheme to an encoder, in payload bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AdviceNow {
    /// Rate of media that arrive in time.
    pub rate_bps: u64,
    /// Rate of media that would still arrive in time without the path that carries most.
    pub safe_bps: u64,
}

impl From<Advice> for AdviceNow {
    fn from(Advice { rate_bps, safe_bps }: Advice) -> Self {
        AdviceNow { rate_bps, safe_bps }
    }
}

/// Counters of the media on either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MediaNow {
    /// Number of messages submitted to the transport, or received.
    pub messages: u64,
    /// Bytes of media in these messages.
    pub bytes: u64,
    /// Rate of these bytes over the interval of the figures.
    pub rate_bps: f64,
    /// At a sender: number of messages that were abandoned because they had expired or would have arrived late. At a
    /// receiver: number of messages that arrived too late to be played.
    pub late: u64,
    /// Sender: number of messages of frames that the scheme gave up before any of them was sent.
    pub messages_dropped: u64,
    /// Sender: messages that were dropped, by cause ([`DropCause`](crate::live::DropCause)).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub drops: BTreeMap<&'static str, u64>,
    /// Number of late messages by cause. Lost and dropped messages are included. At a sender, the cause is the reason
    /// that delayed the message longest. The names of reasons are those of `explain`. At a receiver, it is one of the
    /// causes that a receiver can determine.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub late_by: BTreeMap<&'static str, u64>,
    /// Sender: seconds for which new data waited, by reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub held_s: BTreeMap<&'static str, f64>,
    /// Receiver: number of messages that never arrived.
    pub lost: u64,
    /// Receiver: number of messages that were sent before the first one that arrived.
    pub before: u64,
    /// Receiver: number of playout shifts.
    pub shifts: u64,
    /// Receiver: the current shift.
    pub shift_ms: f64,
    /// Receiver: number of jumps of the sender's clock.
    pub clock_jumps: u64,
    /// Duration of media that wait to be sent or played.
    pub buffer_ms: Option<f64>,
    /// Bytes that wait to be sent or acknowledged.
    pub buffer_bytes: u64,
    /// Receiver: number of messages that an output did not take, because it was not read or could not be written.
    pub unread: u64,
}

/// State of a stream at one time. The state serialises as a line of `--stats`.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Seconds since the start of the sender, or of the stream that is received.
    pub seconds: f64,
    /// Time in seconds over which rates are computed: about one second.
    pub interval_s: f64,
    /// Side of the stream.
    pub role: Role,
    /// Number of the stream in eight hexadecimal digits. The number of the stream is equal at both ends. `None` if it
    /// is not known.
    pub stream: Option<String>,
    /// State of the stream.
    pub state: StreamState,
    /// Name of the peer.
    pub peer: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Counters of the media.
    pub media: MediaNow,
    /// Buffers of the transport.
    pub buffers: BuffersNow,
    /// Bytes of the media on the wire.
    pub wire: WireNow,
    /// Last advice of the scheme to an encoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<AdviceNow>,
    /// All paths.
    pub paths: Vec<PathNow>,
    /// The scheme's diagnostics of its own state.
    pub diagnostics: Vec<&'static str>,
    /// The scheme's own counters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<&'static str, u64>,
    /// Messages that were given up, if there are any.
    #[serde(skip_serializing_if = "GivenUpNow::is_nothing")]
    pub given_up: GivenUpNow,
    /// Counters of symbols, if either side codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<CodingNow>,
    /// Queries of wireless links, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_monitor: Option<LinkMonitorNow>,
}

/// Messages of a sender that were given up, by cause. Causes without messages are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GivenUpNow {
    /// Number of messages that were never sent, not even in part, by cause.
    pub unsent: BTreeMap<&'static str, u64>,
    /// Number of messages that were sent at least in part, by cause.
    pub abandoned: BTreeMap<&'static str, u64>,
}

impl GivenUpNow {
    /// Takes the counts from the counters of an association.
    pub fn of(stats: &AssociationStats) -> Self {
        let named = |counts: &DropCounts| {
            counts.iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.name(), n)).collect()
        };
        GivenUpNow { unsent: named(&stats.unsent), abandoned: named(&stats.abandoned) }
    }

    /// Returns whether no message was given up.
    pub fn is_nothing(&self) -> bool {
        *self == GivenUpNow::default()
    }
}

/// The counters of a path.
#[derive(Debug)]
pub struct PathCounters<'a> {
    /// Display name of the path.
    pub name: String,
    /// State, round-trip times and window of the path.
    pub view: &'a PathView,
    /// Counters of the path.
    pub stats: &'a PathStats,
    /// Counters of the path's link.
    pub link: Option<&'a Reading>,
}

impl<'a> From<&'a PathSnapshot> for PathCounters<'a> {
    fn from(path: &'a PathSnapshot) -> Self {
        PathCounters {
            name: path.name.clone(),
            view: &path.view,
            stats: &path.stats,
            link: path.link.as_ref(),
        }
    }
}

/// Computes rates from the transport's counters and the previous sample.
#[derive(Debug)]
pub struct Sampler {
    role: Role,
    last: BTreeMap<u8, u64>,
    at: Option<Instant>,
}

impl Sampler {
    /// Makes a sampler without samples.
    pub fn new(role: Role) -> Self {
        Sampler { role, last: BTreeMap::new(), at: None }
    }

    /// Adds a sample of these paths.
    pub fn sample<'a>(
        &mut self,
        now: Instant,
        paths: impl Iterator<Item = PathCounters<'a>>,
    ) -> Vec<PathNow> {
        let since = self.at.replace(now).map_or(0.0, |at| (now - at).as_secs_f64());
        let mut rows = Vec::new();
        for path in paths {
            let slot = path.view.id.0;
            let row = path_now(self.role, now, path);
            // If a slot is used again for a new path, its counters start at zero.
            let before = self.last.insert(slot, row.bytes).unwrap_or(0);
            let rate_bps = rate(row.bytes.saturating_sub(before), since);
            rows.push(PathNow { rate_bps, ..row });
        }
        rows
    }
}

pub(super) fn payload(role: Role, stats: &PathStats) -> u64 {
    match role {
        Role::Send | Role::Both => stats.payload_sent,
        Role::Receive => stats.payload_received,
    }
}

/// Returns the rate in bits per second of these bytes in this time. Returns 0 if no time has passed.
pub(super) fn rate(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// Returns the row of a path without rates.
pub(super) fn path_now(role: Role, now: Instant, path: PathCounters<'_>) -> PathNow {
    let PathCounters { name, view, stats, link } = path;
    let sends = role != Role::Receive;
    let tested = view.est.tested.filter(|_| sends).map(|at| now.saturating_since(at).as_secs_f64());
    PathNow {
        id: 0,
        name,
        state: state_name(view.state),
        rate_bps: 0.0,
        capacity_bps: view.est.delivery_rate.filter(|_| sends).map(Rate::bps),
        capacity_age_s: tested,
        headroom_bps: None,
        rtt_ms: view.srtt.map(|rtt| rtt.as_secs_f64() * 1e3),
        loss: None,
        loss_total: sends.then(|| stats.loss()),
        chunks: stats.chunks_sent,
        chunks_lost: (stats.loss() * stats.chunks_sent as f64).round() as u64,
        window_bytes: sends.then_some(view.limit.cwnd),
        in_flight_bytes: view.in_flight,
        bytes: payload(role, stats),
        down_s: stats.down_time(now).as_secs_f64(),
        opportunistic_resends: sends.then_some(stats.opportunistic),
        head_of_line_penalties: sends.then_some(stats.penalties),
        estimates: estimates(&view.est),
        allowance_bytes: view.tariff.left,
        link: link.map(link_now),
    }
}

fn estimates(of: &Estimate) -> BTreeMap<&'static str, f64> {
    let known = [
        ("bandwidth_bps", of.bandwidth.map(Rate::bps)),
        ("delivery_rate_bps", of.delivery_rate.map(Rate::bps)),
        ("loss", of.loss),
        ("reference_rtt_ms", of.reference_rtt.map(|rtt| rtt.as_secs_f64() * 1e3)),
        ("frame_error_rate", of.frame_error_rate),
        ("effective_snr", of.effective_snr),
        ("peer_rate_bps", of.peer_rate.map(Rate::bps)),
    ];
    let all = known.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(of.named());
    all.filter(|(_, value)| value.is_finite()).collect()
}

fn link_now(reading: &Reading) -> LinkNow {
    let sample = &reading.sample;
    LinkNow {
        tx_frames: sample.tx_frames,
        tx_retries: sample.tx_retries,
        tx_failed: sample.tx_failed,
        rx_frames: sample.rx_frames,
        rx_errors: sample.rx_errors,
        signal_dbm: reading.signal_dbm,
        rate_bps: sample.phy_rate.map(Rate::bps),
    }
}

fn state_name(state: PathState) -> &'static str {
    match state {
        PathState::Unconfirmed => "unconfirmed",
        PathState::Active => "active",
        PathState::PotentiallyFailed => "potentially-failed",
        PathState::Inactive => "inactive",
        PathState::Suspended => "suspended",
        PathState::Closed => "closed",
    }
}
