//! The state of a stream at one moment, from the transport's counters.

use std::collections::BTreeMap;
use std::time::Duration;

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

/// The side of a stream, which determines the meaningful counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It sends the media.
    #[default]
    Send,
    /// It receives them.
    Receive,
    /// Both ends: path counters are the sender's, media counters the receiver's.
    Both,
}

/// A path at one moment.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PathNow {
    /// Interface, address, or the emulated link's name.
    pub name: String,
    /// `active`, `potentially-failed`, `inactive`, `unconfirmed`, `suspended` or `closed`.
    pub state: &'static str,
    /// Payload rate since the previous sample, including copies and retransmissions.
    pub rate_bps: f64,
    /// Smoothed round-trip time.
    pub rtt_ms: Option<f64>,
    /// Share of the sent chunks that were declared lost; unknown to a receiver.
    pub loss: Option<f64>,
    /// Congestion window; not shown for a receiver.
    pub window_bytes: Option<u64>,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Payload since the start.
    pub bytes: u64,
    /// Time spent unusable.
    pub down_s: f64,
    /// Chunks also sent here because they blocked a buffer on a slower path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opportunistic_resends: Option<u64>,
    /// Reductions of its window because its data blocked a buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_of_line_penalties: Option<u64>,
    /// Values of the scheme's estimators, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<&'static str, f64>,
    /// Bytes left of its link's allowance (`--tariff`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowance_bytes: Option<u64>,
    /// Counters of its link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkNow>,
}

impl PathNow {
    /// A row of tests.
    #[cfg(test)]
    pub(super) fn test(name: &str, state: &'static str) -> PathNow {
        PathNow {
            name: name.to_owned(),
            state,
            rate_bps: 612_000.0,
            rtt_ms: Some(43.2),
            loss: Some(0.006),
            window_bytes: Some(23_400),
            in_flight_bytes: 11_000,
            bytes: 1_000_000,
            down_s: 0.0,
            opportunistic_resends: None,
            head_of_line_penalties: None,
            estimates: BTreeMap::new(),
            allowance_bytes: None,
            link: None,
        }
    }
}

/// Counters of a wireless link since its first query.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkNow {
    /// Transmissions, including retransmissions.
    pub tx_frames: u64,
    /// Retransmissions.
    pub tx_retries: u64,
    /// Abandoned frames.
    pub tx_failed: u64,
    /// Frames received.
    pub rx_frames: u64,
    /// Frames received in error.
    pub rx_errors: u64,
    /// Signal strength.
    pub signal_dbm: Option<i8>,
    /// Transmit rate.
    pub rate_bps: Option<f64>,
}

/// Queries of the links' counters, by outcome.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LinkMonitorNow {
    /// Answers with counters.
    pub readings: u64,
    /// Answers without a station.
    pub alone: u64,
    /// Refusals.
    pub refused: u64,
    /// The reason of the last refusal.
    pub why: Option<String>,
}

impl LinkMonitorNow {
    /// `None` before the first query.
    pub(super) fn of(stats: &MonitorStats) -> Option<LinkMonitorNow> {
        let MonitorStats { readings, unassociated: alone, refused, last } = *stats;
        let asked = readings + alone + refused > 0;
        asked.then(|| LinkMonitorNow { readings, alone, refused, why: last.map(|why| why.to_string()) })
    }
}

/// What the scheme advised an encoder last, payload bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AdviceNow {
    /// What arrives in time.
    pub rate_bps: u64,
    /// What would still arrive in time without the path that carries most.
    pub safe_bps: u64,
}

impl From<Advice> for AdviceNow {
    fn from(Advice { rate_bps, safe_bps }: Advice) -> Self {
        AdviceNow { rate_bps, safe_bps }
    }
}

/// The media's counters on either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MediaNow {
    /// Messages submitted to the transport, or received.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Sender: messages abandoned because they had expired or would have arrived late; receiver: messages too late to
    /// be played.
    pub late: u64,
    /// Sender: messages of frames that the scheme gave up before any of them was sent.
    pub messages_dropped: u64,
    /// Receiver: messages that never arrived.
    pub lost: u64,
    /// Receiver: number of playout shifts.
    pub shifts: u64,
    /// Receiver: the current shift.
    pub shift_ms: f64,
    /// Receiver: jumps of the sender's clock.
    pub clock_jumps: u64,
    /// Media waiting to be sent or played.
    pub buffer_ms: Option<f64>,
    /// Bytes waiting to be sent or acknowledged.
    pub buffer_bytes: u64,
}

