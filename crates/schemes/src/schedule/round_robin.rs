//! Paths take turns, as in classic concurrent transfer (Iyengar, Amer, Stewart, "Concurrent Multipath Transfer Using
//! SCTP Multihoming Over Independent End-to-End Paths", IEEE/ACM ToN 14(5), 2006).

use strandcast_keys::{keys, words};
use strandcast_proto::policy::{Assignment, Backlog, Policy, Scheduler, View};
use strandcast_proto::rfc;

use crate::part::SchedulerPart;

words! {
    /// Length of a path's turn.
    #[derive(Default)]
    pub enum Turn {
        /// The turn lasts until the window is full: TSNs run in sequences of several packets per path.
        #[default]
        Window = "window",
        /// One packet.
        Packet = "packet",
    }
}

keys! {
    /// The keys of [`RoundRobin`].
    pub struct RoundRobinConfig {
        /// length of a turn
        turn: Turn = Turn::Window,
    }
}

impl SchedulerPart for RoundRobinConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(RoundRobin::new(self.turn))
    }
}

/// Scheduler that takes the next usable path with room. The scheduler begins after the path that was used last.
#[derive(Copy, Clone, Debug, Default)]
pub struct RoundRobin {
    turn: Turn,
}

impl RoundRobin {
    /// Makes a round robin with turns of the given length.
    pub fn new(turn: Turn) -> Self {
        RoundRobin { turn }
    }
}

impl Policy for RoundRobin {}

impl Scheduler for RoundRobin {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let with_room = || view.usable_paths().filter(|p| p.has_room());
        let after = |last| with_room().find(|p| p.id > last);
        let path = view.last_path_used.and_then(after).or_else(|| with_room().next())?.id;
        Some(match self.turn {
            Turn::Window => rfc::fill(view, path, backlog),
            Turn::Packet => Assignment::on(path, 1),
        })
    }
}
