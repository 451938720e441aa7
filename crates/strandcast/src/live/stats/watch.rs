//! A series of snapshots of a stream.

use std::sync::Arc;

use strandcast_net::driver;
use strandcast_proto::coding::CodingStats;

use super::buffers::BuffersNow;
use super::coding::{CodingNow, Sides, sum};
use super::diagnostics::{Diagnostic, Diagnostics};
use super::snapshot::{
    GivenUpNow, LinkMonitorNow, MediaNow, PathCounters, PathNow, Role, Sampler, Stats, payload,
};
use super::totals::{Counted, PathTotal, Totals};
use super::wire::WireNow;

/// Makes snapshots, and keeps the last one.
#[derive(Debug)]
pub struct Watch {
    role: Role,
    sampler: Sampler,
    totals: Totals,
    diagnostics: Diagnostics,
    /// Symbol counters of previous associations of the stream, and of this one.
    coding: (CodingStats, CodingStats),
    last: Option<Arc<Stats>>,
}

impl Watch {
    /// Watch without a snapshot.
    pub fn new(role: Role) -> Self {
        let (totals, diagnostics, coding, last) = Default::default();
        Watch { role, sampler: Sampler::new(role), totals, diagnostics, coding, last }
    }

    /// Takes a snapshot, `seconds` after the start of the stream. Returns the snapshot, and diagnostics to report.
    pub fn sample(
        &mut self,
        seconds: f64,
        peer: &str,
        media: MediaNow,
        seen: &driver::Snapshot,
    ) -> (Arc<Stats>, Vec<Diagnostic>) {
        let diagnostics = self.diagnostics.update(seen.at, &seen.scheme, &seen.diagnostics);
        self.coding.1 = seen.stats.coding;
        let sides = Sides { sends: seen.coding_out, receives: seen.coding_in };
        let stats = Stats {
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
        let totals = seen.paths.iter().zip(&stats.paths).map(|(path, row)| PathTotal {
            id: path.view.id,
            link: Some(path.tuple.link),
            counted: Counted::of(seen.at, &path.stats, payload(self.role, &path.stats)),
            row: row.clone(),
        });
        // A receiver's paths have names of its peer, in any number, and its summary has no totals of them.
        if self.role != Role::Receive {
            self.totals.update(seconds, totals);
        }
        let stats = Arc::new(stats);
        self.last = Some(Arc::clone(&stats));
        (stats, diagnostics)
    }

    /// Resets for another association of the same stream, whose counters start at zero.
    pub fn restart(&mut self) {
        self.coding = (sum(&self.coding.0, &self.coding.1), CodingStats::default());
        self.sampler = Sampler::new(self.role);
        self.totals.restart();
        self.diagnostics.restart();
    }

    /// Resets for a stream that starts again, or for another one: none of its data are coded yet, and it has no snapshot.
    pub fn restart_stream(&mut self) {
        self.coding = Default::default();
        self.last = None;
    }

    /// The last snapshot.
    pub fn last(&self) -> Option<&Stats> {
        self.last.as_deref()
    }

    /// Paths with their totals since the start.
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
        watch.last = Some(Arc::new(Stats { seconds: 7.0, ..Stats::default() }));
        watch.restart();
        assert!(watch.last().is_some(), "it is the same stream over another association");
        watch.restart_stream();
        assert!(watch.last().is_none());
    }
}
