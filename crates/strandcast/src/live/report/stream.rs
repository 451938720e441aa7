//! A stream, read from lines of statistics of its sender, of its receiver, or of both.

use std::collections::BTreeMap;

use serde_json::Value;

use super::ends::{End, Parts, Played};
use super::points::{Fold, Points, add, each, thin};

/// A link of the sender.
#[derive(Debug, Default)]
pub(super) struct Link {
    pub(super) name: String,
    /// Bytes of payload since the start.
    pub(super) bytes: u64,
    pub(super) down_s: f64,
    pub(super) loss_total: Option<f64>,
    /// Mbit/s.
    pub(super) rate: Points,
    /// Capacity, in Mbit/s.
    pub(super) capacity: Points,
    /// Milliseconds.
    pub(super) rtt: Points,
    /// Share of lost packets, in per cent.
    pub(super) loss: Points,
}

/// Report of a stream, read from the lines of its statistics.
#[derive(Debug, Default)]
pub struct StreamReport {
    pub(super) stream: String,
    pub(super) scheme: String,
    pub(super) peers: Vec<String>,
    /// Time of day of the first line.
    pub(super) began: String,
    pub(super) seconds: f64,
    pub(super) links: Vec<Link>,
    /// True if `links` come from the receiver's lines because there are no lines of the sender.
    pub(super) of_receiver: bool,
    /// The last object `media` of the sender.
    pub(super) sent: Option<Value>,
    /// Counts of the played messages, if there are lines of the receiver.
    pub(super) played: Option<Played>,
    pub(super) end: End,
    /// Number of times that the stream was cut and then began again.
    pub(super) cuts: usize,
    pub(super) wire: Option<Value>,
    /// Rates of the media sent and of the media played, in Mbit/s.
    pub(super) sent_rate: Points,
    pub(super) played_rate: Points,
    /// Milliseconds.
    pub(super) buffer: Points,
    /// Messages per second.
    pub(super) late: Points,
    pub(super) lost: Points,
    pub(super) expired: Points,
    /// Time of each event in seconds, and its line.
    pub(super) events: Vec<(f64, String)>,
    /// Start and end of each outage, in seconds.
    pub(super) outages: Vec<(f64, f64)>,
    /// Numbers of all streams of the lines, in the order of their last figures.
    pub(super) known: Vec<String>,
    /// Seconds that each point of a plot stands for, if there are more lines than points.
    pub(super) thinned_s: Option<f64>,
}

/// Reason why lines of statistics make no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The lines have no figures of any stream.
    #[error("no line has figures of a stream")]
    NoFigures,
    /// The lines have no figures of the stream that was asked for.
    #[error("there is no stream {stream}: {}", listed(known))]
    NoStream {
        /// Number of the stream that was asked for.
        stream: String,
        /// Numbers of the streams that have figures.
        known: Vec<String>,
    },
}

impl StreamReport {
    /// Makes the report of the stream with this number, or of the last stream. `lines` are lines of statistics as JSON
    /// objects ([`Line::value`](crate::live::lines::Line::value)), in any order. Lines of other streams and other values
    /// are left out.
    ///
    /// # Errors
    /// Returns [`ReportError::NoFigures`] if no line has figures of a stream, and [`ReportError::NoStream`] if no line has
    /// figures of `stream`.
    pub fn of(lines: &[Value], stream: Option<&str>) -> Result<StreamReport, ReportError> {
        let mut timed: Vec<(f64, &Value)> =
            lines.iter().filter_map(|line| Some((time(line)?, line))).collect();
        timed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let has = |line: &Value| line["media"].is_object() && line["stream"].is_string();
        let mut known: Vec<&str> = Vec::new();
        for (_, line) in timed.iter().filter(|(_, line)| has(line)) {
            let id = line["stream"].as_str().unwrap_or_default();
            known.retain(|known| *known != id);
            known.push(id);
        }
        let all = || known.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let id = match stream {
            Some(stream) => {
                let none = || ReportError::NoStream { stream: stream.to_owned(), known: all() };
                known.iter().copied().find(|id| *id == stream).ok_or_else(none)?
            }
            None => *known.last().ok_or(ReportError::NoFigures)?,
        };
        let own: Vec<(f64, &Value)> = timed.into_iter().filter(|(_, line)| line["stream"] == id).collect();
        let (first, last) = (own[0].0, own[own.len() - 1].0);
        let mut report = StreamReport {
            stream: id.to_owned(),
            began: own[0].1["time"].as_str().unwrap_or_default().to_owned(),
            seconds: (last - first).max(1.0),
            known: all(),
            ..StreamReport::default()
        };
        report.of_receiver = !own.iter().any(|(_, line)| has(line) && line["role"] == "send");
        report.fill(&own, first);
        Ok(report)
    }

