//! Estimate of the sender's clock at the receiver, and the shift of playout beyond the configured latency. All values
//! are in nanoseconds.

use core::time::Duration;
use std::collections::VecDeque;

use super::late::{LateRun, Verdict};
use super::shift::{ClockChange, ShiftCause};
use super::window::{BUCKET, Recent, WindowMinimum};
use crate::MediaTime;

/// Reciprocal of the maximum rate at which the offset follows drift. The rate is 500 ppm, several times the difference
/// between two quartz oscillators.
const DRIFT: i64 = 2_000;
/// Reciprocal of the rate at which a shift recovers: playout is 5 % faster.
const RETURN: i64 = 20;
/// Reciprocal of the recovery rate for shifts up to [`SMALL`]. Such a shift is gone within 10 s, including the second
/// before recovery starts.
const RETURN_SMALL: i64 = 16;
const SMALL: i64 = 500_000_000;
/// If a message arrives earlier than the offset permits by more than this time, the sender's clock was set ahead.
const AHEAD: i64 = 1_000_000_000;
/// Least difference that counts as a step. Smaller differences are drift, jitter or rounding.
const STEP: i64 = 50_000_000;
/// Time for which a delay must be longer before the clock follows it.
const SURE: i64 = 5_000_000_000;
/// Greatest distance between the differences of two messages that indicate the same jump of the clock.
const ALIKE: u64 = 250_000_000;
/// While a shift recovers, messages arrive before their due time by at least this fraction of the latency.
const MARGIN: i64 = 16;

/// Converts send times to the receiver's clock.
#[derive(Debug)]
pub(super) struct SenderClock {
    latency: i64,
    /// Offset: the receiver's clock less the sender's clock, plus the minimum delay, plus the shift.
    offset: i64,
    /// True once a message was played by this clock.
    playing: bool,
    slewed_at: i64,
    /// The minimum delay so far. The minimum rises slowly while all recent delays are longer.
    shortest: i64,
    /// Differences of the last 30 s, and of the last second.
    least: WindowMinimum,
    recent: Recent,
    /// Corrections of send times for jumps of the sender's clock: from message `since` on, and before it.
    jump: i64,
    since: i64,
    jump_before: i64,
    /// Send time and difference of the newest accepted message.
    newest: (i64, i64),
    /// The first message that indicated that the clock was set back, and the amount. A second message must confirm
    /// this.
    set_back: Option<(i64, i64)>,
    /// Difference of the last message that was in time.
    in_time: i64,
    late: Option<LateRun>,
    /// Shift: the time by which messages are played later than `latency` after the minimum delay.
    shift: i64,
    /// True while the offset decreases after a shift.
    returning: bool,
    /// Reported target of an increasing offset.
    rising: Option<i64>,
    /// Time for which the minimum delay has exceeded the offset by more than drift.
    longer_for: i64,
    changes: VecDeque<ClockChange>,
}

impl SenderClock {
    /// Creates a clock from a message sent at `sent` and received at `now`.
    pub(super) fn new(latency: Duration, now: MediaTime, sent: MediaTime) -> Self {
        let difference = ns(now) - ns(sent);
        SenderClock {
            latency: i64::try_from(latency.as_nanos()).unwrap_or(i64::MAX / 4),
            offset: difference,
            playing: false,
            slewed_at: ns(now),
            shortest: difference,
            least: WindowMinimum::default(),
            recent: Recent::default(),
            jump: 0,
            since: i64::MIN,
            jump_before: 0,
            newest: (ns(sent), difference),
            set_back: None,
            in_time: difference,
            late: None,
            shift: 0,
            returning: false,
            rising: None,
            longer_for: 0,
            changes: VecDeque::new(),
        }
    }

    /// Due time of message `sequence`, sent at `sent`.
    pub(super) fn due(&self, sequence: i64, sent: MediaTime) -> MediaTime {
        let due =
            self.translated(sequence, ns(sent)).saturating_add(self.offset).saturating_add(self.latency);
        MediaTime::from_nanos(u64::try_from(due).unwrap_or(0))
    }

    /// Time for which the minimum delay has exceeded the offset by more than drift explains.
    pub(super) fn shift(&self) -> Duration {
        duration(self.shift)
    }

    /// Limits the speed of the offset from now on.
    pub(super) fn set_playing(&mut self) {
        self.playing = true;
    }

    /// Returns the oldest change that was not returned yet.
    pub(super) fn pop_change(&mut self) -> Option<ClockChange> {
        self.changes.pop_front()
    }

    /// Updates the clock from an arrival. `newest` is true if no later message has arrived. Returns false if the
    /// message is impossibly early, so that its send time is invalid.
    pub(super) fn observe(&mut self, now: MediaTime, sequence: i64, sent: MediaTime, newest: bool) -> bool {
        let (now, sent) = (ns(now), ns(sent));
        if newest {
            self.follow_jump(now, sequence, sent);
        }
        let mut difference = now.saturating_sub(self.translated(sequence, sent));
        if self.too_early(difference) {
            // The message may have been sent after the jump, and before the message that revealed the jump.
            difference = now.saturating_sub(sent.saturating_add(self.jump));
            if self.too_early(difference) || sequence >= self.since {
                return false;
            }
            self.since = sequence;
        }
        if newest && self.playing {
            difference -= self.judge(now, sequence, difference);
        }
        if newest && self.set_back.is_none() {
            self.newest = (sent, difference);
        }
        self.shortest = self.shortest.min(difference);
        let in_time = difference.saturating_sub(self.offset) <= self.latency;
        // Late messages do not update the minimum delay until their cause is clear.
        if in_time {
            self.least.add(now, difference);
        }
        self.recent.add(now, difference, in_time);
        if self.playing {
            self.slew(now);
        } else {
            self.offset = self.offset.min(difference);
        }
        true
    }

