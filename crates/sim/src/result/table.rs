//! A summary for people.

use core::fmt::Write as _;

use super::stat::Stat;
use super::summary::{Stats, Summary};

/// A metric in a table: its name, its column's title, by what its numbers are multiplied, and their decimals.
type Column = (&'static str, &'static str, f64, usize);

const FLOWS: &[Column] = &[
    ("goodput_bps", "goodput kbit/s", 1e-3, 1),
    ("loss_ratio", "lost %", 100.0, 2),
    ("retransmitted_packets", "resent", 1.0, 1),
    ("delay_mean_ms", "delay ms", 1.0, 1),
    ("message_delay_p95_ms", "message p95 ms", 1.0, 1),
    ("rwnd_blocked_s", "blocked s", 1.0, 2),
    ("psnr_eq17_db", "PSNR dB", 1.0, 2),
    ("underflows", "underflows", 1.0, 1),
    ("frames_decodable", "decodable", 1.0, 1),
    ("jain", "Jain", 1.0, 3),
];
const PATHS: &[Column] = &[
    ("share", "share %", 100.0, 1),
    ("goodput_bps", "goodput kbit/s", 1e-3, 1),
    ("loss_ratio", "lost %", 100.0, 2),
    ("retransmitted_packets", "resent", 1.0, 1),
    ("delay_mean_ms", "delay ms", 1.0, 1),
];
const LINKS: &[Column] = &[
    ("utilisation", "used %", 100.0, 1),
    ("queue_mean_packets", "queue packets", 1.0, 1),
    ("lost_queue_packets", "queue drops", 1.0, 1),
    ("lost_random_packets", "random losses", 1.0, 1),
    ("lost_down_packets", "down", 1.0, 1),
];
const CROSS: &[Column] = &[("offered_load", "offered %", 100.0, 1), ("carried_load", "carried %", 100.0, 1)];
const PAIRED: &[Column] = &[
    ("goodput_bps", "goodput kbit/s", 1e-3, 1),
    ("message_delay_p95_ms", "message p95 ms", 1.0, 1),
    ("psnr_eq17_db", "PSNR dB", 1.0, 2),
    ("frames_decodable", "decodable", 1.0, 1),
];

/// The main metrics as text: a row for each flow, path, link, cross traffic and pair of schemes; mean ± half the 95 %
/// interval. Of flows alike only what they do together, of links only directions that carried something.
pub fn table(summary: &Summary) -> String {
    let mut text = String::new();
    let runs = summary.runs.len();
    let _ = writeln!(
        text,
        "{}: {runs} run{}, seed {}, fingerprint {}",
        summary.scenario.title,
        if runs == 1 { "" } else { "s" },
        summary.seed,
        summary.fingerprint
    );
    let single =
        |name: &str| !name.rsplit_once('#').is_some_and(|(base, _)| summary.flows.contains_key(base));
    let mut rows = [const { Vec::new() }; 5];
    for (flow, schemes) in summary.flows.iter().filter(|(flow, _)| single(flow)) {
        for (scheme, stats) in schemes {
            rows[0].push((vec![flow.as_str(), scheme], &stats.metrics));
            if stats.paths.len() > 1 {
                rows[1].extend(stats.paths.iter().map(|(path, s)| (vec![flow.as_str(), scheme, path], s)));
            }
        }
    }
    for (link, directions) in &summary.links {
        for (direction, schemes) in directions {
            let used = schemes.iter().filter(|(_, s)| s.get("offered_packets").is_none_or(|o| o.mean > 0.0));
            rows[2].extend(used.map(|(scheme, s)| (vec![link.as_str(), direction, scheme], s)));
        }
    }
    for (name, schemes) in &summary.cross {
        rows[3].extend(schemes.iter().map(|(scheme, s)| (vec![name.as_str(), scheme], s)));
    }
    for (pair, flows) in &summary.paired {
        let flows = flows.iter().filter(|(flow, _)| single(flow));
        rows[4].extend(flows.map(|(flow, s)| (vec![flow.as_str(), pair], s)));
    }
    let heads: [(&[&str], &[Column]); 5] = [
        (&["flow", "scheme"], FLOWS),
        (&["flow", "scheme", "path"], PATHS),
        (&["link", "direction", "scheme"], LINKS),
        (&["cross", "scheme"], CROSS),
        (&["flow", "difference"], PAIRED),
    ];
    for ((titles, columns), rows) in heads.into_iter().zip(&rows).filter(|(_, rows)| !rows.is_empty()) {
        text.push('\n');
        block(&mut text, titles, columns, rows);
    }
    text
}

/// A table of rows with words in front and columns that any of them has.
fn block(text: &mut String, titles: &[&str], columns: &[Column], rows: &[(Vec<&str>, &Stats)]) {
    let columns: Vec<&Column> =
        columns.iter().filter(|column| rows.iter().any(|(_, stats)| stats.contains_key(column.0))).collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let head = titles.iter().copied().chain(columns.iter().map(|column| column.1));
    lines.push(head.map(str::to_owned).collect());
    for (words, stats) in rows {
        let numbers = columns.iter().map(|column| cell(stats.get(column.0), column));
        lines.push(words.iter().map(|&word| word.to_owned()).chain(numbers).collect());
    }
    let width = |i: usize| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    for line in &lines {
        let mut out = String::new();
        for (i, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Words to the left, numbers to the right.
            let _ = match i < titles.len() {
                true => write!(out, "{cell:<width$}  "),
                false => write!(out, "{cell:>width$}  "),
            };
        }
        text.push_str(out.trim_end());
        text.push('\n');
    }
}

fn cell(stat: Option<&Stat>, &(_, _, factor, decimals): &Column) -> String {
    let Some(stat) = stat else { return "-".into() };
    let mean = stat.mean * factor;
    match stat.ci95 {
        Some(half) => format!("{mean:.decimals$} ± {:.decimals$}", half * factor),
        None => format!("{mean:.decimals$}"),
    }
}
