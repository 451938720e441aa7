//! Totals of each path of a stream. The totals include closed and reopened paths, and paths of earlier associations.

use strandcast_proto::policy::{LinkId, PathId};

use super::snapshot::PathNow;

/// Counters of a path. They begin at zero for each path of an association.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    /// Seconds for which the path was not usable.
    down_s: f64,
    chunks: u64,
    lost: u64,
    bytes: u64,
}

impl Counted {
    pub(super) fn of(row: &PathNow) -> Counted {
        Counted { down_s: row.down_s, chunks: row.chunks, lost: row.chunks_lost, bytes: row.bytes }
    }

    fn add(&mut self, other: Counted) {
        self.down_s += other.down_s;
        self.chunks += other.chunks;
        self.lost += other.lost;
        self.bytes += other.bytes;
    }
}

/// Totals of a path. The path is identified by its link, or by its name, which is the same in every association.
#[derive(Debug)]
struct Total {
    number: u32,
    id: PathId,
    /// Link of the path in the present association, which may have any name.
    link: Option<LinkId>,
    /// Present counters of the path, and the sum of its counters up to their last start at zero.
    now: Counted,
    before: Counted,
    /// Time in seconds at which the path disappeared, on the clock of the updates. `None` while the path exists.
    gone: Option<f64>,
    row: PathNow,
}

/// A path of an association.
#[derive(Debug)]
pub(super) struct PathTotal {
    pub(super) id: PathId,
    /// Link of the path in the association.
    pub(super) link: Option<LinkId>,
    pub(super) counted: Counted,
    pub(super) row: PathNow,
}

/// All paths, in the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Totals {
    paths: Vec<Total>,
    /// Number of the next path.
    next: u32,
    /// Time of the last update, in seconds.
    at: f64,
}