    fn too_early(&self, difference: i64) -> bool {
        self.playing && difference.saturating_sub(self.shortest) < -AHEAD
    }

    fn translated(&self, sequence: i64, sent: i64) -> i64 {
        sent.saturating_add(if sequence >= self.since { self.jump } else { self.jump_before })
    }

    /// Detects from the newest message that the sender's clock was set. It was set ahead if the message is impossibly
    /// early. It was set back if the message has a higher number but an earlier send time than another one, because no
    /// network causes this.
    fn follow_jump(&mut self, now: i64, sequence: i64, sent: i64) {
        let difference = now.saturating_sub(self.translated(sequence, sent));
        // Two consecutive messages have about the same delay.
        let (sent_before, usual) = self.newest;
        let by = difference.saturating_sub(usual);
        if self.too_early(difference) {
            self.jump(sequence, by);
        } else if sent < sent_before - STEP {
            match self.set_back.take() {
                Some((first, before)) if by.abs_diff(before) <= ALIKE => self.jump(first, by.min(before)),
                _ => self.set_back = Some((sequence, by)),
            }
            return;
        }
        self.set_back = None;
    }

    /// Records that the sender's clock jumped before message `sequence`: later differences are smaller by
    /// `by`.
    fn jump(&mut self, sequence: i64, by: i64) {
        self.jump_before = self.jump;
        self.since = sequence;
        self.jump = self.jump.saturating_add(by);
        self.late = None;
        self.changes.push_back(ClockChange::Jumped { back: by > 0, by: duration(by.saturating_abs()) });
    }

    /// Evaluates a run of late messages. Returns the time for which the sender's clock stood still.
    fn judge(&mut self, now: i64, sequence: i64, difference: i64) -> i64 {
        if difference.saturating_sub(self.offset) <= self.latency {
            self.late = None;
            self.in_time = difference;
            return 0;
        }
        let run = self.late.get_or_insert_with(|| LateRun::new(now, self.in_time, difference));
        let verdict = run.add(now, difference, self.offset, self.latency);
        match verdict {
            Verdict::Unclear => return 0,
            Verdict::StoodStill(by) => {
                self.jump(sequence, by);
                return by;
            }
            Verdict::LongerDelay(least) => {
                self.least = WindowMinimum::default();
                self.recent = Recent::default();
                self.shift_by(least - self.offset, ShiftCause::LongerDelay);
            }
            Verdict::Congestion(worst) => {
                let offset = worst - self.latency + self.latency / MARGIN;
                self.shift_by(offset - self.offset, ShiftCause::Congestion);
            }
        }
        self.late = None;
        0
    }

    /// Shifts playout by this much from now on.
    fn shift_by(&mut self, by: i64, cause: ShiftCause) {
        self.offset += by;
        self.shift += by;
        (self.returning, self.rising) = (false, None);
        self.changes.push_back(ClockChange::Shifted { by: duration(by), total: duration(self.shift), cause });
    }

    /// Moves the offset: quickly after a shift, and slowly for drift.
    fn slew(&mut self, now: i64) {
        let elapsed = (now - self.slewed_at).clamp(0, BUCKET);
        // Smaller changes would be lost by rounding.
        if elapsed < DRIFT {
            return;
        }
        self.slewed_at = now;
        // The lowest offset at which the arrivals of the last second would still be in time.
        let room =
            self.recent.reach(self.latency, self.latency / MARGIN).map_or(0, |reach| self.offset - reach);
        if self.returning || room > STEP {
            let part = if self.shift > SMALL { RETURN } else { RETURN_SMALL };
            let step = room.clamp(0, elapsed / part);
            self.offset -= step;
            self.shift = (self.shift - step).max(0);
            self.returning = room > step;
            if !self.returning && self.shift <= STEP {
                self.end_shift();
            }
        } else if let Some(least) = self.least.get() {
            self.follow(least, elapsed);
        }
    }

    /// Follows the minimum delay of the last 30 s.
    fn follow(&mut self, least: i64, elapsed: i64) {
        let most = elapsed / DRIFT;
        self.shortest += (least - self.shortest).clamp(0, most);
        let gap = least - self.offset;
        self.longer_for = if gap > STEP { self.longer_for + elapsed } else { 0 };
        if gap > STEP && self.rising.is_none() {
            // After an outage the window may contain only few samples.
            if self.longer_for < SURE {
                return;
            }
            self.rising = Some(least);
            let (by, total) = (duration(gap), duration(self.shift + gap));
            self.changes.push_back(ClockChange::Shifted { by, total, cause: ShiftCause::LongerDelay });
        }
        let told = self.rising.map_or(gap, |told| gap.min(told - self.offset));
        let step = told.clamp(-most, most);
        self.offset += step;
        if self.rising.is_some() || step < 0 {
            self.shift = (self.shift + step).max(0);
        }
        self.rising = self.rising.filter(|_| told > step);
    }

    fn end_shift(&mut self) {
        if std::mem::take(&mut self.shift) > 0 {
            self.changes.push_back(ClockChange::Returned);
        }
    }
}

/// Converts a time to a signed number of nanoseconds. The sum of two times of 146 years does not overflow.
fn ns(t: MediaTime) -> i64 {
    i64::try_from(t.as_nanos()).unwrap_or(i64::MAX).min(i64::MAX / 4)
}

fn duration(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}
