//! [`EarliestArrival`] for live streams on paths that may fall silent.
//!
//! * *Data probes*: a path carries one chunk at the interval [`WaryConfig::data_probe`], even if another path would be
//!   quicker. The chunk must be in time even after one loss. Arrivals of probes on one path reveal the silence of
//!   another path (`estimate::Silence`). In addition, a path that is suddenly needed has been measured recently. A data
//!   probe is sent only if, including the probe, at most half of the path's window is in flight. A probe may also be
//!   the only chunk in flight. A path whose loss share is below [`RELIABLE`] also carries probes that could not be sent
//!   again in time. It carries them half as often.
//! * *The last round*: a lost chunk may be late after a second loss. Such a chunk leaves by the two best paths at once.
//!   Copies of all new data would double the number of bytes. Copies of retransmissions cost only the share of the data
//!   that is lost (Meng et al., "Hairpin", NSDI 2024).
//! * *Way for others*: the quicker paths may be full while an old message waits for them, because only they can deliver
//!   it in time. The old message then keeps the slower path idle for all messages after it. The later messages also
//!   become old. The slower path thus stays idle, while the quicker paths carry less than the source produces. In that
//!   case, the old message is given up if no part of it was sent.
//! * *No way*: a message is given up if the delays of all paths are too long for it even without queues. There are two
//!   further conditions: more messages wait after it, and no part of it was sent.
//! * *A stall is not an end*: instead of being given up, a message may wait for a path that is suspected but not dead.
//!   It waits while it could still arrive in time by that path. There is a condition for each other path: it has no
//!   room, has enough data until the next decision, or would be too late even for a new message. Under this condition,
//!   the wait delays no message that could be in time.
//! * *Triage*: whole frames are given up early if not all of them can be in time (`schedule/triage.rs`).
//!
//! Data without deadlines are scheduled as in [`EarliestArrival`]. If a peer does not report arrivals, it gets no data
//! probes. Only a timeout would show the loss of a probe on a silent path.

use core::cmp::Reverse;

use strandcast_keys::keys;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    Act, Assignment, Backlog, Flight, GiveUp, PathId, PathState, PathView, Policy, RepairOffer, Scheduler,
    Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::earliest_arrival::{Choices, EarliestArrival, Forecast, too_late};
use super::metered::{METERED, Metered};
use super::triage::Triage;
use crate::estimate::Verdict;
use crate::part::{Estimators, SchedulerPart};

/// Loss share below which a path carries data probes that could not be sent again in time. ASSUMED.
const RELIABLE: f64 = 0.001;
/// Interval of a data probe without time for a second attempt, as a multiple of [`WaryConfig::data_probe`]. ASSUMED.
/// The measurements are in docs/measurements/strand.md.
const SLOW_PROBE: u32 = 2;
/// Least number of chunks between two data probes without time for a second attempt. A thin stream therefore does not
/// take that path. ASSUMED.
const BETWEEN: u32 = 3;

keys! {
    /// The keys of [`Wary`].
    #[derive(Copy)]
    pub struct WaryConfig {
        /// interval of data probes on each path that would deliver them in time; 0: no data probes
        data_probe: Duration [0, 1000, "ms"] = Duration::from_millis(25),
        /// if a second loss would make a lost chunk late, it is retransmitted on two paths at once
        last_round: bool = true,
        /// if the waiting messages cannot all be in time, give up whole frames, the least important first
        triage: bool = false,
        /// SACK.Delay between two Strandcast peers
        ack_delay: Duration [1, 200, "ms"] = Duration::from_millis(15),
        /// greatest ratio of the bytes of copies to the bytes of media
        copy_share: f64 [0.0, 100.0, "%"] = 5.0,
    }
}

impl SchedulerPart for WaryConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        let (inner, metered) = Default::default();
        let triage = self.triage.then(Triage::new);
        Box::new(Wary { config: *self, inner, metered, triage, between: BETWEEN, life: 0.0 })
    }

    fn tune(&self, config: &mut TransportConfig) {
        if let Some(delay) = &mut config.sack_delay_strandcast {
            *delay = self.ack_delay.min(*delay);
        }
        config.redundancy.get_or_insert(self.copy_share / 100.0);
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.delivery();
    }

    fn tariffs(&self) -> bool {
        true
    }
}

