//! Metrics of lines, in the text format of Prometheus.

use std::fmt::Write as _;

use serde_json::Value;
use strandcast_keys::text::printable;

use super::keys::{EVERY, FIGURES, Key, Kind, Metric};

/// States of a path and of a stream. Each state has a separate sample.
const PATH_STATES: [&str; 6] =
    ["unconfirmed", "active", "potentially-failed", "inactive", "suspended", "closed"];
const STREAM_STATES: [&str; 5] = ["streaming", "no-input", "outage", "connecting", "waiting"];

/// A line, with the labels that all its samples have.
struct Labelled<'a> {
    labels: String,
    line: &'a Value,
}

impl Labelled<'_> {
    /// The label `instance` distinguishes the programs of a machine. The name of a stream distinguishes the streams of
    /// a server.
    fn of<'a>(line: &'a Value, instance: &str) -> Labelled<'a> {
        let role = line["role"].as_str().unwrap_or_default();
        let name = line["name"].as_str().map(|name| format!(",name=\"{}\"", escaped(name)));
        let name = name.unwrap_or_default();
        Labelled { labels: format!("instance_name=\"{}\",role=\"{role}\"{name}", escaped(instance)), line }
    }

    fn all<'a>(lines: &'a [Value], instance: &str) -> Vec<Labelled<'a>> {
        lines.iter().map(|line| Labelled::of(line, instance)).collect()
    }

    fn paths(&self) -> &[Value] {
        self.line["paths"].as_array().map_or(&[][..], Vec::as_slice)
    }
}

