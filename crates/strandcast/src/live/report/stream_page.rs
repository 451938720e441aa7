//! The page of a stream.

use std::fmt::Write as _;

use serde_json::Value;

use super::chart::{Chart, Series, escape};
use super::ends::{End, Played};
use super::page::{events, page, tiles_of};
use super::points::Points;
use super::stream::{Link, StreamReport};
use crate::text::{bits_per_s, bytes, count, percent};

/// Number of different colours for paths.
const COLOURS: usize = 4;
/// Column titles of the table of links.
const COLUMNS: [&str; 6] = ["path", "bytes", "share", "mean rate", "lost", "down"];

impl StreamReport {
    /// Returns the report as an HTML page that contains everything.
    pub fn html(&self) -> String {
        let mut body = header(self);
        body += &tiles(self);
        for chart in charts(self) {
            body += &chart.html();
        }
        body += &links(self);
        body += &events(&self.events);
        page(&format!("Strandcast stream {}", self.stream), &body)
    }
}

fn header(report: &StreamReport) -> String {
    let thinned = report.thinned_s.map_or_else(String::new, |seconds| {
        format!(
            "<p>Each point of the plots stands for {seconds:.0} s: the mean of rates, the least of what waited or could \
             be carried, the most of all others.</p>"
        )
    });
    format!(
        "<header><h1>Stream {}</h1><p>Since <b>{}</b>, <b>{:.0} s</b>, scheme <b>{}</b>, between <b>{}</b>.</p>{}\
         {thinned}</header>\n",
        escape(&report.stream),
        escape(&report.began),
        report.seconds,
        escape(&report.scheme),
        escape(&report.peers.join(" and ")),
        verdict(report),
    )
}

/// Returns a paragraph: everything was played, or the numbers of messages that were not played.
fn verdict(report: &StreamReport) -> String {
    let Some(played) = &report.played else {
        return "<p>Only the sender's lines are here: what was played is not known.</p>".to_owned();
    };
    let mut bad = Vec::new();
    if report.end == End::Cut {
        bad.push(
            "The stream ended without a goodbye: what was sent after the last played message is missing"
                .into(),
        );
    }
    if report.cuts > 0 {
        bad.push(format!(
            "It was cut {} before its last part, and began again",
            count(report.cuts as u64, "time")
        ));
    }
    let missing = missing(played);
    match (&report.sent, missing.as_str()) {
        (_, "") if report.end == (End::Arrived { identical: false }) => {
            bad.push("Not everything was played as it was sent".to_owned());
        }
        (Some(sent), _) if !bad.is_empty() => {
            let (of, all) = (count(number(sent, "messages"), "message"), count(played.messages, "message"));
            let missing = if missing.is_empty() { missing } else { format!("; {missing}") };
            bad.push(format!("Of {of} sent, {all} were played{missing}"));
        }
        (_, "") => {}
        _ => bad.push(missing),
    }
    match (bad.is_empty(), report.end) {
        (false, _) => format!("<p class=\"verdict bad\">{}.</p>", escape(&bad.join(". "))),
        (true, End::Unknown) => {
            "<p>Every message so far was played in time. The receiver's lines have no summary of the \
                                 stream: how it ended is not known.</p>"
                .to_owned()
        }
        (true, _) => {
            "<p class=\"verdict good\">Every message was played in time, and every byte as it was sent.</p>"
                .to_owned()
        }
    }
}

/// Returns the numbers of messages that were not played, by reason. The text is empty if every message was played.
fn missing(played: &Played) -> String {
    let reasons = [(played.late, "late"), (played.lost, "lost"), (played.untaken, "not taken by an output")];
    let known = reasons.iter().filter(|(n, _)| *n > 0);
    known.map(|(n, name)| format!("{} {name}", count(*n, "message"))).collect::<Vec<_>>().join(", ")
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or(0)
}