/// Scheduler of earliest arrival, with data probes and a doubled last round.
#[derive(Debug)]
pub struct Wary {
    config: WaryConfig,
    inner: EarliestArrival,
    metered: Metered,
    triage: Option<Triage>,
    /// Number of chunks since the last decision for a data probe without time for a second attempt, including that
    /// probe.
    between: u32,
    /// Longest remaining time of any message in seconds. New messages have this time.
    life: f64,
}

impl Wary {
    /// Returns a path that takes the chunk as a data probe although another path may be quicker. On this path, the
    /// chunk is in time even if it is lost once. If the chunk would be too late after one loss, the path must have
    /// almost no loss.
    fn data_probe(&mut self, view: &View<'_>, choices: &Choices<'_>, len: u64, left: f64) -> Option<PathId> {
        // Without reports, a probe shows nothing about a path. Only timers would detect its failure.
        if choices.len() < 2 || !view.peer_reports {
            return None;
        }
        let since = |p: &PathView| p.last_sent.map_or(Duration::MAX, |at| view.now.saturating_since(at));
        let can = |(path, forecast): &(&PathView, Forecast), lost_once: f64| {
            path.has_room() && path.tariff.class < METERED && forecast.arrival + lost_once <= left
        };
        let fits = |c: &(&PathView, Forecast)| can(c, c.1.resend);
        let probes = |c: &(&PathView, Forecast)| {
            let (path, forecast) = *c;
            let little = path.in_flight == 0 || 2 * (path.in_flight + len) <= path.limit.cwnd;
            let each = self.config.data_probe;
            let slow = self.between >= BETWEEN
                && since(path) >= each * SLOW_PROBE
                && path.srtt.is_some()
                && forecast.loss < RELIABLE
                && can(c, 0.0);
            !each.is_zero() && little && (slow || since(path) >= each && fits(c))
        };
        let due = choices.iter().filter(|c| probes(c));
        let due = due.max_by_key(|c| (since(c.0), Reverse(c.0.id)));
        if due.is_some_and(|c| !fits(c)) {
            self.between = 0;
        }
        due.map(|c| c.0.id)
    }

    /// Returns the paths that a chunk of `len` bytes may take. The chunk is useless after `left` seconds.
    #[inline]
    fn open<'a>(&mut self, view: &View<'a>, len: u64, left: Option<f64>) -> Choices<'a> {
        let mut choices = self.inner.choices(view, len);
        let barred = self.metered.barred(view, &choices, left);
        if !barred.is_empty() {
            choices.retain(|c| !barred.contains(c.0.id));
        }
        choices
    }

    /// Returns a second path for a chunk on the path `first`. The second path is needed if the chunk could not be sent
    /// again in time after a loss on that path.
    fn second(&self, choices: &Choices<'_>, first: PathId, left: f64) -> Option<PathId> {
        let taken = choices.iter().find(|c| c.0.id == first)?;
        if !self.config.last_round || taken.1.arrival + taken.1.resend <= left {
            return None;
        }
        let others = choices.iter().filter(|c| c.0.id != first && c.0.has_room() && c.1.in_time(left));
        let others = others.filter(|c| c.0.tariff.class < METERED);
        others.min_by(|a, b| a.1.arrival.total_cmp(&b.1.arrival)).map(|(path, _)| path.id)
    }
}

/// Returns whether another path is suspected but not dead, and would deliver a message in time if it answered now. The
/// message has `left` seconds left.
fn may_return(view: &View<'_>, choices: &Choices<'_>, left: f64) -> bool {
    let suspected = |p: &PathView| matches!(Verdict::of(p), Verdict::Stalled | Verdict::Silent);
    let in_time = |p: &PathView| p.srtt.is_some_and(|srtt| srtt.as_secs_f64() / 2.0 < left);
    let other = |p: &PathView| choices.iter().all(|c| c.0.id != p.id);
    choices.len() < view.paths.len() && view.usable_paths().any(|p| other(p) && suspected(p) && in_time(p))
}

/// Returns whether two conditions hold. A new message with `life` seconds would be in time on the path, and without
/// that message the path would be idle before the next decision.
fn takes_new((path, forecast): &(&PathView, Forecast), life: f64) -> bool {
    path.has_room() && !forecast.busy() && !forecast.hopeless(life)
}