fn up(out: &mut String, lines: &[Labelled<'_>], is: u8) {
    head(out, "strandcast_up", "gauge", "The command runs.");
    for Labelled { labels, .. } in lines {
        let _ = writeln!(out, "strandcast_up{{{labels}}} {is}");
    }
}

/// Returns the metrics at the end of a program: counts remain, and states and rates are left out because they no longer
/// apply. `last` has the last line with figures of each stream.
pub fn ended(last: &[Value], instance: &str) -> String {
    let (mut out, lines) = (String::new(), Labelled::all(last, instance));
    up(&mut out, &lines, 0);
    let counts = EVERY.iter().chain(FIGURES).filter_map(|key| Some((key, key.metric?)));
    for (key, metric) in counts.filter(|(_, metric)| metric.is_counter()) {
        one(&mut out, &lines, key, metric);
    }
    out
}

/// Returns the metrics of these lines in the text format of Prometheus. There is one line for each stream. `instance` is
/// the label that distinguishes the programs of a machine.
pub fn metrics(lines: &[Value], instance: &str) -> String {
    let (mut out, lines) = (String::new(), Labelled::all(lines, instance));
    up(&mut out, &lines, 1);
    head(&mut out, "strandcast_stream_state", "gauge", "State of the stream: 1 for the one that it has.");
    for Labelled { labels, line } in &lines {
        states(&mut out, "strandcast_stream_state", labels, &STREAM_STATES, &line["state"]);
    }
    infos(&mut out, &lines);
    for key in EVERY.iter().chain(FIGURES) {
        if let Some(metric) = key.metric {
            one(&mut out, &lines, key, metric);
        }
    }
    if lines.iter().any(|line| !line.paths().is_empty()) {
        head(&mut out, "strandcast_path_state", "gauge", "State of a path: 1 for the one that it has.");
    }
    for line in &lines {
        for path in line.paths() {
            let labels = labels_of(&line.labels, path);
            states(&mut out, "strandcast_path_state", &labels, &PATH_STATES, &path["state"]);
        }
    }
    out
}

/// Writes the peers, numbers and schemes of streams as labels.
fn infos(out: &mut String, lines: &[Labelled<'_>]) {
    let mut first = true;
    for Labelled { labels, line } in lines {
        let (Some(peer), Some(stream)) = (line["peer"].as_str(), line["stream"].as_str()) else { continue };
        if std::mem::take(&mut first) {
            head(out, "strandcast_stream_info", "gauge", "The stream: its peer, number and scheme.");
        }
        let (peer, scheme) = (escaped(peer), escaped(line["scheme"].as_str().unwrap_or_default()));
        let labels = format!("{labels},peer=\"{peer}\",stream=\"{stream}\",scheme=\"{scheme}\"");
        let _ = writeln!(out, "strandcast_stream_info{{{labels}}} 1");
    }
}

fn states(out: &mut String, name: &str, labels: &str, all: &[&str], now: &Value) {
    for state in all {
        let is = u8::from(now.as_str() == Some(state));
        let _ = writeln!(out, "{name}{{{labels},state=\"{state}\"}} {is}");
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Returns the samples of a key in a line: a single sample, or a sample for each path or name.
fn samples<'a>(Labelled { labels, line }: &Labelled<'a>, key: &Key) -> Vec<(String, &'a Value)> {
    match key.name.strip_prefix("paths[].") {
        Some(rest) => {
            let paths = line["paths"].as_array().map_or(&[][..], Vec::as_slice);
            paths.iter().map(|path| (labels_of(labels, path), at(path, rest))).collect()
        }
        None if key.kind == Kind::Map => {
            let each = at(line, key.name).as_object().into_iter().flatten();
            each.map(|(name, value)| (format!("{labels},cause=\"{}\"", escaped(name)), value)).collect()
        }
        None => vec![(labels.clone(), at(line, key.name))],
    }
}

/// Writes the samples of a key.
fn one(out: &mut String, lines: &[Labelled<'_>], key: &Key, metric: Metric) {
    let samples = lines.iter().flat_map(|line| samples(line, key));
    let samples: Vec<(String, f64)> =
        samples.filter_map(|(labels, value)| Some((labels, value.as_f64()?))).collect();
    if samples.is_empty() {
        return;
    }
    let kind = if metric.is_counter() { "counter" } else { "gauge" };
    head(out, metric.name, kind, &help(key));
    for (labels, value) in samples {
        let _ = writeln!(out, "{}{{{labels}}} {}", metric.name, value * metric.factor);
    }
}

/// Returns the help text of a metric: the meaning of its key, as a sentence without markup.
fn help(key: &Key) -> String {
    let plain: String = key.meaning.chars().filter(|c| *c != '`').collect();
    let text = match plain.split_once('[') {
        Some((before, link)) => match link.split_once("](") {
            Some((words, rest)) => {
                let after = rest.split_once(')').map_or("", |(_, after)| after);
                format!("{before}{words}{after}")
            }
            None => plain.clone(),
        },
        None => plain,
    };
    format!("{} ({}).", text, key.name)
}

fn labels_of(base: &str, path: &Value) -> String {
    let name = escaped(path["name"].as_str().unwrap_or_default());
    // Two paths may have the same name, so that the id is needed as well.
    format!("{base},path=\"{name}\",id=\"{}\"", path["id"])
}

/// Returns the value of a key whose name contains dots.
fn at<'a>(value: &'a Value, key: &str) -> &'a Value {
    key.split('.').fold(value, |value, part| &value[part])
}

/// Returns the value of a label. Only backslash, quote and line end need escapes, and `printable` has already
/// escaped control characters that a peer may have sent.
fn escaped(text: &str) -> String {
    printable(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn line() -> Value {
        serde_json::json!({
            "uptime_s": 7.5, "role": "send", "state": "outage", "peer": "van \"1\"\\\n", "stream": "0000beef",
            "scheme": "strand",
            "media": { "messages": 12, "shift_ms": 250.0, "buffer_ms": null, "drops": { "capacity": 3, "burst": 1 } },
            "paths": [
                { "id": 0, "name": "wwan0", "state": "active", "bytes": 1000, "rtt_ms": 40.0 },
                { "id": 1, "name": "wwan0", "state": "closed", "bytes": 7, "rtt_ms": null },
            ],
        })
    }

    /// Checks that HELP and TYPE come once and before the samples, that the samples of a metric are together, and that
    /// their labels are distinct.
    fn are_together_and_distinct(text: &str) {
        let (mut seen, mut samples, mut now) = (BTreeSet::new(), BTreeSet::new(), String::new());
        for row in text.lines() {
            if let Some(rest) = row.strip_prefix("# HELP ") {
                now = rest.split(' ').next().unwrap().to_owned();
                assert!(seen.insert(now.clone()) && rest.len() > now.len() + 5, "{row}");
            } else if let Some(rest) = row.strip_prefix("# TYPE ") {
                let counter = now.ends_with("_total");
                assert_eq!(rest, format!("{now} {}", if counter { "counter" } else { "gauge" }));
            } else {
                let (name, rest) = row.split_once('{').unwrap();
                let (labels, value) = rest.rsplit_once("} ").unwrap();
                assert!(name == now && samples.insert((now.clone(), labels.to_owned())), "{row}");
                assert!(value.parse::<f64>().is_ok(), "{row}");
            }
        }
    }

    #[test]
    fn streams_of_a_server_have_their_names_as_labels() {
        let named = |name: &str| {
            let mut line = line();
            line["name"] = name.into();
            line
        };
        let waits =
            serde_json::json!({ "role": "receive", "name": "van3", "state": "waiting", "uptime_s": 1.0 });
        let text = metrics(&[named("van1"), named("van2"), waits], "serve");
        are_together_and_distinct(&text);
        for expected in [
            "strandcast_messages_total{instance_name=\"serve\",role=\"send\",name=\"van2\"} 12",
            "strandcast_stream_state{instance_name=\"serve\",role=\"receive\",name=\"van3\",state=\"waiting\"} 1",
        ] {
            assert!(text.lines().any(|row| row == expected), "{expected}\n{text}");
        }
    }

    /// The format (<https://prometheus.io/docs/instrumenting/exposition_formats/>) requires HELP and TYPE once, before
    /// the samples. The samples of a metric must be together, with distinct labels.
    #[test]
    fn each_metric_is_described_once_and_its_samples_are_together_and_distinct() {
        let text = metrics(&[line()], "van");
        are_together_and_distinct(&text);
        for expected in [
            "strandcast_stream_state{instance_name=\"van\",role=\"send\",state=\"outage\"} 1",
            "strandcast_stream_state{instance_name=\"van\",role=\"send\",state=\"streaming\"} 0",
            "strandcast_playout_shift_seconds{instance_name=\"van\",role=\"send\"} 0.25",
            "strandcast_messages_dropped_total{instance_name=\"van\",role=\"send\",cause=\"capacity\"} 3",
            "strandcast_path_bytes_total{instance_name=\"van\",role=\"send\",path=\"wwan0\",id=\"1\"} 7",
            "strandcast_path_rtt_seconds{instance_name=\"van\",role=\"send\",path=\"wwan0\",id=\"0\"} 0.04",
        ] {
            assert!(text.lines().any(|row| row == expected), "{expected}\n{text}");
        }
        assert!(text.contains("peer=\"van \\\"1\\\""), "{text}");
        assert!(!text.contains("buffer_seconds") && !text.contains('`') && !text.contains("]("), "{text}");
    }

    /// Metrics use base units, as <https://prometheus.io/docs/practices/naming/> recommends and `promtool check
    /// metrics` checks. For the decibels of a radio there is no base unit.
    #[test]
    fn metrics_have_base_units() {
        let metrics = EVERY.iter().chain(FIGURES).filter_map(|key| Some((key, key.metric?)));
        let mut seen = 0;
        for (key, metric) in metrics {
            for unit in ["bits", "milliseconds", "_ms", "percent", "kilo", "mega", "minutes", "hours"] {
                assert!(!metric.name.contains(unit), "{}", metric.name);
            }
            let has = |unit: &str| metric.name.trim_end_matches("_total").ends_with(unit);
            let expected = match key.unit {
                "B" => ("_bytes", 1.0),
                "bit/s" => ("_bytes_per_second", 0.125),
                "s" => ("_seconds", 1.0),
                "ms" => ("_seconds", 1e-3),
                _ => continue,
            };
            assert_eq!((has(expected.0), metric.factor), (true, expected.1), "{}", metric.name);
            seen += 1;
        }
        assert!(seen > 10, "{seen}");
    }
}