/// A stream at one moment. It serialises as a line of `--stats`.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// Since the start of the sender, or of the stream that is received.
    pub seconds: f64,
    /// The side.
    pub role: Role,
    /// The peer.
    pub peer: String,
    /// The scheme.
    pub scheme: String,
    /// The media.
    pub media: MediaNow,
    /// The transport's buffers.
    pub buffers: BuffersNow,
    /// What the media take on the wire.
    pub wire: WireNow,
    /// What the scheme advised an encoder last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<AdviceNow>,
    /// Every path.
    pub paths: Vec<PathNow>,
    /// The scheme's diagnostics of its own state.
    pub diagnostics: Vec<&'static str>,
    /// The scheme's own counters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<&'static str, u64>,
    /// Messages that went no further, if there are any.
    #[serde(skip_serializing_if = "GivenUpNow::is_nothing")]
    pub given_up: GivenUpNow,
    /// Present where either side codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<CodingNow>,
    /// Present where there are wireless links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_monitor: Option<LinkMonitorNow>,
}

/// Messages of a sender that went no further, by cause; causes that took none are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GivenUpNow {
    /// Of these nothing was sent.
    pub unsent: BTreeMap<&'static str, u64>,
    /// Of these some was sent.
    pub abandoned: BTreeMap<&'static str, u64>,
}

impl GivenUpNow {
    /// From the counters of an association.
    pub fn of(stats: &AssociationStats) -> Self {
        let named = |counts: &DropCounts| {
            counts.iter().filter(|(_, n)| *n > 0).map(|(cause, n)| (cause.name(), n)).collect()
        };
        GivenUpNow { unsent: named(&stats.unsent), abandoned: named(&stats.abandoned) }
    }

    /// Whether there are none.
    pub fn is_nothing(&self) -> bool {
        *self == GivenUpNow::default()
    }
}

/// The counters of a path.
#[derive(Debug)]
pub struct PathCounters<'a> {
    /// Its display name.
    pub name: String,
    /// State, round trips, window.
    pub view: &'a PathView,
    /// Its counters.
    pub stats: &'a PathStats,
    /// Those of its link.
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

/// Turns the transport's counters into rates by remembering the last sample.
#[derive(Debug)]
pub struct Sampler {
    role: Role,
    last: BTreeMap<u8, u64>,
    at: Option<Instant>,
}

impl Sampler {
    /// A sampler without samples.
    pub fn new(role: Role) -> Self {
        Sampler { role, last: BTreeMap::new(), at: None }
    }

    /// Samples these paths.
    pub fn sample<'a>(
        &mut self,
        now: Instant,
        paths: impl Iterator<Item = PathCounters<'a>>,
    ) -> Vec<PathNow> {
        let since = self.at.replace(now).map(|at| now - at);
        let mut rows = Vec::new();
        for path in paths {
            let bytes = payload(self.role, path.stats);
            // A slot reused for a new path counts from zero.
            let before = self.last.insert(path.view.id.0, bytes).unwrap_or(0);
            let rate_bps = rate(bytes.saturating_sub(before), since);
            rows.push(path_now(self.role, now, path, rate_bps));
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

fn rate(bytes: u64, since: Option<Duration>) -> f64 {
    match since {
        Some(since) if !since.is_zero() => bytes as f64 * 8.0 / since.as_secs_f64(),
        _ => 0.0,
    }
}

fn path_now(role: Role, now: Instant, path: PathCounters<'_>, rate_bps: f64) -> PathNow {
    let PathCounters { name, view, stats, link } = path;
    let sends = role != Role::Receive;
    PathNow {
        name,
        state: state_name(view.state),
        rate_bps,
        rtt_ms: view.srtt.map(|rtt| rtt.as_secs_f64() * 1e3),
        loss: sends.then(|| stats.loss()),
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
