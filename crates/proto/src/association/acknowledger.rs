//! Times and paths of acknowledgements (RFC 9260 §6.2).

use smallvec::SmallVec;

use super::path_table::PathTable;
use crate::policy::{PathId, PathSet, PathState, PathView};
use crate::time::{Duration, Instant};

/// State of acknowledgement: arrivals since the last SACK, and the time of the next one.
#[derive(Debug)]
pub(super) struct Acknowledger {
    /// Number of DATA packets since the last SACK.
    packets: u32,
    /// True if a SACK leaves as soon as possible.
    due: bool,
    via: PathId,
    timer: Option<Instant>,
    /// Path of the last SACK, and the paths by which data have arrived since that SACK.
    last_via: Option<PathId>,
    received_on: PathSet,
    /// Number of consecutive packets without new data. Packets without new data show that this side's SACKs are lost on
    /// their path.
    repeats: u32,
    /// Number of SACKs sent. The number of sent SACKs selects one of the return paths that the peer named.
    left: usize,
}

impl Acknowledger {
    pub fn new() -> Self {
        Acknowledger {
            packets: 0,
            due: false,
            via: PathId(0),
            timer: None,
            last_via: None,
            received_on: PathSet::default(),
            repeats: 0,
            left: 0,
        }
    }

    /// Records a packet with DATA that arrived by `on`. `new` is true if some of its data arrived for the first time.
    pub fn on_packet(&mut self, on: PathId, new: bool) {
        self.packets += 1;
        self.received_on.insert(on);
        self.repeats = if new { 0 } else { self.repeats + 1 };
    }

    /// Number of DATA packets since the last SACK.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Schedules a SACK on path `via`: at once, or within `delay`.
    pub fn schedule(&mut self, now: Instant, via: PathId, delay: Option<Duration>) {
        self.via = via;
        match delay {
            None => self.due = true,
            Some(delay) => self.timer = self.timer.or(Some(now + delay)),
        }
    }

    /// Schedules a SACK as soon as possible, on the path already chosen.
    pub fn want(&mut self) {
        self.due = true;
    }

    /// Moves the due SACK to `via`, another path. If `possible` is false, the SACK is dropped.
    pub fn redirect(&mut self, via: PathId, possible: bool) {
        (self.due, self.via) = (possible, via);
    }

    /// Returns the path of the due SACK.
    pub fn due(&self) -> Option<PathId> {
        self.due.then_some(self.via)
    }

    pub fn timeout(&self) -> Option<Instant> {
        self.timer
    }

    /// Handles the end of SACK.Delay.
    pub fn on_timeout(&mut self) {
        (self.timer, self.due) = (None, true);
    }

    /// Records that a SACK was sent.
    pub fn on_sent(&mut self) {
        (self.due, self.timer, self.packets) = (false, None, 0);
        self.last_via = Some(self.via);
        self.left = self.left.wrapping_add(1);
        self.received_on = PathSet::default();
    }

    /// Returns the next return path for a SACK. The peer named its return paths by wire id, and the path must work at
    /// this end. Returns `None` if no such path works. The method also returns `None` if data arrive again that had
    /// arrived before: the earlier SACK was lost.
    pub fn named_return_path(&self, paths: &PathTable, named: &[u16]) -> Option<PathId> {
        if named.is_empty() || self.repeats > 0 {
            return None;
        }
        let fine = |name: &u16| {
            let here = paths.rows().find(|(p, v)| p.wire_id == Some(*name) && v.state == PathState::Active);
            here.filter(|(_, v)| v.error_count == 0).map(|(_, v)| v.id)
        };
        let working: SmallVec<[PathId; 4]> = named.iter().filter_map(fine).collect();
        working.get(self.left % working.len().max(1)).copied()
    }

