//! The sender's clock as the receiver sees it. All values are nanoseconds.

use crate::MediaTime;
use core::time::Duration;
use std::collections::VecDeque;

/// The least difference is taken over this long.
const WINDOW: i64 = 30_000_000_000;
/// Within this long one difference is kept.
const BUCKET: i64 = 250_000_000;
/// The offset moves by at most one part in this many: 500 ppm, several times what two crystals differ.
const SLEW: i64 = 2_000;
/// Arriving this long before the offset allows means that the sender's clock jumped ahead.
const JUMP_AHEAD: i64 = 1_000_000_000;
/// Only late messages for this long, or for the latency if that is longer, mean that it jumped back.
const JUMP_BACK: i64 = 1_000_000_000;

/// Relates send times to the receiver's clock.
#[derive(Debug)]
pub(super) struct SenderClock {
    latency: i64,
    /// Receiver's clock less sender's, plus the shortest way, slewed.
    offset: i64,
    /// Something was played by this clock.
    playing: bool,
    slewed_at: i64,
    /// (bucket, difference), both rising: the first is the least of the window.
    least: VecDeque<(i64, i64)>,
    /// Added to send times from message `since` on, and before it.
    shift: i64,
    since: i64,
    shift_before: i64,
    /// Since when only late messages came, and their least difference.
    late: Option<(i64, i64)>,
    jumps: u64,
}

impl SenderClock {
    /// A clock that begins with message `sequence`, sent at `sent`, arrived at `now`.
    pub(super) fn new(latency: Duration, now: MediaTime, sent: MediaTime) -> Self {
        SenderClock {
            latency: i64::try_from(latency.as_nanos()).unwrap_or(i64::MAX / 4),
            offset: ns(now) - ns(sent),
            playing: false,
            slewed_at: ns(now),
            least: VecDeque::new(),
            shift: 0,
            since: i64::MIN,
            shift_before: 0,
            late: None,
            jumps: 0,
        }
    }

    /// When message `sequence`, sent at `sent`, is due.
    pub(super) fn due(&self, sequence: i64, sent: MediaTime) -> MediaTime {
        let due = ns(sent)
            .saturating_add(self.shift_of(sequence))
            .saturating_add(self.offset)
            .saturating_add(self.latency);
        MediaTime::from_nanos(u64::try_from(due).unwrap_or(0))
    }

    /// How often the sender's clock jumped.
    pub(super) fn jumps(&self) -> u64 {
        self.jumps
    }

    /// From now on the offset moves slowly.
    pub(super) fn set_playing(&mut self) {
        self.playing = true;
    }

    /// Learns from a message that has arrived; `newest` if no later one has. False if it can't have come so early, and
    /// its send time means nothing.
    pub(super) fn observe(&mut self, now: MediaTime, sequence: i64, sent: MediaTime, newest: bool) -> bool {
        let now = ns(now);
        let mut difference = now - ns(sent).saturating_add(self.shift_of(sequence));
        if !self.playing {
            self.offset = self.offset.min(difference);
        } else if newest && self.jumped(now, difference) {
            // What was the difference before is it again: this message counts as having come the shortest way.
            let by = self.late.take().map_or(difference, |(_, least)| least) - self.offset;
            self.shift_before = self.shift;
            self.since = sequence;
            self.shift += by;
            difference -= by;
            self.least.clear();
            self.jumps += 1;
        } else if self.too_early(difference) {
            // It may have been sent after a jump and been overtaken by the message that told of it.
            difference = now - ns(sent).saturating_add(self.shift);
            if self.too_early(difference) || sequence >= self.since {
                return false;
            }
            self.since = sequence;
        }
        self.remember(now / BUCKET, difference);
        if self.playing {
            self.slew(now);
        }
        true
    }

    fn too_early(&self, difference: i64) -> bool {
        self.playing && difference - self.offset < -JUMP_AHEAD
    }

    fn shift_of(&self, sequence: i64) -> i64 {
        if sequence >= self.since { self.shift } else { self.shift_before }
    }

    /// Whether the newest message tells that the sender's clock jumped; if back, `late` holds by how much.
    fn jumped(&mut self, now: i64, difference: i64) -> bool {
        if difference - self.offset <= self.latency {
            self.late = None;
            return self.too_early(difference);
        }
        let (since, least) = self.late.unwrap_or((now, difference));
        self.late = Some((since, least.min(difference)));
        now - since >= self.latency.max(JUMP_BACK)
    }

    fn remember(&mut self, bucket: i64, difference: i64) {
        while self.least.back().is_some_and(|&(_, d)| d >= difference) {
            self.least.pop_back();
        }
        if self.least.back().is_none_or(|&(b, _)| b != bucket) {
            self.least.push_back((bucket, difference));
        }
        while self.least.front().is_some_and(|&(b, _)| b < bucket - WINDOW / BUCKET) {
            self.least.pop_front();
        }
    }

    fn slew(&mut self, now: i64) {
        let step = (now - self.slewed_at).max(0) / SLEW;
        // Shorter times would be rounded away.
        if step == 0 {
            return;
        }
        self.slewed_at = now;
        if let Some(&(_, least)) = self.least.front() {
            self.offset += (least - self.offset).clamp(-step, step);
        }
    }
}

/// A point in time, signed. Two points of 146 years still add up without overflow.
fn ns(t: MediaTime) -> i64 {
    i64::try_from(t.as_nanos()).unwrap_or(i64::MAX).min(i64::MAX / 4)
}
