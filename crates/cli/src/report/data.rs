//! The data of a report, and `summary.json`.

use serde::Serialize;

use crate::show::{CodingNow, WireNow};

/// `summary.json`; `docs/cli.md` lists the keys.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// The network's name.
    pub(crate) network: String,
    /// The scheme as given.
    pub(crate) scheme: String,
    /// The profile of the transport's constants: `live`, as in scenarios.
    pub(crate) profile: &'static str,
    /// Playout latency.
    pub(crate) latency_ms: u32,
    /// Seed of the links.
    pub(crate) seed: u64,
    /// Seconds from the first message sent to the end of playout.
    pub(crate) duration_s: f64,
    /// Messages handed to the transport.
    pub(crate) messages_sent: u64,
    /// Messages played out in time.
    pub(crate) messages_delivered: u64,
    /// Messages that arrived after their playout time.
    pub(crate) messages_late: u64,
    /// Messages that never arrived.
    pub(crate) messages_lost: u64,
    /// (late + lost) / sent.
    pub(crate) late_or_lost: f64,
    /// Bytes of media sent.
    pub(crate) bytes_sent: u64,
    /// Bytes of media played out.
    pub(crate) bytes_delivered: u64,
    /// True if every delivered byte is as sent.
    pub(crate) bytes_identical: bool,
    /// Times that playout ran dry.
    pub(crate) underflows: u64,
    /// Share of the playing time without gaps.
    pub(crate) continuity: f64,
    /// Shifts of playout beyond the latency.
    pub(crate) shifts: u64,
    /// The shift at the end.
    pub(crate) shift_ms: f64,
    /// The largest shift.
    pub(crate) largest_shift_ms: f64,
    /// Jumps of the sender's clock, as seen by the player.
    pub(crate) clock_jumps: u64,
    /// The clip's mean rate.
    pub(crate) media_bps: f64,
    /// The path of the black hole.
    pub(crate) black_hole_path: String,
    /// Start and end of the black hole since the start, seconds.
    pub(crate) black_hole_s: (f64, f64),
    /// Every path.
    pub(crate) paths: Vec<PathReport>,
    /// Bytes of the media on the wire, by the sender's counters; as in `--stats`.
    pub(crate) wire: WireNow,
    /// Symbols, if any were sent; as in `--stats`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coding: Option<CodingNow>,
    /// Missed targets; empty if the demo passed.
    pub(crate) failures: Vec<Failure>,
}

/// A path in the summary.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PathReport {
    /// The link's name.
    pub(crate) name: String,
    /// Payload sent, copies and retransmissions included.
    pub(crate) bytes: u64,
    /// Share of all bytes.
    pub(crate) share: f64,
    /// Acknowledged payload over the duration.
    pub(crate) goodput_bps: f64,
    /// Share of the chunks that were declared lost.
    pub(crate) loss: f64,
    /// Mean of the smoothed round-trip time.
    pub(crate) rtt_ms: Option<f64>,
    /// Time in which the sender considered it unusable.
    pub(crate) down_s: f64,
    /// Retransmitted chunks.
    pub(crate) retransmissions: u64,
    /// The sender's verdicts on the path.
    #[serde(flatten)]
    pub(crate) verdicts: Verdicts,
    /// The emulated link's rate.
    pub(crate) link_bps: f64,
    /// The emulated link's delay, one way.
    pub(crate) link_delay_ms: f64,
    /// The emulated link's mean loss.
    pub(crate) link_loss: f64,
}

/// Verdicts on a path, named as in simulation results. A verdict is needless if the link delivered one of the sender's
/// packets during the preceding RTO.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Verdicts {
    /// Number of times that the path became potentially failed.
    pub(crate) potentially_failed: u64,
    /// Times it became inactive.
    pub(crate) failed: u64,
    /// Needless verdicts of `potentially_failed`.
    pub(crate) needless_pf: u64,
    /// Needless verdicts of `failed`.
    pub(crate) needless_failed: u64,
}

impl Verdicts {
    /// Counts of suspicions and failures.
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

/// The demo over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// Names of the paths, in the order of [`Sample::paths`].
    pub(crate) names: Vec<String>,
    /// Taken at even intervals.
    pub(crate) samples: Vec<Sample>,
    /// Events: seconds since the start, and text.
    pub(crate) events: Vec<(f64, String)>,
    /// Messages: send time in seconds since the start, and delay.
    pub(crate) delays: Vec<(f64, f64)>,
}

/// All paths and the playout buffer at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Seconds since the start.
    pub(crate) at_s: f64,
    /// Samples of the paths, in the order of [`Recording::names`].
    pub(crate) paths: Vec<PathSample>,
    /// Media waiting at the receiver.
    pub(crate) buffer_ms: Option<f64>,
    /// Symbols and messages since the start, if any symbol was sent.
    pub(crate) coding: Option<CodingSample>,
}

/// Symbols and messages since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CodingSample {
    /// Messages computed from repair symbols.
    pub(crate) recovered: u64,
    /// Messages that arrived too late to be played.
    pub(crate) late: u64,
    /// Messages that never arrived.
    pub(crate) lost: u64,
    /// Bytes of repair symbols by bytes of source symbols sent.
    pub(crate) redundancy: Option<f64>,
}

impl CodingSample {
    /// Returns these symbols, with the messages late and lost.
    pub(crate) fn of(coding: &CodingNow, late: u64, lost: u64) -> CodingSample {
        CodingSample { recovered: coding.recovered, late, lost, redundancy: coding.redundancy }
    }
}

/// A path at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathSample {
    /// Payload sent since the start.
    pub(crate) bytes: u64,
    /// Smoothed round-trip time.
    pub(crate) rtt_ms: Option<f64>,
    /// Congestion window.
    pub(crate) window_bytes: u64,
}
