//! A scheduler that sends each chunk on the path on which it is expected to arrive first, compared with the deadline of its
//! message.
//!
//! The forecast for a chunk of `len` bytes that a path takes now has these terms:
//!
//! | term | value |
//! |---|---|
//! | one way | half of the least round-trip time |
//! | waiting | the longer of (in flight + len - rate · least rtt)/rate and the measured queueing delay |
//! | silence | time for which an answer of the path has been overdue, beyond srtt + 4 rttvar |
//! | resend | cost of a loss, times the loss rate of the path |
//!
//! *With a deadline*, the chunk takes the path with room and the earliest arrival among those on which it is in time.
//! The chunk never takes a path on which it would be late while another one delivers it in time, even if it has to wait
//! for that path. Beyond the bandwidth-delay product, data on a path may wait for [`SHARE`] of the time left, so that a
//! loss can still be repaired. If this rule leaves no path, data may wait for up to [`FILLED`] of the time that new
//! messages have, provided that the chunk is in time with the mean deviation added. This is necessary next to a TCP
//! that keeps a queue full: a path then carries its share only if the stream fills an equal part of that queue.
//! Otherwise the waiting data have less and less time left, and the path takes less and less. A single path takes what
//! its window admits. If queues make a chunk late on every path, the chunk is given up (see [`Forecast::hopeless`]). If
//! it is late without queues, it leaves nevertheless, with at most [`LATE`] in a queue: at the head of the send queue
//! it would make later chunks late as well.
//!
//! *Without a deadline*, the chunk takes the path of the earliest arrival, as in ECF (Lim et al. 2017) and BLEST (Ferlin et
//! al. 2016). If that path has no room, a slower one takes the chunk only if enough data wait to keep the faster paths busy
//! until it arrives, and if the peer's receive buffer holds the data that they deliver meanwhile. The slower path takes up
//! to two chunks at a time in any case, because a receiver sizes its buffer by the round trips of the paths that carry data.
//!
//! If a part of the scheme detects silence, suspected paths take nothing while another path is live.

mod forecast;

use smallvec::SmallVec;

use strandcast_keys::keys;
use strandcast_proto::policy::{Assignment, Backlog, GiveUp, PathView, Policy, Scheduler, Signal, View};
use strandcast_proto::rfc;
use strandcast_proto::time::{Duration, Instant};

use forecast::Basis;
pub(super) use forecast::Forecast;

use super::unsuspected::unsuspected;
use crate::estimate::WindowedMax;
use crate::part::{Estimators, SchedulerPart};

/// Part of the time left until a message expires that its chunks may wait in queues of their own making.
const SHARE: f64 = 0.25;
/// Part of the time that new messages have that chunks may wait in queues if all paths have queues.
const FILLED: f64 = 0.5;
/// Fraction of a new message's time below which an old message has waited for long.
const AGED: f64 = 0.5;
/// Time that chunks that are late on every path may wait in queues of their own making, seconds.
const LATE: f64 = 0.02;
/// Part of the peer's receive buffer that the faster paths may fill while a slower one delivers.
const BUFFER_SHARE: f64 = 0.75;
/// Asked again after this long at the latest when everything is held.
const RECHECK: f64 = 0.01;
/// Chunks of one decision.
const AT_ONCE: u64 = 8;
/// Round-trip time of an unmeasured path, seconds.
const UNKNOWN: f64 = 0.25;

keys! {
    /// [`EarliestArrival`] has no keys.
    pub struct EarliestArrivalConfig {}
}

impl SchedulerPart for EarliestArrivalConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(EarliestArrival::default())
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.delivery();
    }
}

/// Earliest arrival in time.
#[derive(Debug)]
pub struct EarliestArrival {
    /// Time of each path's last answer, or of data given to it while nothing was in flight; by path slot.
    answered: Vec<Instant>,
    /// Bases of forecasts as of the last decision; by path slot.
    bases: Vec<Basis>,
    /// Recent receive window of the peer, in bytes.
    offered: WindowedMax,
    /// Time of the next question.
    again: Option<Instant>,
    /// The longest time that was left to a message, seconds: that of new ones.
    life: f64,
}

impl Default for EarliestArrival {
    fn default() -> Self {
        EarliestArrival {
            answered: Vec::new(),
            bases: Vec::new(),
            offered: WindowedMax::new(Duration::from_secs(10)),
            again: None,
            life: 0.0,
        }
    }
}

/// Paths, each with the forecast of the next chunk.
pub(super) type Choices<'a> = SmallVec<[(&'a PathView, Forecast); 8]>;

