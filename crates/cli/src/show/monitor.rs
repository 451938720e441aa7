//! Table and statistics of a running stream.

use super::buffers::BuffersNow;
use super::happening::{Happening, HappeningNow};
use super::remarks::Remarks;
use super::screen::Screen;
use super::snapshot::{LinkMonitorNow, MediaNow, Role, Sampler, Seen, Snapshot};
use super::stats::Stats;
use super::table::table;
use std::time::Duration;
use strandcast_net::driver;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often there is something new to see.
const TICK: Duration = Duration::from_millis(250);
/// A line of statistics every so many ticks.
const STATS_EVERY: u32 = 4;

/// Shows a stream while it runs, and keeps what was shown last.
pub(crate) struct Monitor {
    screen: Screen,
    stats: Stats,
    ticks: Interval,
    shown: u32,
    role: Role,
    sampler: Sampler,
    remarks: Remarks,
    last: Option<Snapshot>,
}

impl Monitor {
    /// A table if standard error is a terminal and not used for statistics; call it inside the runtime.
    pub(crate) fn new(role: Role, stats: Stats) -> Self {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let screen = Screen::new(!stats.on_standard_error());
        let (sampler, remarks) = (Sampler::new(role), Remarks::default());
        Monitor { screen, stats, ticks, shown: 0, role, sampler, remarks, last: None }
    }

    /// Waits until it is time to look.
    pub(crate) async fn tick(&mut self) {
        self.ticks.tick().await;
    }

    /// Shows what was seen `seconds` after the command began. Statistics that can no longer be written end with a line.
    pub(crate) fn show(&mut self, seconds: f64, peer: &str, media: MediaNow, seen: &driver::Snapshot) {
        for line in self.remarks.look(seen.at, &seen.scheme, &seen.remarks) {
            self.screen.line(&line);
        }
        let snapshot = Snapshot {
            seconds,
            role: self.role,
            peer: peer.to_owned(),
            scheme: seen.scheme.clone(),
            media,
            buffers: BuffersNow::of(&seen.buffers, &seen.stats, seen.at),
            paths: self.sampler.look(seen.at, seen.paths.iter().map(Seen::from)),
            remarks: seen.remarks.clone(),
            counters: seen.counters.iter().copied().collect(),
            link_monitor: LinkMonitorNow::of(&seen.monitor),
        };
        if self.screen.is_live() {
            self.screen.table(table(&snapshot, self.screen.colour()));
        }
        if self.shown.is_multiple_of(STATS_EVERY) {
            let end = self.stats.write(&snapshot);
            end.into_iter().for_each(|line| self.screen.line(&line));
        }
        self.shown += 1;
        self.last = Some(snapshot);
    }

    /// Another association: its counters begin anew.
    pub(crate) fn restart(&mut self) {
        self.sampler = Sampler::new(self.role);
        self.remarks.restart();
    }

    /// What was shown last.
    pub(crate) fn last(&self) -> Option<&Snapshot> {
        self.last.as_ref()
    }

    /// Tells what happened to the stream, `seconds` after it or the command began: a line, and one in the statistics.
    pub(crate) fn tell(&mut self, seconds: f64, peer: &str, what: &Happening) {
        self.screen.line(&what.to_string());
        let end = self.stats.write(&HappeningNow { seconds, role: self.role, peer, what });
        end.into_iter().for_each(|line| self.screen.line(&line));
    }

    /// A line that stays.
    pub(crate) fn line(&mut self, text: &str) {
        self.screen.line(text);
    }

    /// Takes the table away. What the scheme had to say and was not told yet is told now.
    pub(crate) fn clear(&mut self) {
        self.screen.clear();
        for line in self.remarks.rest() {
            self.screen.line(&line);
        }
    }
}
