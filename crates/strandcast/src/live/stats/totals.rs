//! Totals of each path since the command began. They include closed and reopened paths, and paths of earlier
//! associations.

use strandcast_proto::path::PathStats;
use strandcast_proto::policy::{LinkId, PathId};
use strandcast_proto::time::Instant;

use super::snapshot::PathNow;

/// Counters of a path. They begin at zero with each path of an association.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// Seconds for which the path was not usable.
    down_s: f64,
    chunks: u64,
    lost: f64,
    bytes: u64,
}

impl Counted {
    pub(super) fn of(now: Instant, stats: &PathStats, bytes: u64) -> Counted {
        let chunks = stats.chunks_sent;
        let down_s = stats.down_time(now).as_secs_f64();
        Counted { down_s, chunks, lost: stats.loss() * chunks as f64, bytes }
    }

    fn add(&mut self, other: Counted) {
        self.down_s += other.down_s;
        self.chunks += other.chunks;
        self.lost += other.lost;
        self.bytes += other.bytes;
    }
}

/// A path by its link, or by its name, which it has in every association.
#[derive(Debug)]
struct Total {
    id: PathId,
    /// Its link in the present association, whatever the name of that is.
    link: Option<LinkId>,
    /// Counters of the path as it is now, and the sum of those it had before its counters last began at zero.
    now: Counted,
    before: Counted,
    /// Time at which the path disappeared, in seconds since the command began; `None` while it exists.
    gone: Option<f64>,
    row: PathNow,
}

/// A path of an association.
#[derive(Debug)]
pub(super) struct PathTotal {
    pub(super) id: PathId,
    /// Its link in the association.
    pub(super) link: Option<LinkId>,
    pub(super) counted: Counted,
    pub(super) row: PathNow,
}

/// All paths, in the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Totals {
    paths: Vec<Total>,
    /// Time of the last update, in seconds since the command began.
    at: f64,
}

impl Totals {
    /// Takes the paths of an association, `seconds` after the start of the command.
    pub(super) fn update(&mut self, seconds: f64, paths: impl Iterator<Item = PathTotal>) {
        self.at = seconds;
        let mut seen = Vec::new();
        for PathTotal { id, link, counted, row } in paths {
            let Some(at) = self.known(&seen, link, &row.name) else {
                seen.push(self.paths.len());
                let (now, before) = (counted, Counted::default());
                self.paths.push(Total { id, link, now, before, gone: None, row });
                continue;
            };
            seen.push(at);
            let total = &mut self.paths[at];
            if let Some(gone) = total.gone.take() {
                total.before.down_s += seconds - gone;
            }
            if total.id != id || counted.bytes < total.now.bytes || counted.chunks < total.now.chunks {
                total.before.add(total.now);
            }
            (total.id, total.link, total.now, total.row) = (id, link, counted, row);
        }
        for (_, total) in self.paths.iter_mut().enumerate().filter(|(at, _)| !seen.contains(at)) {
            total.gone.get_or_insert(seconds);
        }
    }

    /// The total of a path, except those `seen` already: two at a time may have one name.
    fn known(&self, seen: &[usize], link: Option<LinkId>, name: &str) -> Option<usize> {
        let find = |fits: &dyn Fn(&Total) -> bool| {
            (0..self.paths.len()).find(|at| !seen.contains(at) && fits(&self.paths[*at]))
        };
        find(&|total| link.is_some() && total.link == link)
            .or_else(|| find(&|total| (link.is_none() || total.link.is_none()) && total.row.name == name))
    }

    /// Prepares for the loss of the association: the counters of the next one begin at zero.
    pub(super) fn restart(&mut self) {
        for total in &mut self.paths {
            total.before.add(std::mem::take(&mut total.now));
            total.link = None;
            total.gone.get_or_insert(self.at);
        }
    }

