//! The state of a stream at one moment, from the transport's counters.

use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{PathState, PathView};
use strandcast_proto::time::Instant;

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
}

/// The media's counters on either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct MediaNow {
    /// Messages handed to the transport, or received.
    pub(crate) messages: u64,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// Sender: messages given up because their time was over; receiver: messages too late to be played.
    pub(crate) late: u64,
    /// Receiver: messages that never came.
    pub(crate) lost: u64,
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
    /// Every path.
    pub(crate) paths: Vec<PathNow>,
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

    /// Looks at these paths: name, view, counters.
    pub(crate) fn look<'a>(
        &mut self,
        now: Instant,
        paths: impl Iterator<Item = (String, &'a PathView, &'a PathStats)>,
    ) -> Vec<PathNow> {
        let since = self.at.replace(now).map(|at| now - at);
        let mut rows = Vec::new();
        for (name, view, stats) in paths {
            let bytes = payload(self.role, stats);
            // A slot that was given to a new path counts from zero.
            let before = self.last.insert(view.id.0, bytes).unwrap_or(0);
            let rate_bps = rate(bytes.saturating_sub(before), since);
            rows.push(path_now(self.role, now, view, stats, name, rate_bps));
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

fn path_now(
    role: Role,
    now: Instant,
    view: &PathView,
    stats: &PathStats,
    name: String,
    rate_bps: f64,
) -> PathNow {
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