/// Returns whether the delays of all these paths are too long for a chunk, even without queues. The chunk is useless
/// after `left` seconds. The result holds for any start of the player's clock. The clock starts at the earliest with
/// the first arrival by the quickest path.
fn pointless(view: &View<'_>, choices: &Choices<'_>, left: f64) -> bool {
    if choices.is_empty() || choices.iter().any(|c| c.1.way <= left || c.0.srtt.is_none()) {
        return false;
    }
    let ways = view.paths.iter().filter(|p| p.state != PathState::Closed);
    let ways = ways.filter_map(|p| p.est.reference_rtt.or(p.min_rtt)).map(|rtt| rtt.as_secs_f64() / 2.0);
    let soonest = ways.fold(f64::INFINITY, f64::min);
    choices.iter().all(|c| c.1.way > left + soonest)
}

/// Returns whether the next message blocks a path that later messages could take. Meanwhile, the paths for which it
/// waits must carry less than the stream sends. All waiting messages were submitted within the age of the next message.
/// The number of these messages gives the rate of the stream.
fn blocks(choices: &Choices<'_>, backlog: &Backlog, left: f64, life: f64) -> bool {
    let idle = |(path, forecast): &(&PathView, Forecast)| {
        path.has_room() && !forecast.in_time(left) && forecast.in_time(life)
    };
    let timely = || choices.iter().filter(|c| c.1.in_time(left));
    let carried = timely().map(|c| c.1.rate).sum::<f64>();
    let known = if timely().next().is_some() {
        timely().all(|c| c.1.tested)
    } else {
        choices.iter().all(|c| c.1.tested)
    };
    known && choices.iter().any(idle) && backlog.bytes as f64 > carried * (life - left)
}

impl Policy for Wary {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        self.inner.on_signal(view, signal);
        if let Signal::Sent(chunk) = signal {
            self.between = self.between.saturating_add(1);
            if let Some(triage) = &mut self.triage {
                triage.on_sent(chunk);
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.inner.poll_timeout()
    }

    fn acts(&self) -> bool {
        self.triage.is_some()
    }

    fn act(&mut self, view: &View<'_>, flight: &Flight<'_>) -> Option<Act> {
        self.triage.as_mut()?.act(view, flight, &self.inner)
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.extend(self.triage.iter().map(|triage| ("groups_given_up", triage.given_up)));
    }
}

impl Scheduler for Wary {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        let left = backlog.next_expires.map(|e| e.saturating_since(view.now).as_secs_f64());
        let left = left.filter(|left| *left > 0.0);
        let choices = self.open(view, backlog.next_len, left);
        let Some(left) = left else { return self.inner.among(view, backlog, &choices) };
        self.life = self.life.max(left);
        let others_wait = backlog.messages > 1 && !backlog.begun;
        let no_way = (backlog.retransmission || others_wait) && pointless(view, &choices, left);
        if may_return(view, &choices, left)
            && (no_way || too_late(&choices, left, self.life, backlog))
            && (pointless(view, &choices, self.life) || !choices.iter().any(|c| takes_new(c, self.life)))
        {
            return self.inner.hold(view);
        }
        if no_way {
            return Some(Assignment::nowhere(GiveUp::TooFar));
        }
        // For data probes, only a single chunk counts, and not the whole message.
        if backlog.rest > backlog.next_len && too_late(&choices, left, self.life, backlog) {
            return Some(Assignment::nowhere(GiveUp::TooLate));
        }
        if !backlog.retransmission
            && let Some(path) = self.data_probe(view, &choices, backlog.next_len, left)
        {
            return Some(Assignment::on(path, 1));
        }
        let Some(mut assignment) = self.inner.among(view, backlog, &choices) else {
            let new = !backlog.retransmission && !backlog.begun;
            let blocks = new && blocks(&choices, backlog, left, self.life);
            return blocks.then(|| Assignment::nowhere(GiveUp::MakesWay));
        };
        if let [first] = assignment.paths[..]
            && backlog.retransmission
        {
            assignment.paths.extend(self.second(&choices, first, left));
        }
        Some(assignment)
    }

    /// Chooses as the default method does, but never chooses a metered path.
    fn next_repair(&mut self, view: &View<'_>, offer: &RepairOffer) -> Option<PathId> {
        let arrives = |p: &PathView| view.now + p.srtt.unwrap_or_default() / 2;
        let in_time = |p: &&PathView| offer.expires.is_none_or(|(_, last)| arrives(p) < last);
        let fit = view.usable_paths().filter(|p| p.has_room() && p.tariff.class < METERED).filter(in_time);
        fit.min_by_key(|p| (offer.sent_on(p.id), p.srtt.unwrap_or(Duration::MAX), p.id)).map(|p| p.id)
    }
}

#[cfg(test)]
mod tests;
