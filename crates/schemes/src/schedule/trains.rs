//! Trains of packets that belong to the stream itself. Trains show the rate that a path can carry even if the stream
//! has a lower rate.
//!
//! One path at a time has the token. Each path gets the token once in the time [`EACH`]. New messages are held until a
//! train of [`TRAIN_MOST`] packets waits, but at most for the time [`HELD`]. The train then leaves at once by the path
//! with the token. Trains add no bytes. Messages belong to a train only if they could be sent again in time after a
//! loss of the train. Trains take only links of the classes 0 and 1.
//!
//! All constants are `ASSUMED`. docs/advice.md has their results on tuning seeds.

use strandcast_proto::policy::{
    Act, Advice, Assignment, Backlog, Flight, PathId, PathState, PathView, Policy, RepairOffer, Scheduler,
    Signal, SymbolAssignment, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::earliest_arrival::Forecast;
use super::metered::METERED;
use crate::advice::MIN_TRAIN;
use crate::estimate::Verdict;

/// Number of packets of the longest train.
pub const TRAIN_MOST: usize = 16;
/// Interval between trains of a path.
const EACH: Duration = Duration::from_secs(1);
/// Longest time for which new messages are held.
const HELD: Duration = Duration::from_millis(60);
/// Reciprocal of a share: messages are held for at most this share of their remaining time.
const HELD_SHARE: u32 = 8;

/// Scheduler that sends trains in addition to the decisions of another scheduler.
#[derive(Debug)]
pub struct Trains {
    inner: Box<dyn Scheduler>,
    /// Path that last had the token.
    token: Option<PathId>,
    /// Time at which another path gets the token.
    next: Instant,
    /// Time until which messages are held.
    until: Option<Instant>,
    /// Time at which the scheduler is to be called again.
    asked: Option<Instant>,
}

impl Trains {
    /// Makes a scheduler that adds trains to the decisions of `inner`.
    pub fn new(inner: Box<dyn Scheduler>) -> Self {
        Trains { inner, token: None, next: Instant::ZERO, until: None, asked: None }
    }

    /// Returns whether `path` ever gets trains.
    fn is_tried(path: &PathView) -> bool {
        let live = path.state == PathState::Active && Verdict::of(path) == Verdict::Live;
        live && path.tariff.class < METERED
    }

    /// Returns whether a train of chunks of `len` bytes could leave on `path` now. It must be possible to send the
    /// train again within `left`.
    fn fits(now: Instant, path: &PathView, len: u64, left: Duration) -> bool {
        let forecast = Forecast::new(now, path, len, 0.0);
        let in_time = forecast.arrival + forecast.resend + HELD.as_secs_f64() <= left.as_secs_f64();
        path.room() >= MIN_TRAIN as u64 * len && in_time
    }

    /// Passes the token to the next path that has room for a train.
    fn pass_on(&mut self, view: &View<'_>, len: u64, left: Duration) {
        let tried = || view.usable_paths().filter(|path| Self::is_tried(path));
        let after = tried().find(|path| self.token.is_none_or(|token| path.id > token));
        let Some(path) = after.or_else(|| tried().next()) else { return };
        let each = EACH / tried().count().max(1) as u32;
        if Self::fits(view.now, path, len, left) {
            (self.token, self.next) = (Some(path.id), view.now + each);
            self.until = Some(view.now + HELD.min(left / HELD_SHARE));
            self.asked = self.until;
        } else if view.now >= self.next + each {
            (self.token, self.next) = (Some(path.id), view.now);
        }
    }

    /// Returns the assignment of a train once the train is long enough or messages were held for the time [`HELD`]. The
    /// outer `None` means that the messages are still held. The inner `None` means that there is no train.
    fn train(&mut self, view: &View<'_>, backlog: &Backlog, until: Instant) -> Option<Option<Assignment>> {
        // The path may have closed or fallen silent while messages were held for it.
        let token = view.usable_paths().find(|path| Some(path.id) == self.token);
        let Some(path) = token.filter(|path| Self::is_tried(path)) else {
            (self.until, self.asked) = (None, None);
            return Some(None);
        };
        let room = (path.room() / backlog.next_len.max(1)) as usize;
        let most = room.min(TRAIN_MOST);
        if most >= MIN_TRAIN && backlog.messages < most && view.now < until {
            return None;
        }
        (self.until, self.asked) = (None, None);
        let go = most >= MIN_TRAIN && backlog.messages >= MIN_TRAIN;
        Some(go.then(|| Assignment::on(path.id, most as u32)))
    }
}

impl Policy for Trains {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if matches!(signal, Signal::Tick) {
            self.asked = self.asked.filter(|at| *at > view.now);
        }
        self.inner.on_signal(view, signal);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.inner.poll_timeout().into_iter().chain(self.asked).min()
    }

    fn hears_deliveries(&self) -> bool {
        self.inner.hears_deliveries()
    }

    fn hears_arrivals(&self) -> bool {
        self.inner.hears_arrivals()
    }

    fn acts(&self) -> bool {
        self.inner.acts()
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        self.inner.act(view, flight)
    }

    fn advice(&self, view: &View<'_>) -> Option<Advice> {
        self.inner.advice(view)
    }

    fn diagnostics(&self, view: &View<'_>, out: &mut Vec<&'static str>) {
        self.inner.diagnostics(view, out);
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        self.inner.counters(out);
    }
}

impl Scheduler for Trains {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let left = backlog.next_expires.map(|expires| expires.saturating_since(view.now));
        let Some(left) = left.filter(|_| !backlog.retransmission) else {
            return self.inner.next(view, backlog);
        };
        if self.until.is_none() && view.now >= self.next {
            self.pass_on(view, backlog.next_len, left);
        }
        if let Some(until) = self.until {
            match self.train(view, backlog, until) {
                None => return None,
                Some(Some(train)) => return Some(train),
                Some(None) => {}
            }
        }
        self.inner.next(view, backlog)
    }

    fn penalise(&mut self, view: &View<'_>) -> Option<PathId> {
        if self.until.is_some() { None } else { self.inner.penalise(view) }
    }

    fn next_symbol(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<SymbolAssignment> {
        self.inner.next_symbol(view, backlog)
    }

    fn next_repair(&mut self, view: &View<'_>, offer: &RepairOffer) -> Option<PathId> {
        self.inner.next_repair(view, offer)
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::{MTU, Picture};
    use strandcast_proto::units::Rate;

    use super::*;
    use crate::schedule::LowestRtt;

    /// Messages of one second are held for a train of path 0. The path closes meanwhile, and the messages leave by the
    /// other path.
    #[test]
    fn a_path_that_closes_has_no_train() {
        let mut picture = Picture::new(2);
        for path in &mut picture.paths {
            path.limit.cwnd = 100 * MTU;
            path.est.delivery_rate = Some(Rate::from_bytes_per_s(1e6));
        }
        let mut trains = Trains::new(Box::new(LowestRtt));
        let backlog = |picture: &Picture, messages| Backlog {
            messages,
            next_len: MTU,
            next_expires: Some(picture.now + Duration::from_secs(1)),
            ..Backlog::default()
        };
        assert_eq!(trains.next(&picture.view(), &backlog(&picture, 1)), None, "held");
        assert_eq!(trains.token, Some(PathId(0)));
        picture.paths[0].state = PathState::Closed;
        let train = trains.next(&picture.view(), &backlog(&picture, TRAIN_MOST)).expect("there is a path");
        assert_eq!(train.paths.as_slice(), [PathId(1)]);
        assert_eq!(trains.poll_timeout(), None, "nothing is held any longer");
    }
}