    /// Returns the number of the stream.
    pub fn stream(&self) -> &str {
        &self.stream
    }

    /// Returns the numbers of all streams that have figures in the lines, in the order of their last figures.
    pub fn known(&self) -> &[String] {
        &self.known
    }

    fn fill(&mut self, own: &[(f64, &Value)], first: f64) {
        let mut links = Links::default();
        let mut parts = Parts::default();
        let mut before: BTreeMap<&str, (f64, Value)> = BTreeMap::new();
        let mut outage: BTreeMap<&str, f64> = BTreeMap::new();
        for (at, line) in own {
            let (at, role) = (at - first, line["role"].as_str().unwrap_or_default());
            match line["event"].as_str() {
                Some("outage") => drop(outage.insert(role, at)),
                Some("outage-over") => {
                    let begun = outage.remove(role).unwrap_or(at);
                    let length = line["outage_s"].as_f64().unwrap_or(0.0);
                    self.outages.push((begun.min(at - length).max(0.0), at));
                }
                Some("received") => parts.end(&line["summary"]),
                _ => {}
            }
            if let Some(text) = line["text"].as_str().filter(|_| line["event"].is_string()) {
                let side = if role == "receive" { "receiver" } else { "sender" };
                self.events.push((at, format!("{side}: {}", text.split('\n').next().unwrap_or_default())));
            }
            if line["media"].is_object() {
                let last = before.insert(role, (at, line["media"].clone()));
                if role != "send" {
                    parts.current = Some(Played::of_media(&line["media"]));
                }
                self.figures(at, role, line, last);
                if (role == "send") != self.of_receiver {
                    links.take(at, line);
                }
            }
        }
        for begun in outage.into_values() {
            self.outages.push((begun, self.seconds));
        }
        (self.played, self.end, self.cuts) = parts.sum();
        self.links = links.all.into_values().collect();
        self.thin();
    }

    /// Reduces the number of points in the plots of a long stream.
    fn thin(&mut self) {
        let longest = self.sent_rate.len().max(self.played_rate.len());
        let each = each(longest);
        self.thinned_s = (each > 1).then(|| self.seconds * each as f64 / longest as f64);
        self.links.iter_mut().for_each(Link::thin);
        thin(&mut self.sent_rate, Fold::Mean);
        thin(&mut self.played_rate, Fold::Mean);
        thin(&mut self.buffer, Fold::Least);
        for missing in [&mut self.late, &mut self.lost, &mut self.expired] {
            thin(missing, Fold::Most);
        }
    }

    fn figures(&mut self, at: f64, role: &str, line: &Value, before: Option<(f64, Value)>) {
        let media = &line["media"];
        let per_s = |key: &str| {
            let (then, earlier) = before.as_ref()?;
            let more = media[key].as_f64()? - earlier[key].as_f64()?;
            Some(more.max(0.0) / (at - then).max(1e-3))
        };
        let rate = media["rate_bps"].as_f64().map(|bps| bps / 1e6);
        let peer = line["peer"].as_str().unwrap_or_default();
        if !self.peers.iter().any(|known| known == peer) {
            self.peers.push(peer.to_owned());
        }
        self.scheme = line["scheme"].as_str().filter(|_| role == "send").unwrap_or(&self.scheme).to_owned();
        if role == "send" {
            self.sent = Some(media.clone());
            self.wire = Some(line["wire"].clone());
            add(&mut self.sent_rate, at, rate);
            add(&mut self.expired, at, per_s("late"));
        } else {
            add(&mut self.played_rate, at, rate);
            add(&mut self.buffer, at, media["buffer_ms"].as_f64());
            add(&mut self.late, at, per_s("late"));
            add(&mut self.lost, at, per_s("lost"));
        }
    }
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "there is none".to_owned() } else { known.join(", ") }
}

/// All links by number. The points of all links have the same times.
#[derive(Debug, Default)]
struct Links {
    all: BTreeMap<u64, Link>,
    /// Points without values, at all times so far.
    times: Points,
}