    /// The last row of each path, with its totals.
    pub(super) fn rows(&self) -> Vec<PathNow> {
        let row = |total: &Total| {
            let mut sum = total.before;
            sum.add(total.now);
            sum.down_s += total.gone.map_or(0.0, |gone| self.at - gone);
            let loss = total.row.loss.map(|_| sum.lost / sum.chunks.max(1) as f64);
            PathNow { bytes: sum.bytes, down_s: sum.down_s, loss, ..total.row.clone() }
        };
        self.paths.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(id: u8, name: &str, chunks: u64, down_s: f64) -> PathTotal {
        let counted = Counted { down_s, chunks, lost: chunks as f64 / 10.0, bytes: chunks * 1000 };
        PathTotal { id: PathId(id), link: None, counted, row: PathNow::test(name, "active") }
    }

    fn on(link: u32, path: PathTotal) -> PathTotal {
        PathTotal { link: Some(LinkId(link)), ..path }
    }

    #[test]
    fn a_link_keeps_its_total_when_it_is_renamed() {
        let mut all = Totals::default();
        all.update(1.0, [on(0, path(0, "a", 100, 0.0)), on(1, path(1, "b", 50, 0.0))].into_iter());
        all.update(2.0, [on(0, path(0, "x", 150, 0.0)), on(2, path(2, "a", 5, 0.0))].into_iter());
        let expected = [("x".into(), 150_000, 0.0), ("b".into(), 50_000, 0.0), ("a".into(), 5000, 0.0)];
        assert_eq!(totals(&all), expected);
        all.update(4.0, [on(1, path(3, "c", 10, 0.0))].into_iter());
        assert_eq!(totals(&all)[1], ("c".into(), 60_000, 2.0));
        // Names tell links apart in another association.
        all.restart();
        all.update(5.0, [on(7, path(0, "c", 1, 0.0)), on(0, path(1, "a", 1, 0.0))].into_iter());
        assert_eq!(totals(&all).iter().map(|t| t.1).collect::<Vec<_>>(), [150_000, 61_000, 6000]);
    }

    fn totals(of: &Totals) -> Vec<(String, u64, f64)> {
        of.rows().into_iter().map(|row| (row.name, row.bytes, row.down_s)).collect()
    }

    #[test]
    fn a_path_that_returns_goes_on_counting() {
        let mut all = Totals::default();
        all.update(1.0, [path(0, "a", 100, 0.0), path(1, "b", 50, 0.5)].into_iter());
        all.update(2.0, [path(0, "a", 200, 0.0)].into_iter());
        all.update(4.0, [path(0, "a", 300, 0.0)].into_iter());
        assert_eq!(totals(&all), [("a".into(), 300_000, 0.0), ("b".into(), 50_000, 2.5)]);
        // One path in another slot, and one in the same slot.
        all.update(5.0, [path(0, "a", 10, 0.0), path(2, "b", 70, 0.0)].into_iter());
        assert_eq!(totals(&all), [("a".into(), 310_000, 0.0), ("b".into(), 120_000, 3.5)]);
        // Paths of another association, in other slots.
        all.restart();
        all.update(7.0, [path(2, "b", 30, 0.25), path(3, "c", 1, 0.0), path(0, "a", 20, 0.0)].into_iter());
        let expected = [("a".into(), 330_000, 2.0), ("b".into(), 150_000, 5.75), ("c".into(), 1000, 0.0)];
        assert_eq!(totals(&all), expected);
        assert!(all.rows().iter().all(|row| row.loss.is_some_and(|loss| (loss - 0.1).abs() < 1e-9)));
    }

    #[test]
    fn two_paths_of_one_name_are_two() {
        let mut all = Totals::default();
        for seconds in 1..4 {
            let chunks = seconds * 100;
            all.update(
                seconds as f64,
                [path(0, "a", chunks, 0.0), path(1, "a", 2 * chunks, 0.0)].into_iter(),
            );
        }
        assert_eq!(totals(&all), [("a".into(), 300_000, 0.0), ("a".into(), 600_000, 0.0)]);
    }
}
