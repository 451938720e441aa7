//! The data of a report and of `summary.json`.

use serde::Serialize;

use crate::show::{CodingNow, WireNow};

/// `summary.json`; `docs/cli.md` lists the keys.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// The network's name.
    pub(crate) network: String,
    /// The scheme in the form that the user gave.
    pub(crate) scheme: String,
    /// Profile of the transport's constants: `live`, with the same meaning as in scenarios.
    pub(crate) profile: &'static str,
    /// Playout latency.
    pub(crate) latency_ms: u32,
    /// Seed of the random loss of the links.
    pub(crate) seed: u64,
    /// Seconds from the first message sent to the end of playout.
    pub(crate) duration_s: f64,
    /// Number of messages that were passed to the transport.
    pub(crate) messages_sent: u64,
    /// Number of messages that were played out in time.
    pub(crate) messages_delivered: u64,
    /// Number of messages that arrived after their playout time.
    pub(crate) messages_late: u64,
    /// Number of messages that never arrived.
    pub(crate) messages_lost: u64,
    /// (late + lost) / sent.
    pub(crate) late_or_lost: f64,
    /// Bytes of media that were sent.
    pub(crate) bytes_sent: u64,
    /// Bytes of media that were played out.
    pub(crate) bytes_delivered: u64,
    /// True if every delivered byte equals the sent byte.
    pub(crate) bytes_identical: bool,
    /// Number of times that the playout buffer ran empty.
    pub(crate) underflows: u64,
    /// Share of the playing time without gaps.
    pub(crate) continuity: f64,
    /// Number of times that playout was delayed beyond the latency.
    pub(crate) shifts: u64,
    /// Delay of playout beyond the latency at the end, in milliseconds.
    pub(crate) shift_ms: f64,
    /// The largest shift.
    pub(crate) largest_shift_ms: f64,
    /// Number of jumps of the sender's clock that the player saw.
    pub(crate) clock_jumps: u64,
    /// Mean rate of the clip.
    pub(crate) media_bps: f64,
    /// Name of the path that enters the black hole.
    pub(crate) black_hole_path: String,
    /// Start and end of the black hole, in seconds since the start of the demo.
    pub(crate) black_hole_s: (f64, f64),
    /// Every path.
    pub(crate) paths: Vec<PathReport>,
    /// Bytes on the wire for the media, counted by the sender. The keys are the same as in `--stats`.
    pub(crate) wire: WireNow,
    /// Symbols, if any were sent. The keys are the same as in `--stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coding: Option<CodingNow>,
    /// Missed targets. The list is empty if the demo passed.
    pub(crate) failures: Vec<Failure>,
}

/// A path in the summary.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PathReport {
    /// The link's name.
    pub(crate) name: String,
    /// Bytes of payload sent, including copies and retransmissions.
    pub(crate) bytes: u64,
    /// Share of the bytes of all paths.
    pub(crate) share: f64,
    /// Acknowledged payload divided by the duration.
    pub(crate) goodput_bps: f64,
    /// Share of the chunks that were declared lost.
    pub(crate) loss: f64,
    /// Mean of the smoothed round-trip time.
    pub(crate) rtt_ms: Option<f64>,
    /// Time during which the sender considered the path unusable, in seconds.
    pub(crate) down_s: f64,
    /// Retransmitted chunks.
    pub(crate) retransmissions: u64,
    /// Verdicts of the sender on the path.
    #[serde(flatten)]
    pub(crate) verdicts: Verdicts,
    /// Rate of the emulated link.
    pub(crate) link_bps: f64,
    /// One-way delay of the emulated link.
    pub(crate) link_delay_ms: f64,
    /// Mean loss of the emulated link.
    pub(crate) link_loss: f64,
}

/// Verdicts on a path, named as in simulation results. A verdict is needless if the link delivered one of the sender's
/// packets during the preceding RTO.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Verdicts {
    /// Number of times that the path became potentially failed.
    pub(crate) potentially_failed: u64,
    /// Number of times that the path became inactive.
    pub(crate) failed: u64,
    /// Number of needless verdicts `potentially_failed`.
    pub(crate) needless_pf: u64,
    /// Number of needless verdicts `failed`.
    pub(crate) needless_failed: u64,
}

impl Verdicts {
    /// Returns the numbers of suspicions and failures as text.
    pub(crate) fn brief(&self) -> String {
        let times = |all: u64, needless: u64| match needless {
            0 => all.to_string(),
            _ => format!("{all} ({needless} needlessly)"),
        };
        let suspected = times(self.potentially_failed, self.needless_pf);
        format!("{suspected}, {}", times(self.failed, self.needless_failed))
    }
}

/// A missed target.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure(pub(crate) String);

/// The course of the demo over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// Names of the paths, in the order of [`Sample::paths`].
    pub(crate) names: Vec<String>,
    /// Samples at even intervals.
    pub(crate) samples: Vec<Sample>,
    /// Time of each event in seconds since the start, and its text.
    pub(crate) events: Vec<(f64, String)>,
    /// For each message, its send time in seconds since the start, and its delay.
    pub(crate) delays: Vec<(f64, f64)>,
}

/// State of all paths and of the playout buffer at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Seconds since the start.
    pub(crate) at_s: f64,
    /// Samples of the paths, in the order of [`Recording::names`].
    pub(crate) paths: Vec<PathSample>,
    /// Duration of the media that wait at the receiver.
    pub(crate) buffer_ms: Option<f64>,
    /// Numbers of symbols and messages since the start, if any symbol was sent.
    pub(crate) coding: Option<CodingSample>,
}

/// Numbers of symbols and messages since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CodingSample {
    /// Number of messages that were computed from repair symbols.
    pub(crate) recovered: u64,
    /// Number of messages that arrived too late to be played.
    pub(crate) late: u64,
    /// Number of messages that never arrived.
    pub(crate) lost: u64,
    /// Bytes of repair symbols, divided by the bytes of source symbols that were sent.
    pub(crate) redundancy: Option<f64>,
}

impl CodingSample {
    /// Makes a sample from these counters of symbols, and from the numbers of late and lost messages.
    pub(crate) fn of(coding: &CodingNow, late: u64, lost: u64) -> CodingSample {
        CodingSample { recovered: coding.recovered, late, lost, redundancy: coding.redundancy }
    }
}

/// State of a path at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathSample {
    /// Bytes of payload sent since the start.
    pub(crate) bytes: u64,
    /// Smoothed round-trip time.
    pub(crate) rtt_ms: Option<f64>,
    /// Congestion window.
    pub(crate) window_bytes: u64,
}
