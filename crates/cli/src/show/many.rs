//! Lines, statistics and metrics of a server's streams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use strandcast::live::{self, Event, Role, StreamState};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::line::{EventLine, IdleLine, Line};
use super::metrics::Metrics;
use super::stats::Stats;
use crate::error::CliError;
use crate::print;
use crate::sparing::{Sparing, counted};

/// Interval between two lines of figures of a stream.
const EVERY: Duration = Duration::from_secs(1);
/// Share of [`EVERY`] after which the next figures are written.
const ALMOST: f64 = 0.9;

/// Shows the streams of a server.
pub(crate) struct Many {
    stats: Stats,
    metrics: Metrics,
    begun: Instant,
    ticks: Interval,
    streams: BTreeMap<String, One>,
    /// Limits the lines of the server itself.
    sparing: Sparing,
    /// Receives each event as a line of JSON. `None` means that no program reads events.
    watcher: Option<Watcher>,
}

/// Receiver of events.
type Watcher = Box<dyn Fn(&str)>;

/// A stream. Each stream has a separate limit of lines.
struct One {
    /// Figures of the last line, if they belong to the present run of the stream.
    last: Option<Arc<live::Stats>>,
    /// Time at which the last line was written.
    written: Instant,
    /// Number of the stream.
    number: Option<String>,
    /// The last line, which the metrics use.
    line: Value,
    sparing: Sparing,
}

impl One {
    fn new() -> One {
        let now = Instant::now();
        One { last: None, written: now, number: None, line: Value::Null, sparing: Sparing::new(now) }
    }
}

impl Many {
    /// Must be called inside a tokio runtime.
    pub(crate) fn new(stats: Stats, metrics: Metrics) -> Many {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let begun = Instant::now();
        let (streams, sparing) = (BTreeMap::new(), Sparing::new(begun));
        Many { stats, metrics, begun, ticks, streams, sparing, watcher: None }
    }

    /// Passes each event to `watcher` as a line of JSON. The last line of each stream is kept for [`Many::lines`], even
    /// if no statistics are written.
    pub(crate) fn watch(&mut self, watcher: impl Fn(&str) + 'static) {
        self.watcher = Some(Box::new(watcher));
    }

