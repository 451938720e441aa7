//! The demo's results and verdict.

use std::time::Duration;

use clap::ValueEnum;
use strandcast_lab::scenario::SctpProfile;
use strandcast_media::playout::PlayoutStats;
use strandcast_net::driver::PathSnapshot;
use strandcast_netem::topology::PathNetwork;

use crate::args::{DemoArgs, NetworkName};
use crate::report::{Failure, PathReport, Sample, Summary, Verdicts};
use crate::show::{CodingNow, WireNow, bits_per_s, bytes, count, ms, percent, shifts};

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
    let reports: Vec<PathReport> = (0..seen.networks.len()).map(|i| path_report(seen, i)).collect();
    let mut summary = Summary {
        network: seen.args.network.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned()),
        scheme: seen.args.scheme.clone(),
        profile: SctpProfile::Live.name(),
        latency_ms: seen.args.latency,
        seed: seen.args.seed,
        duration_s: seen.seconds,
        messages_sent: sent,
        messages_delivered: stats.played,
        messages_late: stats.late,
        messages_lost: lost,
        late_or_lost: (stats.late + lost) as f64 / sent.max(1) as f64,
        bytes_sent: seen.sent.1,
        bytes_delivered: stats.played_bytes,
        bytes_identical: seen.damaged == 0,
        underflows: stats.underflows,
        continuity: stats.continuity(),
        shifts: stats.shifts,
        shift_ms: stats.shift.as_secs_f64() * 1e3,
        largest_shift_ms: stats.largest_shift.as_secs_f64() * 1e3,
        clock_jumps: stats.clock_jumps,
        media_bps: seen.sent.1 as f64 * 8.0 / seen.media_seconds,
        black_hole_path: seen.networks[seen.best].name.clone(),
        black_hole_s: seen.hole,
        paths: reports,
        wire: seen.wire,
        coding: seen.coding.clone(),
        failures: Vec::new(),
    };
    summary.failures = failures(&summary, seen.args.network);
    summary
}

fn failures(summary: &Summary, network: NetworkName) -> Vec<Failure> {
    let mut failures = Vec::new();
    if summary.late_or_lost > LATE_OR_LOST {
        let share = percent(summary.late_or_lost);
        failures.push(Failure(format!(
            "{share} of the messages were late or lost, more than {}",
            percent(LATE_OR_LOST)
        )));
    }
    if !summary.bytes_identical {
        failures.push(Failure("delivered bytes differ from those sent".into()));
    }
    let idle = summary.paths.iter().filter(|p| network == NetworkName::Field && p.share < SHARE);
    for path in idle {
        let (name, share) = (&path.name, percent(path.share));
        failures.push(Failure(format!("{name} carried {share} of the bytes, less than {}", percent(SHARE))));
    }
    failures
}

fn path_report(seen: &Observations<'_>, index: usize) -> PathReport {
    let network = &seen.networks[index];
    let path = seen.paths.iter().find(|p| p.name == network.name);
    let stats = path.map(|p| p.stats.clone()).unwrap_or_default();
    let all: u64 = seen.paths.iter().map(|p| p.stats.payload_sent).sum();
    let rtts: Vec<f64> = seen.samples.iter().filter_map(|s| s.paths.get(index)?.rtt_ms).collect();
    PathReport {
        name: network.name.clone(),
        bytes: stats.payload_sent,
        share: stats.payload_sent as f64 / all.max(1) as f64,
        goodput_bps: stats.payload_acked as f64 * 8.0 / seen.media_seconds,
        loss: stats.loss(),
        rtt_ms: (!rtts.is_empty()).then(|| rtts.iter().sum::<f64>() / rtts.len() as f64),
        down_s: stats.down_time(seen.at).as_secs_f64(),
        retransmissions: stats.retransmissions,
        verdicts: seen.verdicts[index],
        link_bps: network.forward.rate.mean_bps().unwrap_or(0.0),
        link_delay_ms: network.forward.delay.mean() * 1e3,
        link_loss: network.forward.mean_loss(),
    }
}

impl Summary {
    /// Text lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let same = if self.bytes_identical { "every byte as it was sent" } else { "with wrong bytes" };
        let mut lines = vec![
            format!(
                "delivered {} of {} in time ({}), {same}; {} late, {} lost",
                self.messages_delivered,
                count(self.messages_sent, "message"),
                bytes(self.bytes_delivered),
                self.messages_late,
                self.messages_lost,
            ),
            format!(
                "playout: {} of the time without gaps, {}",
                percent(self.continuity),
                count(self.underflows, "underflow")
            ),
        ];
        lines.extend(self.wire.line());
        lines.extend(self.coding.as_ref().map(CodingNow::line));
        lines.extend(shifts(self.shifts, self.largest_shift_ms, self.shift_ms));
        for path in &self.paths {
            let rtt = path.rtt_ms.map_or("-".to_owned(), |rtt| ms(Duration::from_secs_f64(rtt / 1e3)));
            lines.push(format!(
                "  {:<10} {:>8} ({}), goodput {}, {} declared lost, RTT {rtt}, down {:.1} s; suspected, failed: {}",
                path.name,
                bytes(path.bytes),
                percent(path.share),
                bits_per_s(path.goodput_bps),
                percent(path.loss),
                path.down_s,
                path.verdicts.brief(),
            ));
        }
        lines
    }
}
