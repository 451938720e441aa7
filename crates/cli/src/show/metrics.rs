//! `--metrics`: writes the figures in Prometheus's text format. Each time, the whole file is replaced at once.

use std::fmt::Write as _;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use strandcast::files::{append_output, replace};
use strandcast::live::Role;
use strandcast_keys::text::printable;

use super::keys::{EVERY, FIGURES, Key, Kind, Metric};
use crate::error::{CliError, why};
use crate::print;
use crate::writer::{Sink, Writer};

/// Beginning of each file of metrics.
const BEGIN: &str = "# HELP strandcast_";
/// States of a path and of a stream. Each state has a separate sample.
const PATH_STATES: [&str; 6] =
    ["unconfirmed", "active", "potentially-failed", "inactive", "suspended", "closed"];
const STREAM_STATES: [&str; 5] = ["streaming", "no-input", "outage", "connecting", "waiting"];

/// The file of the metrics, if the user requests metrics.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Option<Running>);

/// The file of the metrics. When the command ends, the file reports that it has ended.
#[derive(Debug)]
struct Running {
    writer: Writer,
    /// Name of the file without its ending.
    instance: String,
    /// The last line with figures of each stream.
    last: Vec<Value>,
}

impl Metrics {
    /// Opens the file that `--metrics` names. A file with other content is not replaced.
    ///
    /// # Errors
    /// Returns [`CliError::Usage`] if the file has other content. Returns [`CliError::Media`] if the file cannot be
    /// written. Returns [`CliError::Store`] if the file is a file of keys.
    pub(crate) fn open(path: Option<&Path>, role: Role) -> Result<Metrics, CliError> {
        let Some(path) = path else { return Ok(Metrics(None)) };
        let name = path.display().to_string();
        let usage = |why: &str| CliError::Usage(format!("--metrics: {name} {why}"));
        let cannot = |e: &io::Error| CliError::Media(format!("cannot write {name}: {}", why(e)));
        if let Ok(seen) = std::fs::metadata(path) {
            if seen.file_type().is_fifo() {
                return Err(usage("is a pipe: metrics replace a file each second"));
            }
            if !seen.is_file() {
                return Err(usage("is not a file"));
            }
            let content = std::fs::read(path).map_err(|e| cannot(&e))?;
            if !content.is_empty() && !content.starts_with(BEGIN.as_bytes()) {
                return Err(usage("has other content: name another file"));
            }
        }
        // Checks that the file can be written.
        append_output(path, false)?;
        let instance = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let place = path.to_owned();
        let writer = Writer::start("metrics", 0, move || Replaced { path: place, failed: false });
        let (writer, last) = (writer.map_err(|e| cannot(&e))?, vec![json!({ "role": role })]);
        Ok(Metrics(Some(Running { writer, instance, last })))
    }

    /// Returns whether metrics are written to a file.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Writes the metrics from lines of figures and from lines without figures. There is one line for each stream.
    pub(crate) fn write(&mut self, lines: Vec<Value>) {
        let Some(running) = &mut self.0 else { return };
        // If older metrics are still waiting to be written, the new metrics replace them.
        running.writer.table(vec![exposition(&lines, &running.instance)]);
        running.keep(lines);
    }
}

impl Running {
    /// Keeps the last figures of each of these streams.
    fn keep(&mut self, lines: Vec<Value>) {
        let mut before = std::mem::take(&mut self.last);
        let kept = |line: Value| match before.iter_mut().find(|last| last["name"] == line["name"]) {
            Some(last) if !line["media"].is_object() => last.take(),
            _ => line,
        };
        self.last = lines.into_iter().map(kept).collect();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.writer.table(vec![ended(&self.last, &self.instance)]);
    }
}

/// A file that is replaced by each write.
struct Replaced {
    path: PathBuf,
    /// True if the last attempt failed. The failure was reported.
    failed: bool,
}

impl Sink for Replaced {
    fn write(&mut self, _: &[u8], text: Option<Vec<String>>) -> io::Result<()> {
        let Some(text) = text else { return Ok(()) };
        let name = self.path.display().to_string();
        match replace(&self.path, text.concat().as_bytes()) {
            Ok(()) if self.failed => {
                print::line(&format!("metrics: {name} is written again"));
                self.failed = false;
            }
            Err(error) if !self.failed => {
                print::line(&format!("metrics: cannot write {name}: {}; trying again", why(&error)));
                self.failed = true;
            }
            Ok(()) | Err(_) => {}
        }
        Ok(())
    }

    fn dropped(&mut self, _: u64) {}

    fn failed(&mut self, _: &io::Error) {}
}

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

/// Returns the metrics at the end of a command: counts remain, and states and rates are left out because they no longer
/// apply.
fn ended(last: &[Value], instance: &str) -> String {
    let (mut out, lines) = (String::new(), Labelled::all(last, instance));
    up(&mut out, &lines, 0);
    let counts = EVERY.iter().chain(FIGURES).filter_map(|key| Some((key, key.metric?)));
    for (key, metric) in counts.filter(|(_, metric)| metric.is_counter()) {
        one(&mut out, &lines, key, metric);
    }
    out
}

/// Writes the metrics of lines in the text format of Prometheus. There is one line for each stream.
pub(crate) fn exposition(lines: &[Value], instance: &str) -> String {
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
    use super::*;
    use std::collections::BTreeSet;

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
        let text = exposition(&[named("van1"), named("van2"), waits], "serve");
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
        let text = exposition(&[line()], "van");
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

    #[test]
    fn a_file_of_something_else_is_refused_and_stays() {
        let path = std::env::temp_dir().join(format!("strandcast-metrics-{}.prom", std::process::id()));
        std::fs::write(&path, "the only copy").unwrap();
        let refused = Metrics::open(Some(&path), Role::Send).unwrap_err();
        assert!(matches!(&refused, CliError::Usage(line) if line.contains("other content")), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), b"the only copy");
        std::fs::write(&path, exposition(&[line()], "old")).unwrap();
        let metrics = Metrics::open(Some(&path), Role::Send).unwrap();
        let Metrics(Some(running)) = &metrics else { panic!("a file") };
        let writer = running.writer.clone();
        drop(metrics);
        assert!(writer.flush(std::time::Duration::from_secs(10)));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(BEGIN) && text.ends_with("role=\"send\"} 0\n"), "{text}");
        std::fs::remove_file(&path).unwrap();
        let folder = path.parent().unwrap();
        let left = std::fs::read_dir(folder).unwrap().filter_map(Result::ok);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(!left.map(|entry| entry.file_name()).any(|other| other.to_string_lossy().contains(&name)));
    }
}
