//! Table and statistics of a running stream.

use std::time::{Duration, Instant};

use strandcast_net::driver;
use strandcast_proto::coding::CodingStats;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::buffers::BuffersNow;
use super::coding::{CodingNow, Sides, sum};
use super::diagnostics::Diagnostics;
use super::event::{EventLine, StreamEvent};
use super::screen::Screen;
use super::snapshot::{
    GivenUpNow, LinkMonitorNow, MediaNow, PathCounters, PathNow, Role, Sampler, Snapshot, payload,
};
use super::stats::Stats;
use super::table::table;
use super::totals::{Counted, Totals};
use super::wire::WireNow;
use crate::sparing::{Sparing, counted};

/// Refresh interval.
const TICK: Duration = Duration::from_millis(250);
/// Ticks per line of statistics.
const STATS_EVERY: u32 = 4;

/// Shows a running stream, and keeps the last snapshot.
pub(crate) struct Monitor {
    screen: Screen,
    stats: Stats,
    ticks: Interval,
    shown: u32,
    role: Role,
    sampler: Sampler,
    totals: Totals,
    diagnostics: Diagnostics,
    /// No peer fills a disk with lines and events.
    sparing: Sparing,
    /// Symbols of previous associations of the stream, and of this one.
    coding: (CodingStats, CodingStats),
    last: Option<Snapshot>,
}

impl Monitor {
    /// A table if standard error is a terminal and not used for statistics; call it inside the runtime.
    pub(crate) fn new(role: Role, stats: Stats) -> Self {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let screen = Screen::new(!stats.on_standard_error());
        let (sampler, diagnostics) = (Sampler::new(role), Diagnostics::default());
        let (coding, sparing) = (Default::default(), Sparing::new(Instant::now()));
        let (totals, last) = Default::default();
        Monitor { screen, stats, ticks, shown: 0, role, sampler, totals, diagnostics, sparing, coding, last }
    }

    /// Waits for the next tick.
    pub(crate) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// Shows a snapshot taken `seconds` after the start of the command.
    pub(crate) fn show(&mut self, seconds: f64, peer: &str, media: MediaNow, seen: &driver::Snapshot) {
        for line in self.diagnostics.update(seen.at, &seen.scheme, &seen.diagnostics) {
            self.screen.line(&line);
        }
        self.coding.1 = seen.stats.coding;
        let sides = Sides { sends: seen.coding_out, receives: seen.coding_in };
        let snapshot = Snapshot {
            seconds,
            role: self.role,
            peer: peer.to_owned(),
            scheme: seen.scheme.clone(),
            media,
            buffers: BuffersNow::of(&seen.buffers, &seen.stats, seen.at),
            wire: WireNow::of(&seen.stats),
            advice: seen.stats.advice.map(Into::into),
            paths: self.sampler.sample(seen.at, seen.paths.iter().map(PathCounters::from)),
            diagnostics: seen.diagnostics.clone(),
            counters: seen.counters.iter().copied().collect(),
            given_up: GivenUpNow::of(&seen.stats),
            coding: CodingNow::of(&sum(&self.coding.0, &self.coding.1), sides),
            link_monitor: LinkMonitorNow::of(&seen.monitor),
        };
        if self.screen.is_live() {
            self.screen.table(table(&snapshot, self.screen.colour()));
        }
        if self.shown.is_multiple_of(STATS_EVERY) {
            self.stats.write(&snapshot);
        }
        self.shown += 1;
        let counted = seen
            .paths
            .iter()
            .map(|path| (path.view.id, Counted::of(seen.at, &path.stats, payload(self.role, &path.stats))));
        let rows = counted.zip(&snapshot.paths).map(|((id, counted), row)| (id, counted, row.clone()));
        self.totals.update(seconds, rows);
        self.last = Some(snapshot);
    }

    /// Resets for another association of the same stream, whose counters start at zero.
    pub(crate) fn restart(&mut self) {
        self.coding = (sum(&self.coding.0, &self.coding.1), CodingStats::default());
        self.sampler = Sampler::new(self.role);
        self.totals.restart();
        self.diagnostics.restart();
    }

    /// The stream starts again, or is another one: nothing of it was coded yet.
    pub(crate) fn restart_stream(&mut self) {
        self.coding = Default::default();
    }

    /// The last snapshot.
    pub(crate) fn last(&self) -> Option<&Snapshot> {
        self.last.as_ref()
    }

    /// The paths, with what they carried since the command began.
    pub(crate) fn path_totals(&self) -> Vec<PathNow> {
        self.totals.rows()
    }

    /// Reports an event of the stream, `seconds` after the start of the stream or command: a line, and one in the
    /// statistics, unless there were too many of late.
    pub(crate) fn report(&mut self, seconds: f64, peer: &str, what: &StreamEvent) {
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

    /// Removes the table and reports the scheme's pending diagnostics.
    pub(crate) fn clear(&mut self) {
        self.screen.clear();
        for line in self.diagnostics.rest() {
            self.screen.line(&line);
        }
    }
}
