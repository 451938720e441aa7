//! The plots of a trial.

use super::data::{CodingSample, Recording, Sample, Summary};
use crate::live::report::chart::{Chart, Series};

/// Time over which rates are averaged.
const WINDOW_S: f64 = 1.0;
/// Width of a bin of send times, for which message delays are shown.
const BIN_S: f64 = 0.25;
/// Maximum number of bins. In a longer recording, the bins are wider.
const MAX_BINS: f64 = 10_000.0;

/// Returns all plots in reading order.
pub(super) fn plots(summary: &Summary, recording: &Recording) -> Vec<Chart> {
    let end_s = recording.samples.last().map_or(1.0, |s| s.at_s);
    let (from, to) = summary.black_hole_s;
    let blank = Chart {
        title: String::new(),
        caption: String::new(),
        unit: "",
        series: Vec::new(),
        stacked: false,
        band: Some((from, to, black_hole_label(summary))),
        level: None,
        end_s,
    };
    let mut plots = transport(summary, recording, &blank).to_vec();
    plots.extend(playout(summary, recording, &blank));
    plots.extend(coding(summary, recording, &blank));
    plots
}

fn transport(summary: &Summary, recording: &Recording, blank: &Chart) -> [Chart; 3] {
    let rate = Chart {
        title: "Rate of each path".into(),
        caption: "Payload sent, stacked, mean over one second: the paths share the stream, and the others take over \
                  where one fails."
            .into(),
        unit: "Mbit/s",
        series: rates(recording),
        stacked: true,
        level: Some((summary.media_bps / 1e6, "the video's mean rate".into())),
        ..blank.clone()
    };
    let rtt = Chart {
        title: "Round-trip time".into(),
        caption: "Smoothed, as the sender measures it: propagation and the queue that the path's own packets build."
            .into(),
        unit: "ms",
        series: of_paths(recording, |s, i| s.paths.get(i).and_then(|p| p.rtt_ms)),
        ..blank.clone()
    };
    let window = Chart {
        title: "Congestion window".into(),
        caption:
            "Data that each path may have in flight. It opens with acknowledgements and closes with losses."
                .into(),
        unit: "kB",
        series: of_paths(recording, |s, i| s.paths.get(i).map(|p| p.window_bytes as f64 / 1e3)),
        ..blank.clone()
    };
    [rate, rtt, window]
}

fn playout(summary: &Summary, recording: &Recording, blank: &Chart) -> [Chart; 2] {
    let latency = f64::from(summary.latency_ms);
    let delay = Chart {
        title: "Message delay".into(),
        caption: "The slowest message of every quarter second, from sender to receiver; above the \
                  line it arrives too late to be played."
            .into(),
        unit: "ms",
        series: vec![series("slowest message", "c0", slowest(recording))],
        level: Some((latency, format!("playout after {latency:.0} ms"))),
        ..blank.clone()
    };
    let points = recording.samples.iter().map(|s| (s.at_s, s.buffer_ms)).collect();
    let buffer = Chart {
        title: "Playout buffer".into(),
        caption: "Media waiting at the receiver for playout. At zero the picture would freeze.".into(),
        unit: "ms",
        series: vec![series("buffer", "c1", points)],
        ..blank.clone()
    };
    [delay, buffer]
}

/// Returns plots of the benefit and cost of repair symbols. Without repair symbols there are no such plots.
fn coding(summary: &Summary, recording: &Recording, blank: &Chart) -> Vec<Chart> {
    let Some(coding) = &summary.coding else { return Vec::new() };
    let points = |value: &dyn Fn(&CodingSample) -> Option<f64>| {
        let of = |sample: &Sample| (sample.at_s, sample.coding.as_ref().and_then(value));
        recording.samples.iter().map(of).collect::<Vec<_>>()
    };
    let messages = Chart {
        title: "Recovered, late and lost".into(),
        caption: "Messages since the start: computed from repair symbols before they arrived themselves, not in time to \
                  be played, and never arrived."
            .into(),
        unit: "messages",
        series: vec![
            series("recovered", "p0", points(&|now| Some(now.recovered as f64))),
            series("late", "p1", points(&|now| Some(now.late as f64))),
            series("lost", "p2", points(&|now| Some(now.lost as f64))),
        ],
        ..blank.clone()
    };
    let share = Chart {
        title: "Redundancy".into(),
        caption: "Bytes of repair symbols by bytes of source symbols sent since the start.".into(),
        unit: "%",
        series: vec![series("redundancy", "c0", points(&|now| Some(now.redundancy? * 100.0)))],
        level: coding.allowed.map(|cap| (cap * 100.0, "allowed".into())),
        ..blank.clone()
    };
    match coding.redundancy {
        Some(_) => vec![messages, share],
        None => vec![messages],
    }
}

fn series(name: &str, class: &str, points: Vec<(f64, Option<f64>)>) -> Series {
    Series { name: name.to_owned(), class: class.to_owned(), points }
}

fn of_paths(recording: &Recording, value: impl Fn(&Sample, usize) -> Option<f64>) -> Vec<Series> {
    let one = |(i, name): (usize, &String)| {
        let points = recording.samples.iter().map(|s| (s.at_s, value(s, i))).collect();
        series(name, &format!("p{i}"), points)
    };
    recording.names.iter().enumerate().map(one).collect()
}

/// Returns rates in Mbit/s, each averaged over the second before its sample.
fn rates(recording: &Recording) -> Vec<Series> {
    let samples = &recording.samples;
    let bytes = |s: &Sample, i: usize| s.paths.get(i).map_or(0, |p| p.bytes);
    let one = |(i, name): (usize, &String)| {
        let points = samples.iter().enumerate().map(|(n, now)| {
            let before = samples[..n].iter().rev().find(|s| now.at_s - s.at_s >= WINDOW_S - 1e-3);
            let (since, sent) = before.map_or((0.0, 0), |s| (s.at_s, bytes(s, i)));
            let seconds = (now.at_s - since).max(WINDOW_S);
            (now.at_s, Some(bytes(now, i).saturating_sub(sent) as f64 * 8.0 / 1e6 / seconds))
        });
        series(name, &format!("p{i}"), points.collect())
    };
    recording.names.iter().enumerate().map(one).collect()
}

/// Returns the delay of the slowest message in each bin of send times, in milliseconds. Messages with values that are
/// not finite, and messages after the last sample, are left out.
fn slowest(recording: &Recording) -> Vec<(f64, Option<f64>)> {
    let end_s = recording.samples.last().map_or(0.0, |sample| sample.at_s);
    let bin_s = BIN_S.max(end_s / MAX_BINS);
    let shown = |delay: &&(f64, f64)| end_s.is_finite() && delay.0 <= end_s && delay.1.is_finite();
    let mut bins: Vec<(f64, Option<f64>)> = Vec::new();
    for (sent_s, took_s) in recording.delays.iter().filter(shown) {
        let bin = (sent_s.max(0.0) / bin_s) as usize;
        while bins.len() <= bin {
            bins.push(((bins.len() as f64 + 0.5) * bin_s, None));
        }
        let slot = &mut bins[bin].1;
        *slot = Some(slot.unwrap_or(0.0).max(took_s * 1e3));
    }
    bins
}

/// Returns the label of the shaded band.
fn black_hole_label(summary: &Summary) -> String {
    format!("{} in a black hole", summary.black_hole_path)
}
