//! Triage gives up whole frames early if not all waiting messages can be in time. The other frames are then in time.
//!
//! At the interval [`EACH`], triage makes a comparison for every deadline. It compares the bytes that are due by the
//! deadline with the bytes that the paths carry by then. There is an overload if the due bytes exceed the share
//! [`CARRIED`] of the carried bytes (test of earliest deadlines first). Triage then finds the first deadline with an
//! overload, and gives up one group of the messages that are due by it. It continues to the last deadline. The method
//! is that of Moore and Hodgson ("An n job, one machine sequencing algorithm", Management Science 15, 1968). The group
//! that is given up is the first of these:
//!
//! 1. A frame that refers to a frame that was given up. Such a frame is useless. It is given up as a whole if anything
//!    must be given up.
//! 2. The least important group.
//! 3. Among frames to which other frames refer: a frame whose group of pictures is over, because no further frame will
//!    refer to it.
//! 4. The latest frame, because the fewest other frames refer to it.
//!
//! If one message of a group was sent, the other messages are also kept, unless the group is useless.
//!
//! A message is given up only if it certainly does not fit. Every unknown value is assumed in favour of the message. A
//! path whose window still grows quickly is assumed to carry the rate that its threshold allows. Until it is dead, a
//! silent path is assumed to return at once. The delay of a path itself is assumed to take at most half of the
//! remaining time. Messages without a deadline are assumed to take no bytes. If no path is live or a path was never
//! measured, the capacity of the paths is unknown. Nothing is abandoned then. A single estimate may be wrong for a
//! moment. The overload must therefore last for the share [`HOLDOFF`] of the newest message's remaining time. This does
//! not apply if a message was given up within the last [`AFTER_GIVE_UP`].
//!
//! *Groups of pictures* follow from the importance of messages. A group of importance `Key` begins a group of pictures.
//! Later frames of this group of pictures refer to its frames of importance `Reference`. A frame that was given up is
//! recorded until the next key frame, but at most for [`MEMORY`].
//!
//! `ASSUMED`: all constants. docs/measurements/strand.md has the measurements.

use core::cmp::Reverse;

use smallvec::SmallVec;

use strandcast_proto::policy::{Act, ChunkInfo, Flight, Importance, PathState, PathView, View, Waiting};
use strandcast_proto::time::{Duration, Instant};

use super::earliest_arrival::{EarliestArrival, Forecast};
use crate::estimate::{MIN_QUEUE, NO_QUEUE, Verdict, tested};

/// Interval between checks of the waiting messages.
const EACH: Duration = Duration::from_millis(10);
/// Share of the bytes that the paths carry. If more bytes are due, there is an overload.
const CARRIED: f64 = 0.95;
/// Share of the newest message's remaining time for which the overload must last.
const HOLDOFF: f64 = 0.3;
/// Time after a message was given up. In this time no holdoff applies.
const AFTER_GIVE_UP: Duration = Duration::from_secs(2);
/// Time after which a reference frame that was given up no longer counts. By then, decoders have concealed the loss.
/// Streams without key frames have refreshed the picture.
const MEMORY: Duration = Duration::from_secs(5);
/// Greatest number of given-up reference frames that are stored.
const REMEMBERED: usize = 8;

/// State of the triage that the [module](self) describes.
#[derive(Debug, Default)]
pub(super) struct Triage {
    /// Time of the next check.
    next: Instant,
    /// Holdoff: [`HOLDOFF`], or zero in tests.
    holdoff: f64,
    /// Time since which there is an overload.
    since: Option<Instant>,
    /// Time until which there is no holdoff.
    no_holdoff_until: Instant,
    waiting: Vec<Unit>,
    /// Indices into `waiting`, in the order of deadlines.
    order: Vec<usize>,
    roads: SmallVec<[Road; 8]>,
    /// Groups to give up, in reverse order.
    drops: Vec<u64>,
    gaps: SmallVec<[Gap; REMEMBERED]>,
    /// Group of the last key frame that was sent, and group of the last message that was sent.
    key: Option<u64>,
    sent: Option<u64>,
    /// Number of groups given up so far.
    pub given_up: u64,
}

/// Messages that are kept or given up together. They are a group, or consecutive messages without a group.
#[derive(Copy, Clone, Debug)]
struct Unit {
    what: Waiting,
    /// Seconds until the last message of the unit is useless.
    left: f64,
    /// True if a message of the unit was sent.
    begun: bool,
    /// True if the unit refers to a frame that was given up.
    useless: bool,
    /// True if the unit's group of pictures is over.
    over: bool,
    given_up: bool,
}

/// State of a path, in bytes per second and seconds.
#[derive(Copy, Clone, Debug)]
struct Road {
    rate: f64,
    way: f64,
    waiting: f64,
}

