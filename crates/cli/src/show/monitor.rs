//! Table, lines and statistics of a running stream.

use std::time::Instant;

use strandcast::live::{self, Event, Role, StreamEvent};

use super::line::EventLine;
use super::screen::Screen;
use super::stats::Stats;
use super::table::table;
use crate::sparing::{Sparing, counted};

/// Snapshots per line of statistics: there are four a second.
const STATS_EVERY: u32 = 4;

/// Shows a running stream.
pub(crate) struct Monitor {
    screen: Screen,
    stats: Stats,
    shown: u32,
    role: Role,
    /// No peer fills a disk with lines and events.
    sparing: Sparing,
}

impl Monitor {
    /// A table if standard error is a terminal and not used for statistics.
    pub(crate) fn new(role: Role, stats: Stats) -> Self {
        let screen = Screen::new(!stats.on_standard_error());
        Monitor { screen, stats, shown: 0, role, sparing: Sparing::new(Instant::now()) }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event) {
        match event {
            Event::Stats(stats) => self.show(stats),
            Event::Missed(missed) => self.sparing.omit(*missed),
            Event::Stream { seconds, peer, what } => self.report(*seconds, peer, what),
            Event::Diagnostic(diagnostic) => self.last_line(&diagnostic.to_string()),
            event => self.line(&event.to_string()),
        }
    }

    /// Shows a snapshot.
    pub(crate) fn show(&mut self, now: &live::Stats) {
        if self.screen.is_live() {
            self.screen.table(table(now, self.screen.colour()));
        }
        if self.shown.is_multiple_of(STATS_EVERY) {
            self.stats.write(now);
        }
        self.shown += 1;
    }

    /// Reports an event of the stream, `seconds` after the start of the stream or command: a line, and one in the
    /// statistics, unless there were too many of late.
    fn report(&mut self, seconds: f64, peer: &str, what: &StreamEvent) {
        if let Some(left_out) = self.sparing.admits(Instant::now()) {
            self.screen.line(&counted(&what.to_string(), left_out));
            self.stats.write(&EventLine { seconds, role: self.role, peer, what, left_out });
        }
    }

    /// Prints a permanent line, unless there were too many of late: a peer can cause most of them.
    pub(crate) fn line(&mut self, text: &str) {
        self.sparing.line(Instant::now(), text, |line| self.screen.line(line));
    }

    /// Prints a permanent line that comes once, as those of a summary at the end.
    pub(crate) fn last_line(&mut self, text: &str) {
        self.screen.line(text);
    }

    /// Removes the table.
    pub(crate) fn clear(&mut self) {
        self.screen.clear();
    }
}