impl Totals {
    /// Adds the paths of an association at the time `seconds`. The clock continues over all associations.
    pub(super) fn update(&mut self, seconds: f64, paths: impl Iterator<Item = PathTotal>) {
        self.at = seconds;
        let mut seen = Vec::new();
        for PathTotal { id, link, counted, row } in paths {
            let known = self.known(&seen, id, link, &row.name).map(|at| self.merged(&mut seen, at, id, link));
            let Some(at) = known else {
                seen.push(self.paths.len());
                let (now, before, number) = (counted, Counted::default(), self.next);
                self.next = self.next.wrapping_add(1);
                self.paths.push(Total { number, id, link, now, before, gone: None, row });
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

    /// If there are more than `most` paths, removes the oldest paths that no longer exist. Without a limit, a peer
    /// could name new paths without end.
    pub(super) fn forget(&mut self, most: usize) {
        let mut excess = self.paths.len().saturating_sub(most);
        self.paths.retain(|total| {
            let goes = excess > 0 && total.gone.is_some();
            excess -= usize::from(goes);
            !goes
        });
    }

    /// Returns the index of the totals of a path. Totals that were already `seen` are skipped, because two paths may
    /// have the same name at the same time. At a receiver, paths have no link and are identified by name. The sender
    /// may report this name later, and may change the name.
    fn known(&self, seen: &[usize], id: PathId, link: Option<LinkId>, name: &str) -> Option<usize> {
        let find = |fits: &dyn Fn(&Total) -> bool| {
            (0..self.paths.len()).find(|at| !seen.contains(at) && fits(&self.paths[*at]))
        };
        find(&|total| link.is_some() && total.link == link)
            .or_else(|| find(&|total| (link.is_none() || total.link.is_none()) && total.row.name == name))
            .or_else(|| find(&|total| link.is_none() && total.gone.is_none() && total.id == id))
    }

    /// A path without a link has one total from before its name was known. This function merges that total into the
    /// total of the name. Returns the index of the merged total.
    fn merged(&mut self, seen: &mut [usize], at: usize, id: PathId, link: Option<LinkId>) -> usize {
        let unnamed = |(n, total): (usize, &Total)| {
            let other = n != at && link.is_none() && total.link.is_none() && !seen.contains(&n);
            (other && total.gone.is_none() && total.id == id).then_some(n)
        };
        let gone = self.paths[at].gone.is_some();
        let Some(n) = self.paths.iter().enumerate().find_map(unnamed).filter(|_| gone) else { return at };
        let before = self.paths.remove(n).before;
        seen.iter_mut().for_each(|seen| *seen -= usize::from(*seen > n));
        let at = at - usize::from(at > n);
        self.paths[at].before.add(before);
        at
    }

    /// Prepares for the loss of the association, because the counters of the next association begin at zero.
    pub(super) fn restart(&mut self) {
        for total in &mut self.paths {
            total.before.add(std::mem::take(&mut total.now));
            total.link = None;
            total.gone.get_or_insert(self.at);
        }
    }

    /// Returns the last row of each path with its totals. A path that no longer exists has the state `closed` and
    /// carries no data.
    pub(super) fn rows(&self) -> Vec<PathNow> {
        let row = |total: &Total| {
            let mut sum = total.before;
            sum.add(total.now);
            sum.down_s += total.gone.map_or(0.0, |gone| self.at - gone);
            let loss_total = total.row.loss_total.map(|_| sum.lost as f64 / sum.chunks.max(1) as f64);
            let (id, chunks, chunks_lost) = (total.number, sum.chunks, sum.lost);
            let row = total.row.clone();
            let row =
                PathNow { id, bytes: sum.bytes, down_s: sum.down_s, loss_total, chunks, chunks_lost, ..row };
            if total.gone.is_none() {
                return row;
            }
            let estimates = Default::default();
            let (capacity_bps, rtt_ms, in_flight_bytes) = (None, None, 0);
            PathNow {
                state: "closed",
                rate_bps: 0.0,
                capacity_bps,
                rtt_ms,
                in_flight_bytes,
                estimates,
                ..row
            }
        };
        self.paths.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(id: u8, name: &str, chunks: u64, down_s: f64) -> PathTotal {
        let counted = Counted { down_s, chunks, lost: chunks / 10, bytes: chunks * 1000 };
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
        // In another association, names distinguish the links.
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
        // One path moves to another slot, and one path stays in its slot.
        all.update(5.0, [path(0, "a", 10, 0.0), path(2, "b", 70, 0.0)].into_iter());
        assert_eq!(totals(&all), [("a".into(), 310_000, 0.0), ("b".into(), 120_000, 3.5)]);
        // The paths belong to another association and use other slots.
        all.restart();
        all.update(7.0, [path(2, "b", 30, 0.25), path(3, "c", 1, 0.0), path(0, "a", 20, 0.0)].into_iter());
        let expected = [("a".into(), 330_000, 2.0), ("b".into(), 150_000, 5.75), ("c".into(), 1000, 0.0)];
        assert_eq!(totals(&all), expected);
        // One of ten packets was lost on one path. The single packet of the other path arrived.
        let losses: Vec<f64> = all.rows().iter().map(|row| row.loss_total.expect("counted")).collect();
        assert!(losses[..2].iter().all(|loss| (loss - 0.1).abs() < 1e-2) && losses[2] == 0.0, "{losses:?}");
    }

    /// A receiver takes the names of its paths from its peer, which sends them a moment later.
    #[test]
    fn a_path_is_known_by_the_name_that_its_peer_tells() {
        let mut all = Totals::default();
        all.update(1.0, [path(0, "10.0.0.1:5", 1, 0.0), path(1, "10.0.1.1:5", 2, 0.0)].into_iter());
        all.update(2.0, [path(0, "wlan0", 10, 0.0), path(1, "wwan0", 20, 0.0)].into_iter());
        assert_eq!(totals(&all), [("wlan0".into(), 10_000, 0.0), ("wwan0".into(), 20_000, 0.0)]);
        all.restart();
        all.update(3.0, [path(0, "10.0.1.1:7", 3, 0.0), path(1, "10.0.0.1:7", 4, 0.0)].into_iter());
        all.update(4.0, [path(0, "wwan0", 5, 0.0), path(1, "wlan0", 6, 0.0)].into_iter());
        assert_eq!(totals(&all).iter().map(|t| t.1).collect::<Vec<_>>(), [16_000, 25_000]);
        // Renamed.
        all.update(5.0, [path(0, "wan0", 7, 0.0), path(1, "wlan0", 8, 0.0)].into_iter());
        assert_eq!(totals(&all).iter().map(|t| t.1).collect::<Vec<_>>(), [18_000, 27_000]);
        let numbers: Vec<u32> = all.rows().iter().map(|row| row.id).collect();
        assert_eq!(numbers, [0, 1]);
    }

    #[test]
    fn a_peer_that_names_ever_new_paths_fills_no_memory() {
        let mut all = Totals::default();
        for n in 0..1000_u32 {
            all.update(f64::from(n), [path(n as u8, &format!("{n}"), 1, 0.0)].into_iter());
            all.forget(4);
        }
        assert_eq!(all.rows().len(), 4);
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