fn tiles(report: &StreamReport) -> String {
    let mut tiles = Vec::new();
    let share = |n: u64, of: u64| percent(n as f64 / of.max(1) as f64);
    if let Some(sent) = &report.sent {
        let all = number(sent, "messages");
        tiles.push(("sent", count(all, "message"), bytes(number(sent, "bytes"))));
        tiles.push(("expired", share(number(sent, "late"), all), count(number(sent, "late"), "message")));
    }
    if let Some(played) = &report.played {
        let of = played.messages.saturating_add(played.late).saturating_add(played.lost);
        tiles.push(("played", count(played.messages, "message"), bytes(played.bytes)));
        tiles.push(("late", share(played.late, of), count(played.late, "message")));
        tiles.push(("lost", share(played.lost, of), count(played.lost, "message")));
    }
    let outage: f64 = report.outages.iter().map(|(begin, end)| end - begin).sum();
    tiles.push(("outages", report.outages.len().to_string(), format!("{outage:.0} s in all")));
    if let Some(overhead) = report.wire.as_ref().and_then(|wire| wire["overhead"].as_f64()) {
        tiles.push(("on the wire", format!("{overhead:.3}"), "bytes per byte of media".to_owned()));
    }
    tiles_of(&tiles)
}

fn charts(report: &StreamReport) -> Vec<Chart> {
    let outage = report.outages.iter().copied().max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    let chart = |title: &str, caption: &str, unit: &'static str, series: Vec<Series>, stacked: bool| Chart {
        title: title.to_owned(),
        caption: caption.to_owned(),
        unit,
        series,
        stacked,
        band: outage.map(|(begin, end)| (begin, end, "longest outage".to_owned())),
        level: None,
        end_s: report.seconds,
    };
    let of_links = |points: fn(&Link) -> &Points| {
        let one = |(n, link): (usize, &Link)| series(&link.name, &format!("p{}", n % COLOURS), points(link));
        report.links.iter().enumerate().map(one).collect::<Vec<_>>()
    };
    let media = vec![series("sent", "c0", &report.sent_rate), series("played", "c1", &report.played_rate)];
    let missing = vec![
        series("late", "p1", &report.late),
        series("lost", "p2", &report.lost),
        series("expired at the sender", "p0", &report.expired),
    ];
    let all = vec![
        chart(
            "Rate of each path",
            "Payload with copies, stacked.",
            "Mbit/s",
            of_links(|link| &link.rate),
            true,
        ),
        chart("Media", "Rate of what was sent and played.", "Mbit/s", media, false),
        chart("Missing messages", "Messages per second that were not played.", "1/s", missing, false),
        chart(
            "Playout buffer",
            "Media that waited to be played. At zero the picture would freeze.",
            "ms",
            vec![series("buffer", "c1", &report.buffer)],
            false,
        ),
        chart(
            "What each path can carry",
            "The most that it is known to carry.",
            "Mbit/s",
            of_links(|link| &link.capacity),
            false,
        ),
        chart("Round-trip time", "Smoothed.", "ms", of_links(|link| &link.rtt), false),
        chart("Loss of each path", "Of the last 10 s.", "%", of_links(|link| &link.loss), false),
    ];
    let has = |chart: &Chart| chart.series.iter().any(|s| s.points.iter().any(|(_, value)| value.is_some()));
    let known = |mut chart: Chart| {
        chart.series.retain(|s| s.points.iter().any(|(_, value)| value.is_some()));
        chart
    };
    all.into_iter().filter(has).map(known).collect()
}

fn series(name: &str, class: &str, points: &Points) -> Series {
    Series { name: name.to_owned(), class: class.to_owned(), points: points.clone() }
}