impl EarliestArrival {
    /// Returns the time by which an answer of the path is overdue, in seconds.
    pub(super) fn silence(&self, view: &View<'_>, path: &PathView) -> f64 {
        if path.in_flight == 0 {
            return 0.0;
        }
        let Some(answered) = self.answered.get(path.id.index()) else { return 0.0 };
        let since = view.now.saturating_since(*answered);
        if path.srtt.is_some_and(|srtt| since <= srtt) {
            return 0.0;
        }
        let usual = path.rto_raw().unwrap_or(path.rto);
        since.saturating_sub(usual).as_secs_f64()
    }

    /// The paths that a chunk of `len` bytes may take.
    pub(super) fn choices<'a>(&mut self, view: &View<'a>, len: u64) -> Choices<'a> {
        if self.bases.len() < view.paths.len() {
            self.bases.extend(view.paths[self.bases.len()..].iter().map(Basis::of));
        }
        // Pushed one by one: collecting costs as much as a forecast.
        let mut choices = Choices::new();
        for path in unsuspected(view) {
            let silence = self.silence(view, path);
            let basis = &mut self.bases[path.id.index()];
            basis.renew(path);
            choices.push((path, basis.forecast(view.now, path, len, silence)));
        }
        choices
    }

    /// Decides about the next chunk in `backlog`, on one of these paths.
    pub(super) fn among(
        &mut self,
        view: &View<'_>,
        backlog: &Backlog,
        choices: &Choices<'_>,
    ) -> Option<Assignment> {
        self.again = None;
        if !choices.iter().any(|c| c.0.has_room()) {
            return None;
        }
        let left = backlog.next_expires.map(|e| e.saturating_since(view.now).as_secs_f64());
        match (left.filter(|l| *l > 0.0), &choices[..]) {
            (Some(left), _) => self.before(view, choices, left, backlog),
            (None, [(path, _)]) => Some(rfc::fill(view, path.id, backlog)),
            (None, _) => self.whenever(view, choices, backlog),
        }
    }

    /// Holds all data and requests another call soon.
    pub(super) fn hold(&mut self, view: &View<'_>) -> Option<Assignment> {
        self.again = Some(view.now + Duration::from_secs_f64(RECHECK));
        None
    }

    /// Chooses among the paths on which the chunk is in time (it is worthless after `left` seconds), or among all paths
    /// if there is no such path.
    fn before(
        &mut self,
        view: &View<'_>,
        choices: &Choices<'_>,
        left: f64,
        backlog: &Backlog,
    ) -> Option<Assignment> {
        self.life = self.life.max(left);
        if too_late(choices, left, self.life, backlog) {
            return Some(Assignment::nowhere(GiveUp::TooLate));
        }
        let at_once = if backlog.rest > backlog.next_len { 1 } else { AT_ONCE / 4 };
        let len = backlog.next_len;
        if let [(path, _)] = choices[..] {
            return Some(Assignment::on(path.id, chunks(path, len, at_once)));
        }
        let any = choices.iter().any(|c| c.1.in_time(left));
        let good = choices.iter().filter(|c| !any || c.1.in_time(left));
        // A chunk that is late everywhere must not wait for its end before chunks that are not late.
        let most = if any { SHARE * left } else { LATE };
        let short = |c: &&(&PathView, Forecast)| c.0.in_flight == 0 || c.1.backlog <= most;
        let behind = |c: &&(&PathView, Forecast)| c.1.in_time_behind_others(left, self.life);
        let best = if good.clone().any(|c| short(&c)) {
            least(good.filter(short), left)
        } else {
            least(good.filter(behind), left)
        };
        match best {
            Some(path) => Some(Assignment::on(path.id, chunks(path, len, at_once))),
            None => self.hold(view),
        }
    }

    fn whenever(&mut self, view: &View<'_>, choices: &Choices<'_>, backlog: &Backlog) -> Option<Assignment> {
        // The first of those with the least.
        let (mut first, mut slow) = (f64::INFINITY, f64::INFINITY);
        let (mut path, mut expected) = (None, SmallVec::<[f64; 8]>::new());
        for (p, forecast) in choices {
            let at = forecast.expected();
            first = first.min(at);
            if p.has_room() && (path.is_none() || at < slow) {
                (path, slow) = (Some(*p), at);
            }
            expected.push(at);
        }
        let path = path?;
        let ahead = slow - first;
        if ahead > 0.0 {
            let faster = choices.iter().zip(&expected).filter(|(_, at)| **at < slow).map(|(c, _)| c);
            let busy = faster.clone().any(|c| c.0.in_flight > 0);
            let meanwhile = faster.map(|c| c.1.rate).sum::<f64>() * ahead;
            let room = self.offered.get(view.now).unwrap_or(f64::INFINITY) * BUFFER_SHARE;
            if meanwhile > room && busy {
                // Two at a time: peers whose buffers grow must see what the path would need.
                let alone = path.in_flight == 0 && meanwhile <= backlog.bytes as f64;
                return if alone { Some(Assignment::on(path.id, 2)) } else { self.hold(view) };
            }
            if meanwhile > backlog.bytes as f64 && busy {
                return self.hold(view);
            }
        }
        Some(Assignment::on(path.id, chunks(path, backlog.next_len, AT_ONCE)))
    }
}

