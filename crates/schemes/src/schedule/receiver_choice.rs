//! All data take the path that the receiver chose (Algorithm 1, line 12, of Cao et al. 2016).
//!
//! `ASSUMED`: RFC 9260's primary path and failover apply in two cases. One is the time before the receiver's first
//! choice, and the other is a failure or closure of the chosen path. If the receiver chooses a path that is not active,
//! the choice is ignored.

use strandcast_keys::keys;
use strandcast_proto::policy::{
    Assignment, Backlog, PathId, PathState, Policy, Report, Scheduler, Signal, View,
};
use strandcast_proto::rfc::PrimaryPath;

use crate::feedback::rounds::{Notice, Order};
use crate::part::{Others, Paths, SchedulerPart};

/// Number of chunks per assignment, so that a switch takes effect at once.
const RUN: u32 = 2;

keys! {
    /// [`ReceiverChoice`] has no keys.
    pub struct ReceiverConfig {}
}

impl SchedulerPart for ReceiverConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(ReceiverChoice::default())
    }

    fn paths(&self) -> Paths {
        Paths::Chosen
    }

    fn refuses(&self, others: &Others) -> Option<&'static str> {
        let refusal = "scheduler=receiver needs feedback=rounds: the receiver chooses a path by rounds";
        (!others.rounds).then_some(refusal)
    }
}

/// Scheduler that takes the path that the receiver chose. Without a choice, it takes the primary path.
#[derive(Copy, Clone, Default, Debug)]
pub struct ReceiverChoice {
    chosen: Option<PathId>,
    order: Order,
    switches: u64,
}

impl ReceiverChoice {
    /// Returns the path that the receiver chose, while it is usable.
    pub fn chosen(&self, view: &View<'_>) -> Option<PathId> {
        self.chosen.filter(|p| view.usable().contains(*p))
    }

    fn hear(&mut self, view: &View<'_>, report: &Report) {
        let Some(Notice::Switch { serial, .. }) = Notice::read(report) else { return };
        let active = |p: &PathId| view.paths.get(p.index()).is_some_and(|v| v.state == PathState::Active);
        if let Some(path) = report.subject.filter(|_| self.order.follows(serial)).filter(active) {
            self.chosen = Some(path);
            self.switches += 1;
        }
    }
}

impl Policy for ReceiverChoice {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            // A label is sent with each packet and names no path.
            Signal::Peer(report) if report.subject.is_some() => self.hear(view, report),
            Signal::PathChanged(path) if self.chosen == Some(*path) => {
                let in_use = |s| matches!(s, PathState::Active | PathState::PotentiallyFailed);
                self.chosen =
                    self.chosen.filter(|p| view.paths.get(p.index()).is_some_and(|v| in_use(v.state)));
            }
            _ => {}
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.push(("path_switches", self.switches));
    }
}

impl Scheduler for ReceiverChoice {
    fn next(&mut self, view: &View<'_>, _: &Backlog) -> Option<Assignment> {
        let chosen = self.chosen(view).or_else(|| PrimaryPath::choose(view))?;
        view[chosen].has_room().then(|| Assignment::on(chosen, RUN))
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::Picture;

    use super::*;

    fn waiting() -> Backlog {
        Backlog {
            bytes: 9000,
            messages: 9,
            next_len: 1000,
            next_expires: None,
            retransmission: false,
            tried: Default::default(),
            ..Backlog::default()
        }
    }

    struct Harness {
        picture: Picture,
        choice: ReceiverChoice,
    }

    impl Harness {
        fn new() -> Self {
            let mut picture = Picture::new(3);
            picture.paths.iter_mut().for_each(|p| p.limit.cwnd = 4000);
            Harness { picture, choice: ReceiverChoice::default() }
        }

        fn next(&mut self) -> Option<u8> {
            let assignment = self.choice.next(&self.picture.view(), &waiting())?;
            Some(assignment.paths[0].0)
        }

        fn order(&mut self, path: u8, serial: u32) {
            let report = Notice::Switch { rate: Some(1000), serial }.report(Some(PathId(path)));
            self.choice.on_signal(&self.picture.view(), &Signal::Peer(&report));
        }

        fn state(&mut self, path: u8, state: PathState) {
            self.picture.paths[usize::from(path)].state = state;
            self.choice.on_signal(&self.picture.view(), &Signal::PathChanged(PathId(path)));
        }
    }

    #[test]
    fn the_receivers_last_choice_counts() {
        let mut s = Harness::new();
        assert_eq!(s.next(), Some(0), "the primary path");
        s.order(2, 1);
        assert_eq!(s.next(), Some(2));
        s.order(1, 2);
        s.order(2, 1);
        assert_eq!(s.next(), Some(1), "an order that came late, or twice");
        s.picture.paths[1].in_flight = 4000;
        assert_eq!(s.next(), None, "no other path stands in while the window is full");
    }

    #[test]
    fn a_path_that_is_not_active_is_not_chosen() {
        let mut s = Harness::new();
        s.state(2, PathState::Inactive);
        s.order(2, 1);
        assert_eq!(s.next(), Some(0));
        s.state(2, PathState::Active);
        s.order(2, 1);
        assert_eq!(s.next(), Some(0), "the order was refused; the receiver gives another one");
        s.order(2, 2);
        assert_eq!(s.next(), Some(2));
        let mut counters = Vec::new();
        s.choice.counters(&mut counters);
        assert_eq!(counters, [("path_switches", 1)], "those that were followed");
    }

    #[test]
    fn a_choice_ends_with_its_path() {
        let mut s = Harness::new();
        s.order(1, 1);
        s.state(1, PathState::PotentiallyFailed);
        assert_eq!(s.next(), Some(0));
        s.state(1, PathState::Active);
        assert_eq!(s.next(), Some(1), "it was potentially failed for a moment only");
        s.state(1, PathState::Inactive);
        s.state(1, PathState::Active);
        assert_eq!(s.next(), Some(0));
    }
}
