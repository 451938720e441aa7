//! The data of the report of a trial.

use std::time::Duration;

use serde::Serialize;

use crate::live::{CodingNow, WireNow};
use crate::text::ms;

/// Results of a trial. As JSON, they are the file `summary.json` of the command's demo.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Name of the network.
    pub network: String,
    /// Scheme of the sender, in the form that the user gave.
    pub scheme: String,
    /// Profile of the transport's constants, with the same meaning as in scenarios.
    pub profile: &'static str,
    /// Playout latency in milliseconds.
    pub latency_ms: u32,
    /// Seed of the random loss of the links.
    pub seed: u64,
    /// Seconds from the first message sent to the end of playout.
    pub duration_s: f64,
    /// Number of messages that were passed to the transport.
    pub messages_sent: u64,
    /// Number of messages that were played out in time.
    pub messages_delivered: u64,
    /// Number of messages that arrived after their playout time.
    pub messages_late: u64,
    /// Number of messages that never arrived.
    pub messages_lost: u64,
    /// (late + lost) / sent.
    pub late_or_lost: f64,
    /// Bytes of media that were sent.
    pub bytes_sent: u64,
    /// Bytes of media that were played out.
    pub bytes_delivered: u64,
    /// True if every delivered byte equals the sent byte.
    pub bytes_identical: bool,
    /// Number of times that the playout buffer ran empty.
    pub underflows: u64,
    /// Share of the playing time without gaps.
    pub continuity: f64,
    /// Number of times that playout was delayed beyond the latency.
    pub shifts: u64,
    /// Delay of playout beyond the latency at the end, in milliseconds.
    pub shift_ms: f64,
    /// The largest shift, in milliseconds.
    pub largest_shift_ms: f64,
    /// Number of jumps of the sender's clock that the player saw.
    pub clock_jumps: u64,
    /// Mean rate of the media, in bits per second.
    pub media_bps: f64,
    /// Name of the path that enters the black hole.
    pub black_hole_path: String,
    /// Start and end of the black hole, in seconds since the start.
    pub black_hole_s: (f64, f64),
    /// All paths.
    pub paths: Vec<PathReport>,
    /// Bytes on the wire for the media, counted by the sender. The keys are the same as in `--stats`.
    pub wire: WireNow,
    /// Symbols, if any were sent. The keys are the same as in `--stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<CodingNow>,
    /// Missed targets, one line for each. The list is empty if every target was met.
    pub failures: Vec<String>,
}

/// A path in the summary.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct PathReport {
    /// Name of the link.
    pub name: String,
    /// Bytes of payload sent, including copies and retransmissions.
    pub bytes: u64,
    /// Share of the bytes of all paths.
    pub share: f64,
    /// Acknowledged payload divided by the duration of the media, in bits per second.
    pub goodput_bps: f64,
    /// Share of the chunks that were declared lost.
    pub loss: f64,
    /// Mean of the smoothed round-trip time, in milliseconds. `None` if the time was never measured.
    pub rtt_ms: Option<f64>,
    /// Time during which the sender considered the path unusable, in seconds.
    pub down_s: f64,
    /// Retransmitted chunks.
    pub retransmissions: u64,
    /// Verdicts of the sender on the path.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// Rate of the emulated link, in bits per second.
    pub link_bps: f64,
    /// One-way delay of the emulated link, in milliseconds.
    pub link_delay_ms: f64,
    /// Mean share of the packets that the emulated link loses.
    pub link_loss: f64,
}

impl PathReport {
    /// Returns the round-trip time as text. A time that was not measured, or that no clock can measure, is a hyphen.
    pub(super) fn rtt(&self) -> String {
        let time = self.rtt_ms.and_then(|rtt| Duration::try_from_secs_f64(rtt / 1e3).ok());
        time.map_or_else(|| "-".to_owned(), ms)
    }
}

/// Verdicts on a path, named as in simulation results. A verdict is needless if the link delivered one of the sender's
/// packets during the preceding RTO.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Verdicts {
    /// Number of times that the path became potentially failed.
    pub potentially_failed: u64,
    /// Number of times that the path became inactive.
    pub failed: u64,
    /// Number of needless verdicts `potentially_failed`.
    pub needless_pf: u64,
    /// Number of needless verdicts `failed`.
    pub needless_failed: u64,
}

impl Verdicts {
    /// Returns the numbers of suspicions and failures as text: `3 (2 needlessly), 0`.
    pub fn brief(&self) -> String {
        let times = |all: u64, needless: u64| match needless {
            0 => all.to_string(),
            _ => format!("{all} ({needless} needlessly)"),
        };
        let suspected = times(self.potentially_failed, self.needless_pf);
        format!("{suspected}, {}", times(self.failed, self.needless_failed))
    }
}

/// Course of a trial over time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Recording {
    /// Names of the paths, in the order of [`Sample::paths`].
    pub names: Vec<String>,
    /// Samples at even intervals.
    pub samples: Vec<Sample>,
    /// Time of each event in seconds since the start, and its text.
    pub events: Vec<(f64, String)>,
    /// For each message, its send time in seconds since the start, and its delay in seconds.
    pub delays: Vec<(f64, f64)>,
}

/// State of all paths and of the playout buffer at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Sample {
    /// Seconds since the start.
    pub at_s: f64,
    /// Samples of the paths, in the order of [`Recording::names`].
    pub paths: Vec<PathSample>,
    /// Duration of the media that wait at the receiver, in milliseconds.
    pub buffer_ms: Option<f64>,
    /// Numbers of symbols and messages since the start, if any symbol was sent.
    pub coding: Option<CodingSample>,
}

/// Numbers of symbols and messages since the start.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CodingSample {
    /// Number of messages that were computed from repair symbols.
    pub recovered: u64,
    /// Number of messages that arrived too late to be played.
    pub late: u64,
    /// Number of messages that never arrived.
    pub lost: u64,
    /// Bytes of repair symbols, divided by the bytes of source symbols that were sent.
    pub redundancy: Option<f64>,
}

impl CodingSample {
    /// Makes a sample from these counters of symbols, and from the numbers of late and lost messages.
    pub fn of(coding: &CodingNow, late: u64, lost: u64) -> CodingSample {
        CodingSample { recovered: coding.recovered, late, lost, redundancy: coding.redundancy }
    }
}

/// State of a path at one moment.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PathSample {
    /// Bytes of payload sent since the start.
    pub bytes: u64,
    /// Smoothed round-trip time in milliseconds. `None` if it was not measured yet.
    pub rtt_ms: Option<f64>,
    /// Congestion window in bytes.
    pub window_bytes: u64,
}
