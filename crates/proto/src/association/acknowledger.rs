//! Times and paths of acknowledgements (RFC 9260 §6.2).
//!
//! If data are acknowledged by a much slower path than the one by which they arrived, a second SACK follows by the
//! path of the data ([`Acknowledger::repeat_sooner`]).

use smallvec::SmallVec;

use super::path_table::PathTable;
use crate::policy::{PathId, PathSet, PathState, PathView};
use crate::time::{Duration, Instant};

/// Part of a path's round-trip time for which a second SACK by this path waits, as a divisor. The peer's tail probe
/// waits at least half of the round-trip time for the answer (RFC 8985 §7.2), and the rest of it is left for variations.
const REPEAT_AFTER: u32 = 4;

/// State of acknowledgement: arrivals since the last SACK, and the time of the next one.
#[derive(Debug)]
pub(super) struct Acknowledger {
    /// Number of DATA packets since the last SACK, and the arrival time of the first of them.
    packets: u32,
    since: Instant,
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
    /// Second SACK that waits.
    repeat: Repeat,
}

/// Second SACK: a repetition of a SACK that left by a much slower path than the path by which its data arrived. The
/// second SACK leaves by the path of the data.
#[derive(Copy, Clone, Default, Debug)]
struct Repeat {
    /// Path by which the data arrived, and by which the second SACK leaves. `None` if the first SACK needs no
    /// repetition.
    path: Option<PathId>,
    /// Time at which the second SACK leaves; `None` while another SACK is due.
    at: Option<Instant>,
    /// True if the due SACK is the second one.
    due: bool,
}

impl Acknowledger {
    pub fn new() -> Self {
        Acknowledger {
            packets: 0,
            since: Instant::ZERO,
            due: false,
            via: PathId(0),
            timer: None,
            last_via: None,
            received_on: PathSet::default(),
            repeats: 0,
            left: 0,
            repeat: Repeat::default(),
        }
    }

    /// Records a packet with DATA that arrived by `on`. `new` is true if some of its data arrived for the first time.
    pub fn on_packet(&mut self, now: Instant, on: PathId, new: bool) {
        if self.packets == 0 {
            self.since = now;
        }
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
        (self.via, self.repeat.due) = (via, false);
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
        self.timer.into_iter().chain(self.repeat.at).min()
    }

    /// Handles the end of SACK.Delay, and of the wait of a second SACK.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.timer.is_some_and(|at| at <= now) {
            (self.timer, self.due) = (None, true);
        }
        if self.repeat.at.take_if(|at| *at <= now).is_some()
            && let (false, Some(path)) = (self.due, self.repeat.path)
        {
            (self.due, self.via, self.repeat.due) = (true, path, true);
        }
    }

    /// Records that a SACK was sent. A second SACK does not change the turns of the return paths.
    pub fn on_sent(&mut self) {
        (self.due, self.timer, self.packets) = (false, None, 0);
        self.last_via = Some(self.via);
        self.left = self.left.wrapping_add(usize::from(!self.repeat.due));
        self.repeat.due = false;
        self.received_on = PathSet::default();
    }

    /// Plans a second SACK if the SACK that leaves now returns by a much slower path than the data arrived by. The peer
    /// would otherwise send a tail probe before that SACK arrived. The second SACK leaves by the path of the data a
    /// quarter of its round-trip time after they arrived, unless another SACK leaves there sooner. No second SACK is
    /// needed if the first one arrives no later. Call it before [`Self::on_sent`].
    pub fn repeat_sooner(&mut self, now: Instant, paths: &PathTable) {
        let trip = |path: PathId| paths.get(path.index())?.sounding.rtt;
        let fine = |v: &PathView| v.state == PathState::Active && v.error_count == 0;
        let quicker = |path: PathId| {
            let own = trip(path).filter(|_| path != self.via && fine(paths.view(path.index())))?;
            (own / 2 + own / REPEAT_AFTER < trip(self.via)? / 2).then_some((own, path))
        };
        let waited = self.repeat.path;
        let quickest = self.received_on.iter().chain(waited).filter_map(quicker).min();
        let planned = |path| self.repeat.at.filter(|_| waited == Some(path));
        let at =
            quickest.map(|(own, path)| planned(path).unwrap_or(now.max(self.since + own / REPEAT_AFTER)));
        (self.repeat.path, self.repeat.at) = (quickest.map(|(_, path)| path), at);
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
            acks.on_packet(Instant::ZERO, PathId(on), new);
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
            acks.on_packet(at(ms), PathId(1), true);
            acks.schedule(at(ms), PathId(1), Some(Duration::from_millis(200)));
        }
        assert_eq!((acks.due(), acks.timeout(), acks.packets()), (None, Some(at(200)), 2));
        acks.on_timeout(at(200));
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
            acks.on_packet(Instant::ZERO, PathId(0), new);
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

    /// Data arrive by path 0. Their SACK leaves by path `via`, `waited` milliseconds later. The round-trip time is 40
    /// ms on path 0 and `slow` milliseconds on path 1. Returns the path and the time of the repetition of this SACK
    /// ([`Repeat`]), or `None`.
    fn repeated(via: u8, slow: u64, waited: u64) -> Option<(Option<PathId>, Instant)> {
        let (mut paths, mut acks) = (table(2), Acknowledger::new());
        for (i, trip) in [40, slow].into_iter().enumerate() {
            paths[i].sounding.rtt = Some(Duration::from_millis(trip));
        }
        acks.on_packet(Instant::ZERO, PathId(0), true);
        let now = Instant::from_millis(waited);
        acks.schedule(now, PathId(via), None);
        acks.repeat_sooner(now, &paths);
        acks.on_sent();
        let at = acks.timeout()?;
        acks.on_timeout(at);
        Some((acks.due(), at))
    }

    /// RFC 9260 §6.4: a SACK returns to the source of its data. If it returns by a path that is slower by more than a
    /// quarter of the data's round trip, a second one returns there.
    #[test]
    fn a_sack_by_a_slow_path_is_followed_by_one_by_the_path_of_the_data() {
        assert_eq!(repeated(1, 100, 0), Some((Some(PathId(0)), Instant::from_millis(10))));
        assert_eq!(
            repeated(1, 100, 15),
            Some((Some(PathId(0)), Instant::from_millis(15))),
            "the data waited"
        );
        assert_eq!(repeated(1, 60, 0), None, "the first SACK arrives no later");
        assert_eq!(repeated(0, 100, 0), None, "it took the path of the data");
    }

    #[test]
    fn a_sack_by_the_path_of_the_data_makes_a_second_one_needless() {
        let (mut paths, mut acks) = (table(2), Acknowledger::new());
        for (i, trip) in [40, 200].into_iter().enumerate() {
            paths[i].sounding.rtt = Some(Duration::from_millis(trip));
        }
        let mut sack = |ms: u64, via: u8| {
            acks.on_packet(Instant::from_millis(ms), PathId(0), true);
            acks.schedule(Instant::from_millis(ms), PathId(via), None);
            acks.repeat_sooner(Instant::from_millis(ms), &paths);
            acks.on_sent();
            acks.timeout()
        };
        assert_eq!(sack(0, 1), Some(Instant::from_millis(10)));
        assert_eq!(sack(4, 1), Some(Instant::from_millis(10)), "it is not put off");
        assert_eq!(sack(8, 0), None);
    }

    #[test]
    fn a_path_with_errors_is_avoided() {
        let mut paths = table(2);
        paths.view_mut(0).error_count = 1;
        assert_eq!(taken(&paths, &[(0, true), (0, true), (1, true)]), [1, 1, 1]);
    }
}
