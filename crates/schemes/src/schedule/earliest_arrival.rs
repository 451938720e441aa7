//! A scheduler that sends each chunk on the path on which it is expected to arrive first. The scheduler compares this
//! arrival with the deadline of the message.
//!
//! The forecast of a chunk of `len` bytes that a path would take now has these terms:
//!
//! | term | value |
//! |---|---|
//! | one way | half of the least round-trip time |
//! | waiting | the longer of (in flight + len - rate · least rtt)/rate and the measured queueing delay |
//! | silence | time by which an answer of the path is later than srtt + 4 rttvar |
//! | resend | cost of a loss, multiplied by the loss rate of the path |
//!
//! *With a deadline*, only paths with room on which the chunk is in time are considered. Among them, the chunk takes
//! the path with the earliest arrival. If one path delivers a chunk in time, the chunk never takes a path on which it
//! would be late. The chunk may have to wait for a path that delivers it in time. Data beyond the bandwidth-delay
//! product of a path wait in the path's queue. They may wait for the share [`SHARE`] of the remaining time, so that a
//! loss can still be repaired. If this rule excludes every path, data may wait longer, for up to the share [`FILLED`]
//! of the time that a new message has for its delivery. The chunk must then be in time even with the mean deviation
//! added. This longer wait is necessary next to a TCP that keeps a queue full. A path then carries its share only if
//! the stream fills an equal part of that queue. Without the longer wait, the waiting data would have less and less
//! time left, and the path would take less and less data. A single path takes all data that its window admits. If
//! queues make a chunk late on every path, the scheduler gives the chunk up (see [`Forecast::hopeless`]). If a chunk
//! would be late even without queues, it is sent nevertheless, but may wait in a path's queue for at most [`LATE`]. If
//! it stayed at the head of the send queue, it would make the chunks after it late as well.
//!
//! *Without a deadline*, the chunk takes the path with the earliest arrival, as in ECF (Lim et al. 2017) and BLEST
//! (Ferlin et al. 2016). If that path has no room, a slower path may take the chunk under two conditions. Enough data
//! must wait to keep the faster paths busy until the chunk arrives. The peer's receive buffer must hold the data that
//! the faster paths deliver meanwhile. In any case, a slower path takes up to two chunks at a time. The reason is that
//! a receiver determines the size of its buffer from the round-trip times of the paths that carry data.
//!
//! If a part of the scheme detects silence, suspected paths take no data while another path is live.

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

/// Share of the remaining time of a message for which its chunks may wait in queues that they cause themselves.
const SHARE: f64 = 0.25;
/// Share of the time that a new message has for its delivery. Chunks may wait in queues for this share if all paths
/// have queues.
const FILLED: f64 = 0.5;
/// Share of the time that a new message has for its delivery. A message that has less time left than this share has
/// already waited a long time.
const AGED: f64 = 0.5;
/// Time in seconds for which a chunk may wait in queues that the chunks cause themselves, if the chunk is late on every
/// path.
const LATE: f64 = 0.02;
/// Share of the peer's receive buffer that the faster paths may fill while a slower path delivers.
const BUFFER_SHARE: f64 = 0.75;
/// Longest time in seconds until the scheduler is called again after it has held all data.
const RECHECK: f64 = 0.01;
/// Maximum number of chunks that one decision assigns.
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

/// Scheduler that sends each chunk on the path with the earliest arrival.
#[derive(Debug)]
pub struct EarliestArrival {
    /// Time of each path's last answer, by path slot. If nothing was in flight, the time at which the path last got
    /// data.
    answered: Vec<Instant>,
    /// Bases of the forecasts at the last decision, by path slot.
    bases: Vec<Basis>,
    /// Recent receive window of the peer, in bytes.
    offered: WindowedMax,
    /// Time at which the scheduler is to be called again.
    again: Option<Instant>,
    /// Longest remaining time of any message in seconds. New messages have this time.
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
    /// Returns the time in seconds by which an answer of the path is overdue.
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

    /// Returns the paths that a chunk of `len` bytes may take.
    pub(super) fn choices<'a>(&mut self, view: &View<'a>, len: u64) -> Choices<'a> {
        if self.bases.len() < view.paths.len() {
            self.bases.extend(view.paths[self.bases.len()..].iter().map(Basis::of));
        }
        // Elements are added one by one, because collecting them would take as long as a forecast.
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

    /// Chooses among the paths on which the chunk is in time. If there is no such path, chooses among all paths. `left`
    /// is the time in seconds after which the chunk is worthless.
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
        // If a chunk is late on every path, it must not wait until it expires, because chunks that are not late wait
        // after it.
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
        // If several paths have the least value, the first of them is taken.
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
                // Two chunks are sent at a time. A peer whose buffer grows must see how much buffer the path would
                // need.
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

/// Returns whether the next message is late on all of these paths. The message has not been begun and has `left`
/// seconds left of the `life` seconds of a new message. A message that arrives only in part is worthless. The message
/// is therefore judged as a whole, before any part of it is sent. If rates are not tested, the chunks after the first
/// one count only once the message has waited for half of its time.
pub(super) fn too_late(choices: &Choices<'_>, left: f64, life: f64, backlog: &Backlog) -> bool {
    if backlog.begun || choices.is_empty() || choices.iter().any(|c| c.0.in_flight == 0) {
        return false;
    }
    let (more, tested) = behind_first(choices, backlog);
    let whole = if tested || left < AGED * life { left - more } else { left };
    whole <= 0.0 || choices.iter().all(|c| c.1.hopeless(whole))
}

/// Returns the time in seconds that all paths together need for the chunks of the next message after its first chunk.
/// The flag is true if the rates of all paths were tested. If a rate was not tested, the time follows from windows.
/// Data that have room now leave at the pacing rate. For other data, windows are assumed to double in each round trip.
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

/// Returns the path with room that has the least cost. `left` is the remaining time in seconds.
fn least<'a>(choices: impl Iterator<Item = &'a (&'a PathView, Forecast)>, left: f64) -> Option<&'a PathView> {
    choices.filter(|c| c.0.has_room()).min_by(|a, b| a.1.cost(left).total_cmp(&b.1.cost(left))).map(|c| c.0)
}

/// Returns the number of chunks that fit the free room of the path, at most `most`.
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