impl Links {
    fn take(&mut self, at: f64, line: &Value) {
        add(&mut self.times, at, None);
        for path in line["paths"].as_array().into_iter().flatten() {
            let Some(id) = path["id"].as_u64() else { continue };
            let link = self.all.entry(id).or_default();
            link.wait(&self.times[..self.times.len() - 1]);
            let here = path["state"] != "closed";
            let number =
                |key: &str, factor: f64| path[key].as_f64().filter(|_| here).map(|value| value * factor);
            link.name = path["name"].as_str().unwrap_or_default().to_owned();
            link.bytes = path["bytes"].as_u64().unwrap_or(link.bytes);
            link.down_s = path["down_s"].as_f64().unwrap_or(link.down_s);
            link.loss_total = path["loss_total"].as_f64();
            link.rate.push((at, Some(path["rate_bps"].as_f64().unwrap_or(0.0) / 1e6)));
            link.capacity.push((at, number("capacity_bps", 1e-6)));
            link.rtt.push((at, number("rtt_ms", 1.0)));
            link.loss.push((at, number("loss", 100.0)));
        }
        self.all.values_mut().for_each(|link| link.wait(&self.times));
    }
}

impl Link {
    /// For times at which the link was not listed, adds points without values.
    fn wait(&mut self, times: &[(f64, Option<f64>)]) {
        for points in [&mut self.rate, &mut self.capacity, &mut self.rtt, &mut self.loss] {
            points.extend(times.iter().skip(points.len()));
        }
    }

    fn thin(&mut self) {
        thin(&mut self.rate, Fold::Mean);
        thin(&mut self.capacity, Fold::Least);
        thin(&mut self.rtt, Fold::Most);
        thin(&mut self.loss, Fold::Most);
    }
}

