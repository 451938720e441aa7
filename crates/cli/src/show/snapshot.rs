//! The state of a stream at one moment, from the transport's counters.

use super::buffers::BuffersNow;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use strandcast_net::driver::PathSnapshot;
use strandcast_net::monitor::{MonitorStats, Reading};
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{Estimate, PathState, PathView};
use strandcast_proto::time::Instant;
use strandcast_proto::units::Rate;

/// Which side of a stream this is: it tells which counters mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// It sends the media.
    Send,
    /// It receives them.
    Receive,
    /// It has both ends: counters of paths are the sender's, those of media the receiver's.
    Both,
}

/// A path at one moment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PathNow {
    /// Interface, address, or the emulated link's name.
    pub(crate) name: String,
    /// `active`, `potentially-failed`, `inactive`, `unconfirmed`, `suspended` or `closed`.
    pub(crate) state: &'static str,
    /// Payload since the sample before, copies and retransmissions included.
    pub(crate) rate_bps: f64,
    /// Smoothed round-trip time.
    pub(crate) rtt_ms: Option<f64>,
    /// Share of the chunks sent since the beginning that were declared lost; a receiver does not know.
    pub(crate) loss: Option<f64>,
    /// Congestion window; a receiver has none to speak of.
    pub(crate) window_bytes: Option<u64>,
    /// Bytes in flight.
    pub(crate) in_flight_bytes: u64,
    /// Payload since the beginning.
    pub(crate) bytes: u64,
    /// Time spent unusable.
    pub(crate) down_s: f64,
    /// Chunks sent here, too, because they held up a buffer on a slower path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) opportunistic_resends: Option<u64>,
    /// Times its window was cut since what it carried held up a buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) head_of_line_penalties: Option<u64>,
    /// What the scheme's estimators know of it, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) estimates: BTreeMap<&'static str, f64>,
    /// What its link has counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<LinkNow>,
}

/// Counters of a wireless link, since the command first looked at it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LinkNow {
    /// Transmissions, those that repeat others included.
    pub(crate) tx_frames: u64,
    /// Transmissions that had to be repeated.
    pub(crate) tx_retries: u64,
    /// Frames given up.
    pub(crate) tx_failed: u64,
    /// Frames received.
    pub(crate) rx_frames: u64,
    /// Frames received in error.
    pub(crate) rx_errors: u64,
    /// Strength of the signal.
    pub(crate) signal_dbm: Option<i8>,
    /// The rate of sending.
    pub(crate) rate_bps: Option<f64>,
}

/// How often links were asked for their counters, and what came of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LinkMonitorNow {
    /// Answers with counters.
    pub(crate) readings: u64,
    /// Answers of interfaces without a peer.
    pub(crate) alone: u64,
    /// Refusals.
    pub(crate) refused: u64,
    /// Why the last one was refused.
    pub(crate) why: Option<String>,
}

impl LinkMonitorNow {
    /// `None` while nobody was asked.
    pub(super) fn of(stats: &MonitorStats) -> Option<LinkMonitorNow> {
        let MonitorStats { readings, unassociated: alone, refused, last } = *stats;
        let asked = readings + alone + refused > 0;
        asked.then(|| LinkMonitorNow { readings, alone, refused, why: last.map(|why| why.to_string()) })
    }
}

/// The media's counters on either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct MediaNow {
    /// Messages handed to the transport, or received.
    pub(crate) messages: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Sender: messages given up because their time was over, or would have been when they arrived; receiver: messages too late to be played.
    pub(crate) late: u64,
    /// Receiver: messages that never came.
    pub(crate) lost: u64,
    /// Receiver: how often playing was moved to later than the latency asks for.
    pub(crate) shifts: u64,
    /// Receiver: how much later it is now.
    pub(crate) shift_ms: f64,
    /// Receiver: how often the sender's clock jumped.
    pub(crate) clock_jumps: u64,
    /// Media waiting: to be sent, or to be played.
    pub(crate) buffer_ms: Option<f64>,
    /// Bytes waiting to be sent or acknowledged.
    pub(crate) buffer_bytes: u64,
}

/// A stream at one moment; a line of `--stats`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Snapshot {
    /// Since the command began.
    pub(crate) seconds: f64,
    /// Sender or receiver.
    pub(crate) role: Role,
    /// The other side.
    pub(crate) peer: String,
    /// The scheme.
    pub(crate) scheme: String,
    /// The media.
    pub(crate) media: MediaNow,
    /// The transport's buffers.
    pub(crate) buffers: BuffersNow,
    /// Every path.
    pub(crate) paths: Vec<PathNow>,
    /// What the scheme has to say of the state it is in.
    pub(crate) remarks: Vec<&'static str>,
    /// The scheme's own counters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) counters: BTreeMap<&'static str, u64>,
    /// Present where there are wireless links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link_monitor: Option<LinkMonitorNow>,
}

/// What there is to see of a path.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) name: String,
    pub(crate) view: &'a PathView,
    pub(crate) stats: &'a PathStats,
    pub(crate) link: Option<&'a Reading>,
}

impl<'a> From<&'a PathSnapshot> for Seen<'a> {
    fn from(path: &'a PathSnapshot) -> Self {
        Seen { name: path.name.clone(), view: &path.view, stats: &path.stats, link: path.link.as_ref() }
    }
}

/// Turns the transport's counters into rates: remembers the last look.
#[derive(Debug)]
pub(crate) struct Sampler {
    role: Role,
    last: BTreeMap<u8, u64>,
    at: Option<Instant>,
}

impl Sampler {
    /// A sampler that has seen nothing.
    pub(crate) fn new(role: Role) -> Self {
        Sampler { role, last: BTreeMap::new(), at: None }
    }

    /// Looks at these paths.
    pub(crate) fn look<'a>(&mut self, now: Instant, paths: impl Iterator<Item = Seen<'a>>) -> Vec<PathNow> {
        let since = self.at.replace(now).map(|at| now - at);
        let mut rows = Vec::new();
        for path in paths {
            let bytes = payload(self.role, path.stats);
            // A slot that was given to a new path counts from zero.
            let before = self.last.insert(path.view.id.0, bytes).unwrap_or(0);
            let rate_bps = rate(bytes.saturating_sub(before), since);
            rows.push(path_now(self.role, now, path, rate_bps));
        }
        rows
    }
}

fn payload(role: Role, stats: &PathStats) -> u64 {
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

fn path_now(role: Role, now: Instant, path: Seen<'_>, rate_bps: f64) -> PathNow {
    let Seen { name, view, stats, link } = path;
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
    let extra = of.extra.iter().copied();
    let all = known.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(extra);
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
