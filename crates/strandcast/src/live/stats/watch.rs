//! A series of snapshots of a stream.

use std::collections::VecDeque;
use std::sync::Arc;

use strandcast_net::driver;
use strandcast_proto::coding::CodingStats;

use super::buffers::BuffersNow;
use super::coding::{CodingNow, Sides, sum};
use super::diagnostics::{Diagnostic, Diagnostics};
use super::snapshot::{
    GivenUpNow, LinkMonitorNow, MediaNow, PathCounters, PathNow, Role, Stats, StreamState, path_now,
};
use super::totals::{Counted, PathTotal, Totals};
use super::wire::WireCounts;

/// Time in seconds over which rates are computed.
const INTERVAL_S: f64 = 0.99;
/// Time in seconds over which losses are computed.
const LOSS_S: f64 = 10.0;
/// Maximum number of paths of a receiver, whose peer may name new paths without end.
const MOST_PATHS: usize = 32;

/// Stream of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct Subject<'a> {
    /// Name of the peer.
    pub peer: &'a str,
    /// Number of the stream.
    pub stream: Option<u32>,
    /// State of the stream.
    pub state: StreamState,
}

/// Makes snapshots, and keeps the last ones.
#[derive(Debug)]
pub struct Watch {
    role: Role,
    totals: Totals,
    diagnostics: Diagnostics,
    /// Counters of symbols: the sum over previous associations of the stream, and the counters of the present
    /// association.
    coding: (CodingStats, CodingStats),
    /// Counts of bytes: the sum over previous associations of the stream, and the counts of the present association.
    wire: (WireCounts, WireCounts),
    /// The snapshots of the last 10 s.
    last: VecDeque<Arc<Stats>>,
}

impl Watch {
    /// Makes a watch without a snapshot.
    pub fn new(role: Role) -> Self {
        let (totals, diagnostics, coding, wire, last) = Default::default();
        Watch { role, totals, diagnostics, coding, wire, last }
    }

    /// Takes a snapshot. `seconds` is the time since the start of the stream. Returns the snapshot, and diagnostics to
    /// report.
    pub fn sample(
        &mut self,
        seconds: f64,
        subject: &Subject<'_>,
        media: MediaNow,
        seen: &driver::Snapshot,
    ) -> (Arc<Stats>, Vec<Diagnostic>) {
        let diagnostics = self.diagnostics.update(seen.at, &seen.scheme, &seen.diagnostics);
        self.coding.1 = seen.stats.coding;
        self.wire.1 = WireCounts::of(&seen.stats);
        let sides = Sides { sends: seen.coding_out, receives: seen.coding_in };
        let mut stats = Stats {
            seconds,
            interval_s: 0.0,
            role: self.role,
            stream: subject.stream.map(|stream| format!("{stream:08x}")),
            state: subject.state,
            peer: subject.peer.to_owned(),
            scheme: seen.scheme.clone(),
            media,
            buffers: BuffersNow::of(&seen.buffers, &seen.stats, seen.at),
            wire: self.wire.0.plus(self.wire.1).now(),
            advice: seen.stats.advice.map(Into::into),
            paths: self.paths(seconds, seen),
            diagnostics: seen.diagnostics.clone(),
            counters: seen.counters.iter().copied().collect(),
            given_up: GivenUpNow::of(&seen.stats),
            coding: CodingNow::of(&sum(&self.coding.0, &self.coding.1), sides),
            link_monitor: LinkMonitorNow::of(&seen.monitor),
        };
        self.last.retain(|before| seconds - before.seconds <= LOSS_S + 0.01);
        let before = self.last.iter().rev().find(|before| seconds - before.seconds >= INTERVAL_S);
        stats.set_rates(before.or(self.last.front()).map(|before| &**before));
        stats.set_losses(self.last.front().map(|before| &**before));
        let stats = Arc::new(stats);
        self.last.push_back(Arc::clone(&stats));
        (stats, diagnostics)
    }

    /// Returns the paths with their totals.
    fn paths(&mut self, seconds: f64, seen: &driver::Snapshot) -> Vec<PathNow> {
        let totals = seen.paths.iter().map(|path| {
            let row = path_now(self.role, seen.at, PathCounters::from(path));
            PathTotal {
                id: path.view.id,
                link: (self.role != Role::Receive).then_some(path.tuple.link),
                counted: Counted::of(&row),
                row,
            }
        });
        self.totals.update(seconds, totals);
        if self.role == Role::Receive {
            self.totals.forget(MOST_PATHS);
        }
        self.totals.rows()
    }

    /// Resets for another association of the same stream, whose counters start at zero.
    pub fn restart(&mut self) {
        self.coding = (sum(&self.coding.0, &self.coding.1), CodingStats::default());
        self.wire = (self.wire.0.plus(self.wire.1), WireCounts::default());
        self.totals.restart();
        self.diagnostics.restart();
    }

    /// Resets for a stream that starts again, or for another stream. No data of this stream have been coded or sent
    /// yet, and the stream has no snapshot. A receiver counts the paths of each stream from its start. A sender has one
    /// stream, and counts its links from the start of the command.
    pub fn restart_stream(&mut self) {
        (self.coding, self.wire) = Default::default();
        self.last.clear();
        if self.role == Role::Receive {
            self.totals = Totals::default();
        }
    }

    /// The last snapshot.
    pub fn last(&self) -> Option<&Stats> {
        self.last.back().map(|last| &**last)
    }

    /// Returns the paths with their totals since the start.
    pub fn path_totals(&self) -> Vec<PathNow> {
        self.totals.rows()
    }

    /// Returns diagnostics that are not reported yet, at the end of a stream.
    pub fn rest(&mut self) -> Vec<Diagnostic> {
        self.diagnostics.rest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_stream_does_not_end_with_the_figures_of_the_one_before() {
        let mut watch = Watch::new(Role::Receive);
        watch.last.push_back(Arc::new(Stats { seconds: 7.0, ..Stats::default() }));
        watch.restart();
        assert!(watch.last().is_some(), "it is the same stream over another association");
        watch.restart_stream();
        assert!(watch.last().is_none());
    }
}
