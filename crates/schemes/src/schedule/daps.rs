//! Delay-aware packet scheduling (Kuhn N., Lochin E., Mifdaoui A., Sarwar G., Mehani O., Boreli R., "DAPS: Intelligent
//! Delay-Aware Packet Scheduling for Multipath Transport", ICC 2014). A plan assigns sequence numbers to paths. In this
//! plan, every path delivers one window per forward delay. The data that are next in the plan should therefore also
//! arrive next.
//!
//! | the paper | here |
//! |---|---|
//! | forward delay D of a path: half of its smoothed round-trip time | [`Daps::delay`] |
//! | over lcm(D): at each multiple t of a path's D, that path gets the next window of numbers; at the same t the faster path first | [`Daps::next_turn`] |
//!
//! For example, the delays are 1 : 4 and both windows are c. The plan then has four windows of c on the fast path, one
//! on the slow path, and so on. Each path stores the time t of its next turn. When the turn begins, the path adds its
//! delay D to t. The result is the plan over the least common multiple of the delays, without computing that number.
//!
//! In the paper, the slow path sends its numbers at once, before the fast path has sent the lower numbers. A
//! [`Scheduler`] here places only the next chunk. Numbers therefore leave in order. The slow path's block leaves up to
//! (RTT_s - RTT_f) later than in the paper. Each path gets the numbers of the plan. Arrivals are in order within a
//! turn. A slow block, however, arrives after the numbers of the fast path's next turns. For this reason, the scheduler
//! does not reduce the required receive buffer as the paper reports.
//!
//! `ASSUMED`, because the text of the paper was not available. Three sources were available: its abstract, descriptions
//! in later papers, and a port to Linux 0.89 that an author of a comparison has published.
//!
//! * A turn has as many bytes as the window has at the beginning of the turn. The port reads windows and delays once
//!   per lcm(D). It rounds delays to multiples of 4 ms, which keeps the plan short. Neither is needed here.
//! * If the path whose turn it is has no room, the chunk may wait for it. It waits if, even in the worst case, it would
//!   arrive no later than on the fastest of the other paths with room. The condition is (`daps-wait` + 1/2) · RTT ≤
//!   RTT_other/2. `daps-wait` = 1 is the number of round trips until there is room. Otherwise the turn ends. A chunk
//!   therefore waits only for a path that is at least three times as fast, and never for a slower one.
//! * Paths with consecutive errors have no turns while there are other paths. If a path has no round-trip time, the
//!   longest round-trip time of the other paths is assumed for it.
//! * There is no opportunistic retransmission and no penalty (`head-of-line=off`). The port has opportunistic
//!   retransmission without a penalty.
//! * Retransmissions are not part of the plan. A retransmission takes the path with the lowest round-trip time among
//!   the paths with room that have not carried the chunk. If there is no such path, it takes the one among all paths
//!   with room.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Assignment, Backlog, PathId, PathSet, PathState, PathView, Policy, Scheduler, Signal, View,
};
use strandcast_proto::time::Duration;

use super::blocking::BlockingConfig;
use super::fastest::fastest_with_room;
use crate::part::SchedulerPart;

/// Round-trip time that is assumed while no path has a measured round-trip time.
const UNKNOWN: Duration = Duration::from_millis(100);
/// Least forward delay, so that a turn takes time.
const LEAST: Duration = Duration::from_micros(1);

keys! {
    /// The keys of [`Daps`].
    #[derive(Copy)]
    pub struct DapsConfig {
        /// round trips after which a full path is expected to have room at worst (0: a turn waits whenever the path is
        /// faster)
        daps_wait: f64 [0.0, 8.0, "round trips"] = 1.0,
        and blocking: BlockingConfig,
    }
}

impl SchedulerPart for DapsConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Daps::new(*self))
    }

    fn tune(&self, config: &mut TransportConfig) {
        config.head_of_line = None;
        self.blocking.tune(config);
    }
}

/// Scheduler that assigns turns of one window in the order of their expected arrival.
#[derive(Clone, Debug)]
pub struct Daps {
    config: DapsConfig,
    /// Time until the next turn of each path, by path slot. The time counts from the beginning of the current turn.
    /// `None` if the path is not in the plan.
    next: Vec<Option<Duration>>,
    /// Path whose turn it is.
    turn: Option<PathId>,
    /// Bytes left in the turn.
    left: u64,
}

impl Daps {
    /// Makes a scheduler without a plan.
    pub fn new(config: DapsConfig) -> Self {
        Daps { config, next: Vec::new(), turn: None, left: 0 }
    }

    /// Returns the paths in the plan.
    fn planned(view: &View<'_>) -> PathSet {
        let usable = view.usable();
        let sound: PathSet = usable.iter().filter(|p| view[*p].error_count == 0).collect();
        if sound.is_empty() { usable } else { sound }
    }

    /// Returns the round-trip time of `path`. If it has none, returns the longest round-trip time of all usable paths.
    fn rtt(view: &View<'_>, path: &PathView) -> Duration {
        path.srtt.or_else(|| view.usable_paths().filter_map(|p| p.srtt).max()).unwrap_or(UNKNOWN)
    }

    fn delay(view: &View<'_>, path: &PathView) -> Duration {
        (Self::rtt(view, path) / 2).max(LEAST)
    }

    /// Begins the turn that comes next in the plan.
    fn next_turn(&mut self, view: &View<'_>, planned: PathSet) -> Option<()> {
        let first = planned.iter().map(|p| {
            let delay = Self::delay(view, &view[p]);
            (*self.next[p.index()].get_or_insert(delay), delay, p)
        });
        let (at, delay, path) = first.min()?;
        for next in self.next.iter_mut().flatten() {
            *next = next.saturating_sub(at);
        }
        self.next[path.index()] = Some(delay);
        let window = view[path].limit.cwnd.max(view[path].mtu);
        (self.turn, self.left) = (Some(path), window);
        Some(())
    }

    /// Returns whether the next chunk waits for `path`, which has no room.
    fn waits(&self, view: &View<'_>, path: &PathView, other: &PathView) -> bool {
        let (own, other) = (Self::rtt(view, path).as_secs_f64(), Self::rtt(view, other).as_secs_f64());
        own < other && (self.config.daps_wait + 0.5) * own <= other / 2.0
    }
}

impl Policy for Daps {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        let Signal::PathChanged(path) = signal else { return };
        let active = view.paths.get(path.index()).is_some_and(|p| p.state == PathState::Active);
        if let Some(next) = self.next.get_mut(path.index()).filter(|_| !active) {
            *next = None;
        }
    }
}

impl Scheduler for Daps {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        if backlog.retransmission {
            return fastest_with_room(view, backlog).map(|p| Assignment::on(p.id, 1));
        }
        if self.next.len() < view.paths.len() {
            self.next.resize(view.paths.len(), None);
        }
        let planned = Self::planned(view);
        let with_room = planned.iter().map(|p| &view[p]).filter(|p| p.has_room());
        let other = with_room.min_by_key(|p| (Self::rtt(view, p), p.id))?;
        loop {
            let Some(path) = self.turn.filter(|p| self.left > 0 && planned.contains(*p)) else {
                self.next_turn(view, planned)?;
                continue;
            };
            if view[path].has_room() {
                self.left = self.left.saturating_sub(backlog.next_len);
                return Some(Assignment::on(path, 1));
            }
            if self.waits(view, &view[path], other) {
                return None;
            }
            self.left = 0;
        }
    }
}

#[cfg(test)]
mod tests;
