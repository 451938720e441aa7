//! Shows a running stream in a table and in lines, and writes its statistics and metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use strandcast::live::lines::{Line, Lines};
use strandcast::live::{self, Event, Role, StreamState};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::metrics::Metrics;
use super::screen::Screen;
use super::stats::Stats;
use super::table::{Recent, idle, table};
use crate::error::CliError;
use crate::print;
use crate::sparing::{Sparing, counted};

/// Interval between two calls of [`Monitor::look`].
const EVERY: Duration = Duration::from_secs(1);

/// Shows a running stream.
pub(crate) struct Monitor {
    screen: Screen,
    stats: Stats,
    metrics: Metrics,
    lines: Lines,
    ticks: Interval,
    recent: Recent,
    /// Limits lines and events, so that no peer can fill a disk.
    sparing: Sparing,
    /// Name of the stream in the API, and the receiver of events. `None` means that there is no API.
    watcher: Option<(String, Watcher)>,
    /// The last line of figures, which the API shows.
    line: Value,
}

/// A receiver of events, which get each event as a line of JSON.
type Watcher = Box<dyn Fn(&str)>;

impl Monitor {
    /// Shows a table if standard error is a terminal and the statistics are not written to it. Must be called inside a
    /// tokio runtime.
    pub(crate) fn new(role: Role, stats: Stats, metrics: Metrics) -> Self {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (screen, now) = (Screen::new(!stats.on_standard_error()), Instant::now());
        Monitor {
            screen,
            stats,
            metrics,
            lines: Lines::new(role, now),
            ticks,
            recent: Recent::default(),
            sparing: Sparing::new(now),
            watcher: None,
            line: Value::Null,
        }
    }

    /// Passes each event to `watcher` as a line of JSON. The last line of figures is kept for [`Monitor::figures`].
    /// `name` is the name of the stream in these lines.
    pub(crate) fn watch(&mut self, name: &str, watcher: impl Fn(&str) + 'static) {
        self.watcher = Some((name.to_owned(), Box::new(watcher)));
    }

    /// Returns the last line, with or without figures. Returns null before the first line.
    pub(crate) fn figures(&self) -> &Value {
        &self.line
    }

    /// Shows an event of the command itself.
    pub(crate) fn command(&mut self, event: &str, text: &str, fields: Value) {
        if let Some(left_out) = self.sparing.admits(Instant::now()) {
            self.screen.line(&counted(text, left_out));
            self.put(|lines| lines.own_event(event, text, fields, left_out));
        }
    }

    /// Writes the line of an event to the statistics, and passes the line to the watcher.
    fn put(&mut self, line: impl FnOnce(&Lines) -> Line) {
        if self.stats.is_on() || self.watcher.is_some() {
            let text = line(&self.lines).text();
            self.stats.write(&text);
            self.watcher.iter().for_each(|(_, watcher)| watcher(&text));
        }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Stats(stats) => self.show(stats),
            Event::Missed(missed) => self.sparing.omit(*missed),
            Event::Stream { what, .. } if !what.has_line() => self.record(event, &event.to_string(), 0),
            Event::Diagnostic(diagnostic) => {
                let text = diagnostic.to_string();
                self.last_line(&text);
                self.record(event, &text, 0);
            }
            event => self.event_as(event, &event.to_string()),
        }
    }

    /// Shows an event with this text, unless too many lines were printed recently.
    pub(crate) fn event_as(&mut self, event: &Event, text: &str) {
        if let Some(left_out) = self.sparing.admits(Instant::now()) {
            self.screen.line(&counted(text, left_out));
            self.record(event, text, left_out);
        }
    }

    /// Shows the summary of a stream.
    pub(crate) fn summary(&mut self, event: &Event, lines: &[String]) {
        self.clear();
        lines.iter().for_each(|line| self.screen.line(line));
        self.record(event, &lines.join("\n"), 0);
        self.lines.end();
        self.recent = Recent::default();
    }

    /// Writes the line of an event to the statistics.
    fn record(&mut self, event: &Event, text: &str, left_out: u64) {
        self.put(|lines| lines.event(event, text, left_out));
    }

    /// Shows a snapshot.
    pub(crate) fn show(&mut self, now: &Arc<live::Stats>) {
        if self.lines.number() != now.stream.as_deref() {
            self.recent = Recent::default();
        }
        self.recent.update(now);
        if self.screen.is_live() {
            self.screen.table(table(now, &self.recent, self.screen.colour()));
        }
        if let Some(line) = self.lines.figures(now) {
            self.write(line);
        }
    }

    fn write(&mut self, line: Line) {
        if self.stats.is_on() || self.metrics.is_on() || self.watcher.is_some() {
            self.stats.write(&line.text());
            if self.metrics.is_on() {
                self.metrics.write(vec![line.value()]);
            }
            if let Some((name, _)) = &self.watcher {
                self.line = line.named(name).value();
            }
        }
    }

    /// Waits for the next call of [`Monitor::look`]. Cancel safe.
    pub(crate) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// Writes a line if no figures were written recently, so that a waiting command does not look like a command that
    /// hangs.
    pub(crate) fn look(&mut self) {
        if !self.lines.is_idle() {
            return;
        }
        let (state, line) = (self.lines.state(), self.lines.idle());
        self.write(line);
        if self.screen.is_live() && state != StreamState::Waiting {
            self.screen.table(idle(state, self.screen.colour()));
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

    /// Prints a permanent line, unless too many lines were printed recently. A peer can cause most kinds of lines.
    pub(crate) fn line(&mut self, text: &str) {
        self.sparing.line(Instant::now(), text, |line| self.screen.line(line));
    }

    /// Prints a permanent line without a limit, because it is printed only once. An example is a line of a summary.
    pub(crate) fn last_line(&mut self, text: &str) {
        self.screen.line(text);
    }

    /// Removes the table.
    pub(crate) fn clear(&mut self) {
        self.screen.clear();
    }
}