/// Frames of a group of pictures that refer to a frame that was given up.
#[derive(Copy, Clone, Debug)]
struct Gap {
    /// Number of the first abandoned message. The gap begins with it.
    from: u64,
    /// Number of the next key frame.
    until: u64,
    /// Number of the key frame that precedes the gap.
    key: u64,
    at: Instant,
}

impl Unit {
    fn is_key(&self) -> bool {
        self.what.importance == Importance::Key && self.what.group.is_some()
    }

    /// Returns whether other frames refer to this frame.
    fn is_referred(&self) -> bool {
        self.what.importance >= Importance::Reference && self.what.group.is_some()
    }

    /// Rank of a frame that may be abandoned. The frame with the lowest rank is abandoned first.
    fn rank(&self) -> Option<(bool, Importance, bool, Reverse<u64>)> {
        let stays = self.given_up || self.what.group.is_none() || (self.begun && !self.useless);
        let open = self.is_referred() && !self.over;
        (!stays).then_some((!self.useless, self.what.importance, open, Reverse(self.what.message)))
    }
}

impl Road {
    /// Returns the state of `path` for new data, as far as the state is known.
    fn of(view: &View<'_>, path: &PathView, timers: &EarliestArrival) -> Option<Road> {
        let verdict = Verdict::of(path);
        if verdict == Verdict::Dead || path.tariff.left == Some(0) {
            return None;
        }
        let silence = if verdict < Verdict::Stalled { timers.silence(view, path) } else { 0.0 };
        let forecast = Forecast::new(view.now, path, 0, silence);
        let least = 2.0 * forecast.way;
        // If a window is below its threshold and has no queue, it doubles with each round trip.
        let opens = path.est.queue.unwrap_or(0.0) < (least * NO_QUEUE).max(MIN_QUEUE);
        let threshold = path.limit.ssthresh.unwrap_or(u64::MAX);
        let doubles = opens && threshold > path.limit.cwnd;
        let rate = if doubles { forecast.rate.max(threshold as f64 / least) } else { forecast.rate };
        Some(Road { rate, way: forecast.way, waiting: forecast.arrival - forecast.way })
    }

    /// Bytes that the path delivers within `left` seconds. Players may count time from the arrival of the first packet.
    fn carries(&self, left: f64) -> f64 {
        self.rate * (left - self.way.min(left / 2.0) - self.waiting).max(0.0)
    }
}

impl Triage {
    /// Makes the triage of a new association.
    pub fn new() -> Self {
        Triage { holdoff: HOLDOFF, ..Triage::default() }
    }

    /// Records that a chunk left for the first time.
    #[inline]
    pub fn on_sent(&mut self, chunk: &ChunkInfo) {
        if chunk.group != self.sent && chunk.sent_once() {
            self.begin(chunk);
        }
    }

    fn begin(&mut self, chunk: &ChunkInfo) {
        self.sent = chunk.group;
        if chunk.importance == Importance::Key && chunk.group.is_some() {
            // A new group of pictures begins. Later messages do not refer to earlier groups.
            self.gaps.retain(|gap| Some(gap.key) == chunk.group);
            self.key = chunk.group;
        }
    }

    /// Returns the next group to give up.
    pub fn act(&mut self, view: &View<'_>, flight: &Flight<'_>, timers: &EarliestArrival) -> Option<Act> {
        if self.drops.is_empty() && view.now >= self.next {
            self.next = view.now + EACH;
            self.look(view, flight, timers);
        }
        let group = self.drops.pop()?;
        self.given_up += 1;
        Some(Act::Drop { group })
    }

    fn look(&mut self, view: &View<'_>, flight: &Flight<'_>, timers: &EarliestArrival) {
        self.gather(view.now, flight);
        // If no message can be given up, the check is not needed.
        if !self.waiting.iter().any(|u| u.what.group.is_some()) {
            self.since = None;
            return;
        }
        let open = |p: &&PathView| matches!(p.state, PathState::Active | PathState::PotentiallyFailed);
        let paths = || view.paths.iter().filter(open);
        let live = |p: &PathView| p.state == PathState::Active && Verdict::of(p) < Verdict::Stalled;
        if !paths().any(live) || paths().any(|p| live(p) && p.tariff.left != Some(0) && !tested(view.now, p))
        {
            self.since = None;
            return;
        }
        self.roads.clear();
        self.roads.extend(paths().filter_map(|p| Road::of(view, p, timers)));
        self.relate(view.now);
        if !self.select(flight.requeued() as f64) {
            self.since = None;
            return;
        }
        let longest = self.waiting.iter().map(|u| u.left).fold(0.0, f64::max);
        let since = *self.since.get_or_insert(view.now);
        let holdoff = if view.now < self.no_holdoff_until { 0.0 } else { self.holdoff * longest };
        if view.now.saturating_since(since).as_secs_f64() >= holdoff {
            (self.since, self.no_holdoff_until) = (None, view.now + AFTER_GIVE_UP);
            self.remember(view.now);
            let gone = self.waiting.iter().filter(|u| u.given_up);
            self.drops.extend(gone.rev().filter_map(|u| u.what.group));
        }
    }

