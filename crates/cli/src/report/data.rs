//! What a report tells, and `summary.json`.

use serde::Serialize;

/// `summary.json`; `docs/cli.md` lists the keys.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Summary {
    /// The network's name.
    pub(crate) network: String,
    /// The scheme as given.
    pub(crate) scheme: String,
    /// Whose constants the transport has, by the name that scenarios know.
    pub(crate) profile: &'static str,
    /// Playout latency.
    pub(crate) latency_ms: u32,
    /// Seed of the links.
    pub(crate) seed: u64,
    /// From the first message sent to the end of playout.
    pub(crate) duration_s: f64,
    /// Messages handed to the transport.
    pub(crate) messages_sent: u64,
    /// Messages played out in time.
    pub(crate) messages_delivered: u64,
    /// Messages that came after their playout time.
    pub(crate) messages_late: u64,
    /// Messages that never came.
    pub(crate) messages_lost: u64,
    /// (late + lost) / sent.
    pub(crate) late_or_lost: f64,
    /// Bytes of media sent.
    pub(crate) bytes_sent: u64,
    /// Bytes of media played out.
    pub(crate) bytes_delivered: u64,
    /// Whether every delivered byte is the one that was sent.
    pub(crate) bytes_identical: bool,
    /// Times that playout ran dry.
    pub(crate) underflows: u64,
    /// Share of the playing time without a gap.
    pub(crate) continuity: f64,
    /// Times that playing was moved to later than the latency asks for.
    pub(crate) shifts: u64,
    /// How much later it was at the end.
    pub(crate) shift_ms: f64,
    /// The most that it was.
    pub(crate) largest_shift_ms: f64,
    /// Jumps of the sender's clock that the player saw.
    pub(crate) clock_jumps: u64,
    /// The clip's mean rate.
    pub(crate) media_bps: f64,
    /// The path that fell into the black hole.
    pub(crate) black_hole_path: String,
    /// When, since the start.
    pub(crate) black_hole_s: (f64, f64),
    /// Every path.
    pub(crate) paths: Vec<PathReport>,
    /// What misses its bar; empty if the demo did what it should.
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
    /// Time the sender held it for unusable.
    pub(crate) down_s: f64,
    /// Chunks sent again.
    pub(crate) retransmissions: u64,
    /// How often the sender doubted it or gave it up.
    #[serde(flatten)]
    pub(crate) verdicts: Verdicts,
    /// The emulated link's rate.
    pub(crate) link_bps: f64,
    /// The emulated link's delay, one way.
    pub(crate) link_delay_ms: f64,
    /// The emulated link's mean loss.
    pub(crate) link_loss: f64,
}

/// Verdicts on a path, by the names they have in results of simulations. Needless ones: the link delivered one of the
/// sender's packets during the preceding RTO.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Verdicts {
    /// Times it became potentially failed.
    pub(crate) potentially_failed: u64,
    /// Times it became inactive.
    pub(crate) failed: u64,
    /// Of the former, needless ones.
    pub(crate) needless_pf: u64,
    /// Of the latter, needless ones.
    pub(crate) needless_failed: u64,
}

impl Verdicts {
    /// How often it was doubted, and how often given up.
    pub(crate) fn brief(&self) -> String {
        let times = |all: u64, needless: u64| match needless {
            0 => all.to_string(),
            _ => format!("{all} ({needless} needlessly)"),
        };
        let doubted = times(self.potentially_failed, self.needless_pf);
        format!("{doubted}, {}", times(self.failed, self.needless_failed))
    }
}

/// A bar that was missed.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure(pub(crate) String);

/// The demo over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    /// Names of the paths, in the order of [`Sample::paths`].
    pub(crate) names: Vec<String>,
    /// Taken at even intervals.
    pub(crate) samples: Vec<Sample>,
    /// What happened: seconds since the start, and words.
    pub(crate) events: Vec<(f64, String)>,
    /// Messages: seconds since the start at which each was sent, and what it took to arrive.
    pub(crate) delays: Vec<(f64, f64)>,
}

/// All paths and the playout buffer at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Seconds since the start.
    pub(crate) at_s: f64,
    /// In the order of [`Recording::names`].
    pub(crate) paths: Vec<PathSample>,
    /// Media waiting at the receiver.
    pub(crate) buffer_ms: Option<f64>,
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