fn links(report: &StreamReport) -> String {
    let all = report.links.iter().fold(0_u64, |all, link| all.saturating_add(link.bytes));
    let mut rows = String::new();
    for (n, link) in report.links.iter().enumerate() {
        let values = [
            format!("<span class=\"key p{}\">{}</span>", n % COLOURS, escape(&link.name)),
            bytes(link.bytes),
            percent(link.bytes as f64 / all.max(1) as f64),
            bits_per_s(link.bytes as f64 * 8.0 / report.seconds),
            link.loss_total.map_or_else(|| "-".to_owned(), percent),
            format!("{:.1} s", link.down_s),
        ];
        rows.push_str("<tr>");
        for (name, value) in COLUMNS.iter().zip(values) {
            let _ = write!(rows, "<td data-label=\"{name}\">{value}");
        }
        rows.push_str("</tr>");
    }
    let head: String = COLUMNS.iter().map(|name| format!("<th>{name}")).collect();
    let whose = if report.of_receiver { ", as the receiver saw them" } else { "" };
    format!(
        "<section><h2>Paths{whose}</h2><table class=\"cards\"><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></section>\n"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::text::rfc3339;

    #[test]
    fn a_page_says_what_was_missing_and_escapes_what_a_peer_named() {
        let mut report = StreamReport {
            stream: "0000beef".into(),
            seconds: 60.0,
            peers: vec!["<script>".into()],
            played: Some(Played { messages: 100, bytes: 1000, lost: 3, ..Played::default() }),
            end: End::Arrived { identical: false },
            outages: vec![(10.0, 18.0)],
            events: vec![(10.0, "receiver: no packets from <b>".into())],
            ..StreamReport::default()
        };
        let rate = (0..60).map(|s| (f64::from(s), Some(1.0))).collect();
        report.links.push(Link { name: "wwan0".into(), bytes: 7_500_000, rate, ..Link::default() });
        let page = report.html();
        assert!(
            page.contains("3 messages lost")
                && page.contains("longest outage")
                && page.contains("1.00 Mbit/s")
        );
        assert!(
            !page.contains("<script>\"")
                && !page.contains("between <b><script>")
                && !page.contains("from <b>")
        );
        assert!(
            page.contains("Rate of each path") && !page.contains("Round-trip time"),
            "only what is known"
        );
        report.played = Some(Played { messages: 100, ..Played::default() });
        report.end = End::Arrived { identical: true };
        assert!(report.html().contains("Every message was played in time, and every byte as it was sent."));
    }

    /// Files of statistics may come from anyone.
    #[test]
    fn hostile_numbers_give_a_page() {
        for value in [json!(5e-324), json!(f64::MIN_POSITIVE), json!(1e308), json!(-1e308), json!(u64::MAX)] {
            let line = |s: u64, role: &str| {
                json!({
                    "time": rfc3339(1_800_000_000_000 + s * 1000), "role": role, "stream": "0000000a", "peer": "x",
                    "media": { "messages": value, "bytes": value, "late": value, "lost": value, "rate_bps": value,
                               "unread": value, "buffer_ms": value },
                    "wire": { "overhead": value },
                    "paths": ([0, 1].map(|id| json!({
                        "id": id, "name": "a", "state": "active", "bytes": value, "down_s": value, "rate_bps": value,
                        "capacity_bps": value, "rtt_ms": value, "loss": value, "loss_total": value,
                    }))),
                })
            };
            let over = json!({
                "time": rfc3339(1_800_000_002_000), "role": "receive", "stream": "0000000a", "event": "received",
                "text": "", "summary": { "played": value, "bytes": value, "late": value, "lost": value,
                                         "unread": value, "unsent": value, "complete": true },
            });
            let outage = json!({
                "time": rfc3339(1_800_000_001_000), "role": "receive", "stream": "0000000a", "event": "outage-over",
                "text": "", "outage_s": value,
            });
            let lines = [
                line(0, "send"),
                line(0, "receive"),
                outage,
                over.clone(),
                over,
                line(3, "receive"),
                line(4, "send"),
            ];
            let page = StreamReport::of(&lines, None).expect("it has figures").html();
            assert!(page.len() < 1_000_000, "{value}: {} bytes", page.len());
        }
    }

    /// The report may claim that nothing is missing only if the end of the stream and all its bytes arrived.
    #[test]
    fn a_stream_is_praised_only_if_its_end_arrived_and_all_bytes() {
        let played = Some(Played { messages: 100, ..Played::default() });
        let mut report = StreamReport { played, ..StreamReport::default() };
        let of = |report: &StreamReport| verdict(report);
        assert!(of(&report).contains("how it ended is not known") && !of(&report).contains("class"));
        report.end = End::Cut;
        assert!(of(&report).contains("bad\">The stream ended without a goodbye"), "{}", of(&report));
        report.sent = Some(json!({ "messages": 140 }));
        assert!(of(&report).contains("Of 140 messages sent, 100 messages were played."), "{}", of(&report));
        report.end = End::Arrived { identical: false };
        assert!(of(&report).contains("bad\">Not everything was played as it was sent."), "{}", of(&report));
        (report.end, report.cuts) = (End::Arrived { identical: true }, 1);
        assert!(of(&report).contains("bad\">It was cut 1 time before its last part"), "{}", of(&report));
        report.cuts = 0;
        assert!(of(&report).contains("verdict good"));
    }
}