/// Returns the time of a line (RFC 3339, UTC) in seconds since 1970.
fn time(line: &Value) -> Option<f64> {
    let text = line["time"].as_str()?.strip_suffix('Z')?;
    let (date, clock) = text.split_once('T')?;
    let mut date = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let mut clock = clock.split(':').map(str::parse::<f64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // For this calculation each year begins in March, so that a leap day is the last day of a year.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719_469;
    Some(days as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::rfc3339;
    use serde_json::json;

    #[test]
    fn times_are_read_as_they_are_written() {
        for millis in [0, 951_782_399_250, 951_868_800_000, 1_234_567_890_123, 4_107_542_400_000] {
            let line = json!({ "time": rfc3339(millis) });
            assert_eq!(time(&line).map(|s| (s * 1000.0).round() as u64), Some(millis));
        }
        for text in ["", "2026-11-28", "2026-13-01T00:00:00Z", "yesterdayTnoonZ"] {
            assert_eq!(time(&json!({ "time": text })), None);
        }
    }

    fn lines() -> Vec<Value> {
        let at = |s: u64| rfc3339(1_800_000_000_000 + s * 1000);
        let mut lines = Vec::new();
        for s in 0..60 {
            for stream in ["0000000a", "0000000b"] {
                let at = at(s + if stream == "0000000a" { 0 } else { 100 });
                lines.push(json!({
                    "time": at, "role": "send", "stream": stream, "peer": "@studio", "scheme": "strand",
                    "media": { "messages": s * 100, "late": s / 2, "rate_bps": 1e6 }, "wire": { "overhead": 1.1 },
                    "paths": [
                        { "id": 0, "name": "wwan0", "state": "active", "bytes": s * 1000, "down_s": 0.0,
                          "rate_bps": 8000.0, "capacity_bps": 2e6, "rtt_ms": 40.0, "loss": 0.01, "loss_total": 0.02 },
                        { "id": 1, "name": "wlan0", "state": "closed", "bytes": 7, "down_s": 9.0, "rate_bps": 0.0,
                          "capacity_bps": null, "rtt_ms": null, "loss": null, "loss_total": 0.0 },
                    ],
                }));
                lines.push(json!({
                    "time": at, "role": "receive", "stream": stream, "peer": "van1", "scheme": "strand",
                    "media": { "messages": s * 99, "late": 0, "lost": s, "rate_bps": 9e5, "buffer_ms": 500.0 },
                    "wire": {}, "paths": [],
                }));
            }
        }
        let event = |s: u64, event: &str| json!({ "time": at(s), "role": "receive", "stream": "0000000b", "event": event, "text": event, "outage_s": 8.0 });
        lines.extend([event(120, "outage"), event(126, "outage-over"), event(150, "outage")]);
        lines.push(json!({ "no": "stream" }));
        lines
    }

    #[test]
    fn a_report_has_the_series_of_one_stream_of_both_ends() {
        let report = StreamReport::of(&lines(), None).unwrap();
        assert_eq!((report.stream.as_str(), report.seconds, report.of_receiver), ("0000000b", 59.0, false));
        assert_eq!(
            (report.stream(), report.known()),
            ("0000000b", &["0000000a".to_owned(), "0000000b".into()][..])
        );
        assert_eq!(report.links.len(), 2);
        let wwan = &report.links[0];
        assert_eq!((wwan.name.as_str(), wwan.bytes, wwan.rate.len()), ("wwan0", 59_000, 60));
        assert_eq!((wwan.rtt[5], wwan.loss[5]), ((5.0, Some(40.0)), (5.0, Some(1.0))));
        assert_eq!(report.links[1].rtt[5], (5.0, None), "a link that is gone has no round trip");
        assert_eq!((report.lost[0].1, report.lost[1].1), (None, Some(1.0)));
        // The first outage began before its event was reported. The last outage never ended.
        assert_eq!(report.outages, [(18.0, 26.0), (50.0, 59.0)]);
        assert_eq!(report.events.len(), 3);
        let other = StreamReport::of(&lines(), Some("0000000a")).unwrap();
        assert!(other.outages.is_empty());
    }

    #[test]
    fn files_without_a_stream_are_told_from_a_wrong_number() {
        let none = StreamReport::of(&[json!({ "a": 1 })], None).unwrap_err();
        assert_eq!(none, ReportError::NoFigures);
        let wrong = StreamReport::of(&lines(), Some("0")).unwrap_err();
        assert_eq!(wrong.to_string(), "there is no stream 0: 0000000a, 0000000b");
        let wrong = StreamReport::of(&[], Some("0")).unwrap_err();
        assert!(matches!(wrong, ReportError::NoStream { known, .. } if known.is_empty()));
    }

    /// An empty buffer for one second, and a link without data for one second, must appear in the report as freezes.
    #[test]
    fn a_long_stream_shows_its_freezes() {
        let mut lines = Vec::new();
        for s in 0..7200_u64 {
            // During two hours, the buffer is empty for one second, and the link carries no data for one second.
            let (buffer, rate) = (if s == 3601 { 0.0 } else { 500.0 }, if s == 3605 { 0.0 } else { 2e6 });
            lines.push(json!({
                "time": rfc3339(1_800_000_000_000 + s * 1000), "role": "receive", "stream": "0000000a", "peer": "van1",
                "media": { "messages": s * 99, "late": 0, "lost": 0, "rate_bps": rate, "buffer_ms": buffer },
                "paths": [{ "id": 0, "name": "wwan0", "state": "active", "rate_bps": rate, "capacity_bps": rate }],
            }));
        }
        let report = StreamReport::of(&lines, None).unwrap();
        let least = |points: &Points| points.iter().filter_map(|p| p.1).reduce(f64::min).unwrap();
        assert_eq!(report.thinned_s.map(f64::round), Some(5.0));
        assert_eq!((least(&report.buffer), least(&report.links[0].capacity)), (0.0, 0.0));
        assert!(
            (least(&report.played_rate) - 1.6).abs() < 1e-9
                && (least(&report.links[0].rate) - 1.6).abs() < 1e-9
        );
    }

    /// Links are drawn as stacked areas. A link that appears later therefore needs points without values at earlier
    /// times.
    #[test]
    fn points_of_links_have_the_same_times_and_a_gap_breaks_the_lines() {
        let line = |s: u64, ids: &[u64]| {
            let path = |id: &u64| json!({ "id": id, "name": "a", "state": "active", "rate_bps": 1e6, "rtt_ms": 9.0 });
            json!({
                "time": rfc3339(1_800_000_000_000 + s * 1000), "role": "send", "stream": "0000000a", "peer": "@studio",
                "media": { "messages": s, "late": 0, "rate_bps": 1e6 }, "wire": {},
                "paths": ids.iter().map(path).collect::<Vec<_>>(),
            })
        };
        let lines = [line(0, &[0]), line(1, &[0]), line(2, &[0, 1]), line(30, &[1]), line(31, &[0, 1])];
        let report = StreamReport::of(&lines, None).unwrap();
        let rate = |link: usize| report.links[link].rate.clone();
        let (some, none) = (|at: f64| (at, Some(1.0)), |at: f64| (at, None));
        let gap = [none(3.0), none(29.0)];
        assert_eq!(
            rate(0),
            [&[some(0.0), some(1.0), some(2.0)], &gap[..], &[none(30.0), some(31.0)]].concat()
        );
        assert_eq!(
            rate(1),
            [&[none(0.0), none(1.0), some(2.0)], &gap[..], &[some(30.0), some(31.0)]].concat()
        );
        assert_eq!(report.links[1].rtt.len(), 7);
        assert_eq!(
            report.sent_rate,
            [&[some(0.0), some(1.0), some(2.0)], &gap[..], &[some(30.0), some(31.0)]].concat()
        );
    }
}