/// Returns whether the next message, which was not begun, is late on all of these paths, with `left` seconds of the
/// `life` of messages left. Half a message is worth nothing: it is judged as a whole, before any of it is sent. Without
/// tested rates the rest after its first chunk counts only once it has waited for half of its time.
pub(super) fn too_late(choices: &Choices<'_>, left: f64, life: f64, backlog: &Backlog) -> bool {
    if backlog.begun || choices.is_empty() || choices.iter().any(|c| c.0.in_flight == 0) {
        return false;
    }
    let (more, tested) = behind_first(choices, backlog);
    let whole = if tested || left < AGED * life { left - more } else { left };
    whole <= 0.0 || choices.iter().all(|c| c.1.hopeless(whole))
}

/// Time in seconds that all paths together need for the rest of the next message after its first chunk, and true if the
/// rates of all paths were tested. If a rate was not tested, the time follows from windows: data that have room now
/// leave as they are paced, other data as windows double in each round trip.
fn behind_first(choices: &Choices<'_>, backlog: &Backlog) -> (f64, bool) {
    let tested = choices.iter().all(|c| c.1.tested);
    let more = (backlog.rest + 16).saturating_sub(backlog.next_len) as f64;
    if more == 0.0 || tested {
        return (more / choices.iter().map(|c| c.1.rate).sum::<f64>(), tested);
    }
    let room = choices.iter().map(|c| c.0.room()).sum::<u64>().saturating_sub(backlog.next_len) as f64;
    if more <= room {
        let paced: f64 = choices.iter().filter_map(|c| c.0.limit.pacing).map(|rate| rate.bytes_per_s()).sum();
        return (if paced > 0.0 { more / paced } else { 0.0 }, tested);
    }
    let windows = (more - room) / choices.iter().map(|c| c.0.limit.cwnd.max(c.0.mtu) as f64).sum::<f64>();
    let trips = if windows <= 1.0 { windows } else { libm::floor(libm::log2(1.0 + windows)) };
    let trip = choices.iter().filter_map(|c| c.0.srtt).min().unwrap_or_default();
    (trips * trip.as_secs_f64(), tested)
}

/// The path with room of the least cost with `left` seconds left.
fn least<'a>(choices: impl Iterator<Item = &'a (&'a PathView, Forecast)>, left: f64) -> Option<&'a PathView> {
    choices.filter(|c| c.0.has_room()).min_by(|a, b| a.1.cost(left).total_cmp(&b.1.cost(left))).map(|c| c.0)
}

/// Returns the number of chunks that fit, at most `most`.
fn chunks(path: &PathView, len: u64, most: u64) -> u32 {
    path.room().div_ceil(len.max(1)).clamp(1, most) as u32
}

impl Policy for EarliestArrival {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        if self.answered.len() < view.paths.len() {
            self.answered.resize(view.paths.len(), view.now);
        }
        match signal {
            Signal::Sent(chunk) => {
                let path = chunk.path().index();
                if view.paths.get(path).is_some_and(|p| p.in_flight <= chunk.len) {
                    self.answered[path] = view.now;
                }
            }
            Signal::Acked(ack) => {
                if let Some(at) = self.answered.get_mut(ack.path.index()) {
                    *at = view.now;
                }
                self.offered.push(view.now, (view.rwnd + view.in_flight) as f64);
            }
            Signal::Tick => self.again = self.again.filter(|t| *t > view.now),
            _ => {}
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.again
    }
}

impl Scheduler for EarliestArrival {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let choices = self.choices(view, backlog.next_len);
        self.among(view, backlog, &choices)
    }
}

#[cfg(test)]
mod tests;