    /// Returns the path of the SACK for data that arrived by `on`. The returned path is the data's own path, unless its
    /// return direction seems dead. The return direction seems dead if the path is not active at this end. A return
    /// direction also seems dead if the same data arrive repeatedly, because then the earlier SACK was lost. SACKs then
    /// rotate over the other paths. If data arrived by several paths, the SACK takes another path than the last SACK.
    /// If paths deliver in step with SACKs, all SACKs could otherwise take one path. That path may be dead in the
    /// return direction.
    ///
    /// `tolerates_silence` is true if a total silence does not end the association. The recorded states of paths may
    /// then be older than the packet that just arrived.
    pub fn return_path(
        &self,
        now: Instant,
        paths: &PathTable,
        on: PathId,
        tolerates_silence: bool,
    ) -> PathId {
        let fine = |v: &PathView| v.state == PathState::Active && v.error_count == 0;
        let good = fine(paths.view(on.index()));
        if good && self.repeats == 0 {
            let again = self.last_via == Some(on);
            let other = self.received_on.iter().find(|p| *p != on && fine(paths.view(p.index())));
            return other.filter(|_| again).unwrap_or(on);
        }
        let others = || {
            let active = paths.views().iter().filter(|v| v.id != on && v.state == PathState::Active);
            active.filter(|v| v.error_count == 0).map(|v| v.id)
        };
        let since_received = |p: &PathId| paths[p.index()].last_received.map(|t| now - t);
        let turn = self.repeats as usize;
        if turn % 2 == 1 && (good || tolerates_silence) {
            return on;
        }
        let n = others().count();
        if n == 0 {
            return on;
        }
        if good {
            others().nth((turn / 2) % n).unwrap_or(on)
        } else {
            others().min_by_key(since_received).unwrap_or(on)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TransportConfig;
    use crate::path::{self, FourTuple, Path};

    /// Returns a table of `n` active paths.
    fn table(n: u8) -> PathTable {
        let (mut table, config) = (PathTable::default(), TransportConfig::default());
        for i in 0..n {
            let tuple = FourTuple::loopback(1 + u16::from(i), 100);
            let mut view = path::new_view(PathId(i), &tuple, &config, 1500);
            view.state = PathState::Active;
            table.put(Path::new(tuple, 1500, &config, Instant::MAX), view);
        }
        table
    }

    /// Returns the paths of the SACKs for a sequence of packets that arrive by `on`.
    fn taken(paths: &PathTable, packets: &[(u8, bool)]) -> Vec<u8> {
        let mut acks = Acknowledger::new();
        let mut went = Vec::new();
        for &(on, new) in packets {
            acks.on_packet(PathId(on), new);
            let via = acks.return_path(Instant::ZERO, paths, PathId(on), false);
            acks.schedule(Instant::ZERO, via, None);
            assert_eq!(acks.due(), Some(via));
            acks.on_sent();
            went.push(via.0);
        }
        went
    }

    /// RFC 9260 §6.2: SACK.Delay counts from the first packet that waits.
    #[test]
    fn a_delayed_sack_leaves_once_and_on_time() {
        let mut acks = Acknowledger::new();
        let at = Instant::from_millis;
        for ms in [0, 10] {
            acks.on_packet(PathId(1), true);
            acks.schedule(at(ms), PathId(1), Some(Duration::from_millis(200)));
        }
        assert_eq!((acks.due(), acks.timeout(), acks.packets()), (None, Some(at(200)), 2));
        acks.on_timeout();
        assert_eq!((acks.due(), acks.timeout()), (Some(PathId(1)), None));
        acks.on_sent();
        assert_eq!((acks.due(), acks.timeout(), acks.packets()), (None, None, 0));
    }

    #[test]
    fn sacks_take_the_path_data_came_by() {
        assert_eq!(taken(&table(3), &[(0, true), (0, true), (2, true), (1, true)]), [0, 0, 2, 1]);
    }

    #[test]
    fn sacks_of_data_that_come_again_try_the_other_paths_in_turn() {
        let again = [(0, false); 6];
        assert_eq!(taken(&table(3), &again), [0, 2, 0, 1, 0, 2]);
        assert_eq!(taken(&table(1), &again), [0; 6]);
    }

    /// The peer named the return paths 2 and 1. SACKs alternate between these paths, unless one path fails or its SACKs
    /// are lost.
    #[test]
    fn named_return_paths_take_turns() {
        let mut paths = table(3);
        (0..3).for_each(|i| paths[i].wire_id = Some(i as u16));
        let mut acks = Acknowledger::new();
        let mut next = |paths: &PathTable, new: bool| {
            acks.on_packet(PathId(0), new);
            let path = acks.named_return_path(paths, &[2, 1, 9]);
            acks.on_sent();
            path
        };
        let turns: Vec<_> = (0..4).filter_map(|_| next(&paths, true)).map(|p| p.0).collect();
        assert_eq!(turns, [2, 1, 2, 1]);
        assert_eq!(next(&paths, false), None, "data come again");
        paths.view_mut(2).error_count = 1;
        assert_eq!((next(&paths, true), next(&paths, true)), (Some(PathId(1)), Some(PathId(1))));
        paths.view_mut(1).state = PathState::PotentiallyFailed;
        assert_eq!(next(&paths, true), None);
    }

    #[test]
    fn a_path_with_errors_is_avoided() {
        let mut paths = table(2);
        paths.view_mut(0).error_count = 1;
        assert_eq!(taken(&paths, &[(0, true), (0, true), (1, true)]), [1, 1, 1]);
    }
}
