//! A summary for people.

use core::fmt::Write as _;
use std::collections::BTreeSet;

use strandcast_keys::text::printable;

use super::names::is_rare;
use super::stat::{FEWEST, Interval, Stat};
use super::summary::{Stats, Summary};

/// A metric in a table. The metric has a name, the title of its column, the factor of its numbers, and the number of
/// decimals.
type Column = (&'static str, &'static str, f64, usize);

const FLOWS: &[Column] = &[
    ("missed_ratio", "missed %", 100.0, 2),
    ("decodable_ratio", "decodable %", 100.0, 2),
    ("freezes_per_min", "freezes/min", 1.0, 2),
    ("underflows", "underflows", 1.0, 1),
    ("goodput_bps", "goodput kbit/s", 1e-3, 1),
    ("loss_ratio", "lost %", 100.0, 2),
    ("retransmitted_packets", "resent", 1.0, 1),
    ("redundancy", "repair %", 100.0, 2),
    ("symbol_overhead", "symbols %", 100.0, 2),
    ("recovered", "recovered", 1.0, 1),
    ("delay_mean_ms", "delay ms", 1.0, 1),
    ("message_delay_p95_ms", "message p95 ms", 1.0, 1),
    ("rwnd_blocked_s", "blocked s", 1.0, 2),
    (PSNR, "PSNR dB", 1.0, 2),
    ("jain", "Jain", 1.0, 3),
    ("hops_mean", "hops", 1.0, 2),
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
const RADIOS: &[Column] = &[
    ("frames", "frames", 1.0, 0),
    ("frames_collided", "collided", 1.0, 0),
    ("frame_retries", "retries", 1.0, 0),
    ("link_failures", "failures", 1.0, 0),
    ("lost_queue_packets", "queue drops", 1.0, 0),
    ("routing_messages", "routing messages", 1.0, 0),
    ("airtime", "airtime %", 100.0, 1),
    ("idle_ratio", "idle %", 100.0, 1),
];
const SHARES: &[Column] = &[("served_share", "share %", 100.0, 1), ("served_bps", "served kbit/s", 1e-3, 1)];
const CROSS: &[Column] = &[("offered_load", "offered %", 100.0, 1), ("carried_load", "carried %", 100.0, 1)];
const PAIRED: &[Column] = &[
    ("missed_ratio", "missed %", 100.0, 2),
    ("decodable_ratio", "decodable %", 100.0, 2),
    ("goodput_bps", "goodput kbit/s", 1e-3, 1),
    ("message_delay_p95_ms", "message p95 ms", 1.0, 1),
    (PSNR, "PSNR dB", 1.0, 2),
];
/// A measure of a video that a paper defines. The measure is shown only for flows that have the constants of papers.
const PSNR: &str = "psnr_eq17_db";
const PAPERS: &str = "ns2";

/// Labels of a row, and the numbers after them.
type Row<'a> = (Vec<&'a str>, &'a Stats);

/// Main metrics as text. There is a row for each flow, path, link, share of a flow in a link, radio, cross traffic and
/// pair of schemes. The function `cell` describes how numbers of several runs are written, and so does a line below the
/// table. Equal flows appear only as their sum. Links appear only in directions that carried traffic. Shares appear
/// only for links that were at least half used and served several flows. Diagnostics of schemes are at the end.
pub fn table(summary: &Summary) -> String {
    let mut text = String::new();
    let runs = summary.runs.len();
    let _ = writeln!(
        text,
        "{}: {runs} run{}, seed {}, fingerprint {}",
        printable(&summary.scenario.title),
        if runs == 1 { "" } else { "s" },
        summary.seed,
        summary.fingerprint
    );
    if !summary.scenario.profiles.is_empty() {
        let profiles = &summary.scenario.profiles;
        let profiles: Vec<String> =
            profiles.iter().map(|(flow, profile)| format!("{} {profile}", printable(flow))).collect();
        let _ =
            writeln!(text, "profile{}: {}", if profiles.len() == 1 { "" } else { "s" }, profiles.join(", "));
    }
    let [flows, paths] = flows(summary);
    let [links, shares] = links(summary);
    let of_paper =
        |column: &&Column| column.0 != PSNR || summary.scenario.profiles.values().any(|p| p == PAPERS);
    let [of_flows, of_pairs] =
        [FLOWS, PAIRED].map(|all| all.iter().filter(of_paper).copied().collect::<Vec<_>>());
    block(&mut text, &["flow", "scheme", "limit"], &of_flows, &flows);
    block(&mut text, &["flow", "scheme", "path"], PATHS, &paths);
    block(&mut text, &["link", "direction", "scheme"], LINKS, &links);
    block(&mut text, &["link", "direction", "scheme", "flow"], SHARES, &shares);
    let radios = summary.radios.iter().flat_map(|(name, schemes)| {
        schemes.iter().map(move |(scheme, stats)| (vec![name.as_str(), scheme], stats))
    });
    block(&mut text, &["radio", "scheme"], RADIOS, &radios.collect::<Vec<_>>());
    let cross = summary.cross.iter().flat_map(|(name, schemes)| {
        schemes.iter().map(move |(scheme, stats)| (vec![name.as_str(), scheme], stats))
    });
    block(&mut text, &["cross", "scheme"], CROSS, &cross.collect::<Vec<_>>());
    let paired = summary.paired.iter().flat_map(|(pair, flows)| {
        let flows = flows.iter().filter(|(flow, _)| !summary.is_one_of_several(flow));
        flows.map(move |(flow, stats)| (vec![flow.as_str(), pair], stats))
    });
    block(&mut text, &["flow", "difference"], &of_pairs, &paired.collect::<Vec<_>>());
    text.push_str(&legend(summary));
    for (i, remark) in summary.remarks.iter().enumerate() {
        let _ = writeln!(text, "{}note: {remark}", if i == 0 { "\n" } else { "" });
    }
    for (i, diagnostic) in summary.diagnostics.iter().enumerate() {
        let (scheme, flow) = (printable(&diagnostic.scheme), printable(&diagnostic.flow));
        let _ = writeln!(
            text,
            "{}scheme {scheme} of {flow}: {}",
            if i == 0 { "\n" } else { "" },
            diagnostic.text
        );
    }
    text
}

/// Explanation of the numbers of several runs.
fn legend(summary: &Summary) -> String {
    let schemes = summary.runs.iter().map(|run| run.scheme.as_str()).collect::<BTreeSet<_>>().len().max(1);
    let each = summary.runs.len() / schemes;
    if each < 2 {
        return String::new();
    }
    let interval = match each < FEWEST as usize {
        true => format!("range of {each} runs: an interval needs {FEWEST}"),
        false => "95 % interval of the median".to_owned(),
    };
    let pairs = match schemes * (schemes - 1) / 2 {
        0 => String::new(),
        1 => "; * the two schemes differ at the 5 % level (sign test)".to_owned(),
        pairs => format!(
            "; * the two schemes differ at the 5 % level (sign test, corrected for {pairs} pairs of schemes by Holm)"
        ),
    };
    format!(
        "\nmedian [{interval}]; mean (runs that are not 0, or differ from most: 95 % of their share){pairs}\n"
    )
}

/// Returns the rows of flows. The result also has rows of paths, for flows with several paths.
fn flows(summary: &Summary) -> [Vec<Row<'_>>; 2] {
    let (mut flows, mut paths) = (Vec::new(), Vec::new());
    for (flow, schemes) in summary.flows.iter().filter(|(flow, _)| !summary.is_one_of_several(flow)) {
        for (scheme, stats) in schemes {
            let limit =
                limit(&stats.metrics, summary.scenario.apps.get(flow).is_some_and(|app| app == "video"));
            flows.push((vec![flow.as_str(), scheme, limit], &stats.metrics));
            if stats.paths.len() > 1 {
                paths.extend(stats.paths.iter().map(|(path, s)| (vec![flow.as_str(), scheme, path], s)));
            }
        }
    }
    [flows, paths]
}

/// Returns the rows of links, and the rows of the shares of flows in links.
fn links(summary: &Summary) -> [Vec<Row<'_>>; 2] {
    let (mut links, mut shares) = (Vec::new(), Vec::new());
    for (link, directions) in &summary.links {
        for (direction, schemes) in directions {
            for (scheme, stats) in schemes {
                let words = [link.as_str(), direction, scheme];
                if stats.metrics.get("offered_packets").is_none_or(|offered| offered.mean > 0.0) {
                    links.push((words.to_vec(), &stats.metrics));
                }
                let flows = stats.flows.iter().filter(|(flow, _)| !summary.is_one_of_several(flow));
                let of = flows.map(|(flow, s)| ([&words[..], &[flow]].concat(), s)).collect::<Vec<_>>();
                if of.len() > 1 && mean(&stats.metrics, "utilisation") >= 0.5 {
                    shares.extend(of);
                }
            }
        }
    }
    [links, shares]
}

fn mean(stats: &Stats, name: &str) -> f64 {
    stats.get(name).map_or(0.0, |stat| stat.mean)
}

/// Returns the reason why a flow is not faster, as far as its metrics show it. The receive window and the send buffer
/// together may have blocked the flow for half of the time. The reason is then the one that blocked it longer.
/// Otherwise, the source is the reason if the time without data to send exceeds the time with a full congestion window.
/// Otherwise, the reason is the cause of most of the flow's losses. The rate of a video's source is limited on purpose,
/// so that only the first rule applies to a video.
fn limit(stats: &Stats, is_video: bool) -> &'static str {
    let mean = |name| mean(stats, name);
    let (random, queue) = (mean("lost_random_packets"), mean("lost_queue_packets"));
    let routing = mean("lost_routing_packets");
    let (window, buffer) = (mean("rwnd_blocked_ratio"), mean("send_buffer_blocked_ratio"));
    if window + buffer >= 0.5 {
        if buffer > window { "send buffer" } else { "receive window" }
    } else if is_video {
        "-"
    } else if mean("app_limited_s") > mean("cwnd_limited_s") {
        "source"
    } else if random + queue + routing == 0.0 {
        "-"
    } else if routing > random.max(queue) {
        "radio"
    } else if random >= queue {
        "random loss"
    } else {
        "queue"
    }
}

