//! The demo's results and verdict.

use clap::ValueEnum;
use strandcast::live::report::trial::{PathReport, Sample, Summary, Verdicts};
use strandcast::live::{CodingNow, WireNow};
use strandcast::text::percent;
use strandcast_lab::scenario::SctpProfile;
use strandcast_media::playout::PlayoutStats;
use strandcast_net::driver::PathSnapshot;
use strandcast_netem::topology::PathNetwork;

use crate::args::{DemoArgs, NetworkName};

/// Maximum share of late and lost messages.
const LATE_OR_LOST: f64 = 0.01;
/// Minimum share of the bytes that each path of `field` must carry.
const SHARE: f64 = 0.05;

/// All observations.
pub(super) struct Observations<'a> {
    pub(super) args: &'a DemoArgs,
    /// Seconds from the first message to the end of playout.
    pub(super) seconds: f64,
    pub(super) media_seconds: f64,
    /// Time at which the paths were sampled.
    pub(super) at: strandcast_proto::time::Instant,
    pub(super) hole: (f64, f64),
    pub(super) best: usize,
    /// Messages and bytes.
    pub(super) sent: (u64, u64),
    /// Number of delivered bytes that differ from the sent bytes.
    pub(super) damaged: u64,
    pub(super) stats: PlayoutStats,
    pub(super) networks: &'a [PathNetwork],
    pub(super) paths: &'a [PathSnapshot],
    /// Verdicts, in the order of the networks.
    pub(super) verdicts: &'a [Verdicts],
    pub(super) samples: &'a [Sample],
    pub(super) wire: WireNow,
    /// Counters of symbols, if any symbols were sent.
    pub(super) coding: Option<CodingNow>,
}

/// Returns the summary, including missed targets.
pub(super) fn summarize(seen: &Observations<'_>) -> Summary {
    let (sent, stats) = (seen.sent.0, &seen.stats);
    // Sent messages that the receiver's playout has never seen count as lost.
    let lost = sent.saturating_sub(stats.played + stats.late);
    let mut summary = Summary::default();
    summary.network =
        seen.args.network.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned());
    summary.scheme.clone_from(&seen.args.scheme);
    summary.profile = SctpProfile::Live.name();
    (summary.latency_ms, summary.seed) = (seen.args.latency, seen.args.seed);
    summary.duration_s = seen.seconds;
    (summary.messages_sent, summary.bytes_sent) = seen.sent;
    (summary.messages_delivered, summary.bytes_delivered) = (stats.played, stats.played_bytes);
    (summary.messages_late, summary.messages_lost) = (stats.late, lost);
    summary.late_or_lost = (stats.late + lost) as f64 / sent.max(1) as f64;
    summary.bytes_identical = seen.damaged == 0;
    (summary.underflows, summary.continuity) = (stats.underflows, stats.continuity());
    (summary.shifts, summary.clock_jumps) = (stats.shifts, stats.clock_jumps);
    summary.shift_ms = stats.shift.as_secs_f64() * 1e3;
    summary.largest_shift_ms = stats.largest_shift.as_secs_f64() * 1e3;
    summary.media_bps = seen.sent.1 as f64 * 8.0 / seen.media_seconds;
    summary.black_hole_path.clone_from(&seen.networks[seen.best].name);
    summary.black_hole_s = seen.hole;
    summary.paths = (0..seen.networks.len()).map(|i| path_report(seen, i)).collect();
    (summary.wire, summary.coding) = (seen.wire, seen.coding.clone());
    summary.failures = failures(&summary, seen.args.network);
    summary
}

fn failures(summary: &Summary, network: NetworkName) -> Vec<String> {
    let mut failures = Vec::new();
    if summary.late_or_lost > LATE_OR_LOST {
        let share = percent(summary.late_or_lost);
        failures
            .push(format!("{share} of the messages were late or lost, more than {}", percent(LATE_OR_LOST)));
    }
    if !summary.bytes_identical {
        failures.push("delivered bytes differ from those sent".into());
    }
    let idle = summary.paths.iter().filter(|p| network == NetworkName::Field && p.share < SHARE);
    for path in idle {
        let (name, share) = (&path.name, percent(path.share));
        failures.push(format!("{name} carried {share} of the bytes, less than {}", percent(SHARE)));
    }
    failures
}

fn path_report(seen: &Observations<'_>, index: usize) -> PathReport {
    let network = &seen.networks[index];
    let path = seen.paths.iter().find(|p| p.name == network.name);
    let stats = path.map(|p| p.stats.clone()).unwrap_or_default();
    let all: u64 = seen.paths.iter().map(|p| p.stats.payload_sent).sum();
    let rtts: Vec<f64> = seen.samples.iter().filter_map(|s| s.paths.get(index)?.rtt_ms).collect();
    let mut report = PathReport::default();
    report.name.clone_from(&network.name);
    report.bytes = stats.payload_sent;
    report.share = stats.payload_sent as f64 / all.max(1) as f64;
    report.goodput_bps = stats.payload_acked as f64 * 8.0 / seen.media_seconds;
    report.loss = stats.loss();
    report.rtt_ms = (!rtts.is_empty()).then(|| rtts.iter().sum::<f64>() / rtts.len() as f64);
    report.down_s = stats.down_time(seen.at).as_secs_f64();
    report.retransmissions = stats.retransmissions;
    report.verdicts = seen.verdicts[index];
    report.link_bps = network.forward.rate.mean_bps().unwrap_or(0.0);
    report.link_delay_ms = network.forward.delay.mean() * 1e3;
    report.link_loss = network.forward.mean_loss();
    report
}