    /// Returns the last line of each stream. Before the first [`Many::look`] the result is empty.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.streams.values().map(|one| one.line.clone()).filter(|line| !line.is_null()).collect()
    }

    /// Returns whether a program or a file needs lines of figures.
    fn needs_lines(&self) -> bool {
        self.watcher.is_some() || self.stats.is_on() || self.metrics.is_on()
    }

    /// Shows only the streams with these names from now on.
    pub(crate) fn only<'a>(&mut self, names: impl Iterator<Item = &'a str> + Clone) {
        self.streams.retain(|known, _| names.clone().any(|name| name == known));
        for name in names {
            self.streams.entry(name.to_owned()).or_insert_with(One::new);
        }
    }

    /// Shows an event of the stream `name`, with this text.
    pub(crate) fn event(&mut self, name: &str, event: &Event, text: &str) {
        let uptime = self.begun.elapsed().as_secs_f64();
        // If the stream was removed from the configuration, its last events are still shown.
        let mut gone = One::new();
        let one = self.streams.get_mut(name).unwrap_or(&mut gone);
        let left_out = match event {
            Event::Stats(stats) => return self.figures(name, stats),
            Event::Missed(missed) => return one.sparing.omit(*missed),
            Event::Stream { what, .. } if !what.has_line() => 0,
            Event::Diagnostic(_) | Event::Received(_) => {
                text.lines().for_each(|line| print::line(&format!("{name}: {line}")));
                0
            }
            _ => match one.sparing.admits(Instant::now()) {
                Some(left_out) => {
                    print::line(&format!("{name}: {}", counted(text, left_out)));
                    left_out
                }
                None => return,
            },
        };
        let line = EventLine::of(event, text, Role::Receive, one.number.as_deref(), left_out);
        put(&mut self.stats, self.watcher.as_ref(), Line::now(uptime, &line).named(Some(name)));
        if matches!(event, Event::Received(_)) {
            (one.last, one.number) = (None, None);
        }
    }

    /// Shows an event of the server itself.
    pub(crate) fn door(&mut self, event: &Event, text: &str) {
        let Some(left_out) = self.sparing.admits(Instant::now()) else { return };
        print::line(&counted(text, left_out));
        let line = EventLine::of(event, text, Role::Receive, None, left_out);
        let line = Line::now(self.begun.elapsed().as_secs_f64(), &line);
        put(&mut self.stats, self.watcher.as_ref(), line);
    }

    /// Shows an event of a kind that only servers have.
    pub(crate) fn server(&mut self, event: &str, name: Option<&str>, text: &str, fields: Map<String, Value>) {
        let Some(left_out) = self.sparing.admits(Instant::now()) else { return };
        print::line(&counted(text, left_out));
        let line = EventLine::of_command(event, text, Role::Receive, fields, left_out);
        let line = Line::now(self.begun.elapsed().as_secs_f64(), &line).named(name);
        put(&mut self.stats, self.watcher.as_ref(), line);
    }

    /// Counts events that were dropped before they reached this function.
    pub(crate) fn omit(&mut self, events: u64) {
        self.sparing.omit(events);
    }

    fn figures(&mut self, name: &str, now: &Arc<live::Stats>) {
        let needs_lines = self.needs_lines();
        let Some(one) = self.streams.get_mut(name) else { return };
        if one.number != now.stream {
            one.number.clone_from(&now.stream);
            one.last = None;
        }
        let since = |last: &Arc<live::Stats>| now.seconds - last.seconds;
        if one.last.as_ref().is_some_and(|last| since(last) < ALMOST * EVERY.as_secs_f64()) {
            return;
        }
        let figures = one.last.as_ref().map_or_else(|| (**now).clone(), |last| now.since(last));
        one.last = Some(Arc::clone(now));
        one.written = Instant::now();
        if needs_lines {
            let line = Line::now(self.begun.elapsed().as_secs_f64(), &figures).named(Some(name));
            self.stats.write(&line.text());
            one.line = line.value();
        }
    }

    /// Waits for the next call of [`Many::look`]. Cancel safe.
    pub(crate) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// Writes a line for each stream that has no figures. Writes the metrics of all streams.
    pub(crate) fn look(&mut self) {
        if !self.needs_lines() {
            return;
        }
        let uptime = self.begun.elapsed().as_secs_f64();
        for (name, one) in &mut self.streams {
            let since = one.written.elapsed();
            let waits = if one.last.is_some() { EVERY.mul_f64(1.5) } else { EVERY.mul_f64(ALMOST) };
            if since < waits && !one.line.is_null() {
                continue;
            }
            let state = if one.number.is_some() { StreamState::Outage } else { StreamState::Waiting };
            // The next figures must not be compared with figures from before the gap.
            (one.last, one.written) = (None, Instant::now());
            let stream = one.number.as_deref();
            let idle = IdleLine { interval_s: since.as_secs_f64(), role: Role::Receive, stream, state };
            let line = Line::now(uptime, &idle).named(Some(name));
            self.stats.write(&line.text());
            one.line = line.value();
        }
        if self.metrics.is_on() {
            let lines: Vec<Value> = self.streams.values().map(|one| one.line.clone()).collect();
            self.metrics.write(lines);
        }
    }

    /// Opens the file of the statistics again, or prints the reason why it cannot.
    pub(crate) fn reopen(&mut self) {
        match self.stats.reopen() {
            Ok(_) => {}
            Err(error @ (CliError::Media(_) | CliError::Store(_))) => {
                print::line(&format!("statistics: {error}"));
            }
            Err(error) => print::line(&error.to_string()),
        }
    }
}

/// Writes the line of an event to the statistics, and passes the line to the watcher.
fn put(stats: &mut Stats, watcher: Option<&Watcher>, line: Line<'_, EventLine<'_>>) {
    if !stats.is_on() && watcher.is_none() {
        return;
    }
    let text = line.text();
    stats.write(&text);
    watcher.into_iter().for_each(|watcher| watcher(&text));
}