/// Appends a table of these rows, if there are any. It has the columns for which a row has a value.
fn block(text: &mut String, titles: &[&str], columns: &[Column], rows: &[Row<'_>]) {
    if rows.is_empty() {
        return;
    }
    text.push('\n');
    let columns: Vec<&Column> =
        columns.iter().filter(|column| rows.iter().any(|(_, stats)| stats.contains_key(column.0))).collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    let head = titles.iter().copied().chain(columns.iter().map(|column| column.1));
    lines.push(head.map(str::to_owned).collect());
    for (words, stats) in rows {
        let numbers = columns.iter().map(|column| cell(stats.get(column.0), column));
        lines.push(words.iter().map(|&word| printable(word).into_owned()).chain(numbers).collect());
    }
    let width = |i: usize| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    for line in &lines {
        let mut out = String::new();
        for (i, (cell, width)) in line.iter().zip(&widths).enumerate() {
            // Words are on the left, and numbers are on the right.
            let _ = match i < titles.len() {
                true => write!(out, "{cell:<width$}  "),
                false => write!(out, "{cell:>width$}  "),
            };
        }
        text.push_str(out.trim_end());
        text.push('\n');
    }
}

/// Returns the text of a number. For a single run, it is the value of the run. If a metric is 0 in many runs
/// ([`RARE`](super::RARE)), its mean is written, and the number of runs in which it is not 0. Other metrics have the
/// median with its interval. If there are too few runs for an interval, they have the range. If nearly all runs are
/// equal, the number of runs that differ is written. A star marks a difference of schemes that chance does not explain.
fn cell(stat: Option<&Stat>, &(name, _, factor, decimals): &Column) -> String {
    let Some(stat) = stat else { return "-".into() };
    let number = |value: f64| format!("{:.decimals$}", value * factor + 0.0);
    let star = if stat.p.is_some_and(|p| p < 0.05) { "*" } else { "" };
    if stat.n == 1 {
        return number(stat.mean);
    }
    match stat.interval(is_rare(name) && stat.p.is_none()) {
        Interval::Share { counted, low, high } => {
            let percent = |share: f64| format!("{:.0}", share * 100.0);
            let bounds = match counted {
                0 => format!("≤{}%", percent(high)),
                _ => format!("{}–{}%", percent(low), percent(high)),
            };
            format!("{}{star} ({counted}/{}: {bounds})", number(stat.mean), stat.n)
        }
        Interval::Range | Interval::Median => {
            format!("{}{star} [{}, {}]", number(stat.median), number(stat.low), number(stat.high))
        }
    }
}
