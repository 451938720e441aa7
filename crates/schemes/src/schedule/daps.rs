//! Delay-aware packet scheduling (N. Kuhn, E. Lochin, A. Mifdaoui, G. Sarwar, O. Mehani, R. Boreli, "DAPS: Intelligent
//! Delay-Aware Packet Scheduling for Multipath Transport", ICC 2014): numbers go to paths by a plan in which every path
//! delivers a window per forward delay, so that what the plan puts next is what should arrive next.
//!
//! | the paper | here |
//! |---|---|
//! | forward delay D of a path: half of its smoothed round-trip time | [`Daps::delay`] |
//! | over lcm(D): at each multiple t of a path's D, that path gets the next window of numbers; at the same t the faster path first | [`Daps::next_turn`] |
//!
//! With delays 1 : 4 and windows of c the plan is c, c, c, c on the fast path, then c on the slow one, and so on. Each
//! path stores its next t and adds D when its turn begins. This gives the plan over the least common multiple without
//! computing that number.
//!
//! The paper lets the slow path send its numbers at once, ahead of the lower ones that the fast path has yet to send. A
//! [`Scheduler`] here places the next chunk only: numbers leave in order, and the slow path's block up to (RTT_s -
//! RTT_f) later than in the paper. Numbers and paths are the plan's; arrivals are in order within a turn, and a slow
//! block still arrives after the lower numbers of the fast path's next turns. This scheduler therefore does not reduce the
//! need for receive buffer as the paper reports.
//!
//! `ASSUMED`, because the paper's text was not at hand, but only its abstract, later papers' descriptions, and the
//! published port to Linux 0.89 by an author of a comparison:
//!
//! - a turn is the window at its beginning, in bytes. The port takes windows and delays once per lcm(D), and rounds
//!   delays to multiples of 4 ms to keep it short; neither is needed here;
//! - if the path whose turn it is has no room, the chunk waits, provided that it arrives at worst no later than on the
//!   fastest of the other paths with room: (`daps-wait` + 1/2) · RTT ≤ RTT_other/2 with `daps-wait` = 1 round trip
//!   until there is room. Else the turn ends. So a chunk waits for a path that is three times as fast, never for a
//!   slower one;
//! - paths with consecutive errors have no turns while there are others; a path without a round-trip time has the
//!   longest of the others;
//! - there is no opportunistic retransmission and no penalty, `head-of-line=off` (the port sends again without a
//!   penalty);
//! - retransmissions are not part of the plan: they take the path with the lowest round-trip time among those with room
//!   that have not carried the chunk, else among all.

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Assignment, Backlog, PathId, PathSet, PathState, PathView, Policy, Scheduler, Signal, View,
};
use strandcast_proto::time::Duration;

use super::blocking::BlockingConfig;
use super::fastest::fastest_with_room;
use crate::part::SchedulerPart;

/// Round-trip time while no path has one.
const UNKNOWN: Duration = Duration::from_millis(100);
/// Least forward delay: a turn takes time.
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

/// Turns of a window, in the order in which they would arrive.
#[derive(Clone, Debug)]
pub struct Daps {
    config: DapsConfig,
    /// By path slot, from the beginning of the turn that is on until the path's next one; `None`: not in the plan.
    next: Vec<Option<Duration>>,
    /// Path whose turn it is.
    turn: Option<PathId>,
    /// Bytes left of it.
    left: u64,
}

impl Daps {
    /// Makes a scheduler without a plan.
    pub fn new(config: DapsConfig) -> Self {
        Daps { config, next: Vec::new(), turn: None, left: 0 }
    }

    /// The paths in the plan.
    fn planned(view: &View<'_>) -> PathSet {
        let usable = view.usable();
        let sound: PathSet = usable.iter().filter(|p| view[*p].error_count == 0).collect();
        if sound.is_empty() { usable } else { sound }
    }

    /// Returns the round-trip time of `path`, or the longest of the others if it has none.
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