    /// Collects the waiting messages that still have time left. Each group becomes one unit, in the order in which
    /// groups begin.
    fn gather(&mut self, now: Instant, flight: &Flight<'_>) {
        let mut units = core::mem::take(&mut self.waiting);
        units.clear();
        for run in flight.waiting() {
            let Some(left) = run.expires.map(|e| e.saturating_since(now).as_secs_f64()) else { continue };
            if left <= 0.0 {
                continue;
            }
            let begun = run.begun || (run.group.is_some() && run.group == self.sent);
            // The application submits messages of only few groups at a time.
            let same = |u: &&mut Unit| run.group.is_some() && u.what.group == run.group;
            if let Some(unit) = units.iter_mut().rev().take(16).find(same) {
                unit.what.bytes += run.bytes;
                unit.what.importance = unit.what.importance.max(run.importance);
                unit.left = unit.left.max(left);
            } else {
                let (useless, over, given_up) = (false, false, false);
                units.push(Unit { what: run, left, begun, useless, over, given_up });
            }
        }
        self.waiting = units;
        self.order.clear();
        self.order.extend(0..self.waiting.len());
        let units = &self.waiting;
        self.order.sort_unstable_by(|a, b| units[*a].left.total_cmp(&units[*b].left).then(a.cmp(b)));
    }

    /// Marks the units that refer to a frame that was given up. Marks the units whose group of pictures is over.
    fn relate(&mut self, now: Instant) {
        let oldest = self.waiting.first().map_or(u64::MAX, |u| u.what.message);
        let keys = self.waiting.iter().filter(|u| u.is_key()).map(|u| u.what.message);
        for gap in &mut self.gaps {
            gap.until = keys.clone().filter(|k| *k > gap.from).min().unwrap_or(u64::MAX).min(gap.until);
        }
        self.gaps.retain(|gap| gap.until > oldest && now.saturating_since(gap.at) < MEMORY);
        let last = keys.max().unwrap_or(0);
        let gaps = &self.gaps;
        for unit in &mut self.waiting {
            let message = unit.what.message;
            unit.over = message < last;
            let lacks = gaps.iter().any(|gap| gap.from < message && message < gap.until);
            unit.useless = lacks && unit.what.group.is_some();
        }
    }

    /// Gives up the units that do not fit. Earliest deadlines come first. `ahead` bytes are due before all of these
    /// units. Returns false if nothing is given up.
    fn select(&mut self, ahead: f64) -> bool {
        let (mut due, mut any) = (ahead, false);
        for place in 0..self.order.len() {
            let unit = &self.waiting[self.order[place]];
            if unit.given_up {
                continue;
            }
            let left = unit.left;
            due += unit.what.bytes as f64;
            let most = CARRIED * self.roads.iter().map(|road| road.carries(left)).sum::<f64>();
            while due > most
                && let Some(one) = self.first_to_go(place)
            {
                due -= self.waiting[one].what.bytes as f64;
                self.give_up(one);
                any = true;
            }
        }
        if any {
            self.waiting.iter_mut().for_each(|u| u.given_up |= u.useless);
        }
        any
    }

    /// Returns the first message to abandon among the messages that are due up to a position in the order.
    fn first_to_go(&self, place: usize) -> Option<usize> {
        let ranked = self.order[..=place].iter().filter_map(|n| Some((self.waiting[*n].rank()?, *n)));
        ranked.min().map(|(_, n)| n)
    }

    fn give_up(&mut self, one: usize) {
        self.waiting[one].given_up = true;
        if self.waiting[one].is_referred() && self.key_before(one).is_some() {
            let rest = self.waiting[one + 1..].iter_mut().take_while(|u| !u.is_key());
            rest.filter(|u| u.what.group.is_some()).for_each(|u| u.useless = true);
        }
    }

    /// Returns the key frame that begins the unit's group of pictures. Returns `None` if it is unknown.
    fn key_before(&self, one: usize) -> Option<u64> {
        let waits = self.waiting[..=one].iter().rev().find(|u| u.is_key());
        waits.map_or(self.key, |u| u.what.group)
    }

    /// Records given-up frames to which later frames may refer.
    fn remember(&mut self, now: Instant) {
        for one in 0..self.waiting.len() {
            let unit = &self.waiting[one];
            let from = unit.what.message;
            if !unit.given_up
                || !unit.is_referred()
                || self.gaps.iter().any(|g| g.from <= from && from < g.until)
            {
                continue;
            }
            let Some(key) = self.key_before(one) else { continue };
            let next = self.waiting[one + 1..].iter().find(|u| u.is_key());
            let until = next.map_or(u64::MAX, |u| u.what.message);
            if self.gaps.len() == REMEMBERED {
                self.gaps.remove(0);
            }
            self.gaps.push(Gap { from, until, key, at: now });
        }
    }
}

#[cfg(test)]
mod tests;
