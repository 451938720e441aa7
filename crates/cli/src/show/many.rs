//! Lines, statistics and metrics of a server's streams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use strandcast::live::lines::{Line, Lines};
use strandcast::live::{self, Event, Role};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::metrics::Metrics;
use super::stats::Stats;
use crate::error::CliError;
use crate::print;
use crate::sparing::{Sparing, counted};

/// Interval between two calls of [`Many::look`].
const EVERY: Duration = Duration::from_secs(1);

/// Shows the streams of a server.
pub(crate) struct Many {
    stats: Stats,
    metrics: Metrics,
    begun: Instant,
    /// Lines of the server itself.
    own: Lines,
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
    lines: Lines,
    /// The last line, which the metrics use.
    line: Value,
    sparing: Sparing,
}

impl One {
    fn new(name: &str, begun: Instant) -> One {
        let (lines, sparing) = (Lines::named(name, begun), Sparing::new(Instant::now()));
        One { lines, line: Value::Null, sparing }
    }
}

impl Many {
    /// Must be called inside a tokio runtime.
    pub(crate) fn new(stats: Stats, metrics: Metrics) -> Many {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let begun = Instant::now();
        let (streams, sparing, own) =
            (BTreeMap::new(), Sparing::new(begun), Lines::new(Role::Receive, begun));
        Many { stats, metrics, begun, own, ticks, streams, sparing, watcher: None }
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
            self.streams.entry(name.to_owned()).or_insert_with(|| One::new(name, self.begun));
        }
    }

    /// Shows an event of the stream `name`, with this text.
    pub(crate) fn event(&mut self, name: &str, event: &Event, text: &str) {
        // If the stream was removed from the configuration, its last events are still shown.
        let mut gone = One::new(name, self.begun);
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
        put(&mut self.stats, self.watcher.as_ref(), || one.lines.event(event, text, left_out));
        if matches!(event, Event::Received(_)) {
            one.lines.end();
        }
    }

    /// Shows an event of the server itself.
    pub(crate) fn door(&mut self, event: &Event, text: &str) {
        let Some(left_out) = self.sparing.admits(Instant::now()) else { return };
        print::line(&counted(text, left_out));
        put(&mut self.stats, self.watcher.as_ref(), || self.own.event(event, text, left_out));
    }

    /// Shows an event of a kind that only servers have.
    pub(crate) fn server(&mut self, event: &str, name: Option<&str>, text: &str, fields: Value) {
        let Some(left_out) = self.sparing.admits(Instant::now()) else { return };
        print::line(&counted(text, left_out));
        put(&mut self.stats, self.watcher.as_ref(), || {
            let line = self.own.own_event(event, text, fields, left_out);
            match name {
                Some(name) => line.named(name),
                None => line,
            }
        });
    }

    /// Counts events that were dropped before they reached this function.
    pub(crate) fn omit(&mut self, events: u64) {
        self.sparing.omit(events);
    }

    fn figures(&mut self, name: &str, now: &Arc<live::Stats>) {
        let needs_lines = self.needs_lines();
        let Some(one) = self.streams.get_mut(name) else { return };
        if let Some(line) = one.lines.figures(now).filter(|_| needs_lines) {
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
        for one in self.streams.values_mut() {
            if !one.lines.is_idle() && !one.line.is_null() {
                continue;
            }
            let line = one.lines.idle();
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
fn put(stats: &mut Stats, watcher: Option<&Watcher>, line: impl FnOnce() -> Line) {
    if !stats.is_on() && watcher.is_none() {
        return;
    }
    let text = line().text();
    stats.write(&text);
    watcher.into_iter().for_each(|watcher| watcher(&text));
}
