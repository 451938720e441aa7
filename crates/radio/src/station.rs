//! Reception of a station, and its access to the medium. Times are nanoseconds.

use crate::rules::{NEVER, Rules};

/// No frame is being received.
pub(crate) const NO_FRAME: u32 = u32::MAX;
/// No backoff is pending.
const NO_BACKOFF: u32 = u32::MAX;
/// Access without backoff.
const IMMEDIATE: u32 = u32::MAX - 1;
/// Value for an access that began without backoff, before the medium became busy.
const UNDRAWN: u32 = u32::MAX - 2;

/// State of a frame that a station follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearing {
    /// The frame has had no errors.
    Good,
    /// The frame is too weak, or overlaps a transmission of the station.
    Bad,
    /// Another frame has disturbed the frame.
    Collided,
}

/// Step of a station in an exchange of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// No exchange: the station contends for the medium or has nothing to send.
    None,
    /// The station transmits a frame.
    Sending,
    /// The station has sent an RTS.
    AwaitCts,
    /// The station has sent data.
    AwaitAck,
    /// The station has sent a CTS.
    AwaitData,
    /// The station waits SIFS before a CTS.
    CtsDue,
    /// The station waits SIFS before data.
    DataDue,
    /// The station waits SIFS before an ACK.
    AckDue,
}

/// The state of a station that each nearby frame changes.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Station {
    /// The followed frame.
    pub frame: u32,
    pub hearing: Hearing,
    pub exchange: Exchange,
    /// True if the last frame followed to its end had errors (for `Eifs::Interval`).
    bad: bool,
    /// Power of the followed frame.
    pub power: f32,
    /// Power of all frames on the air, if interference is summed.
    pub sum: f64,
    pub frame_start: u64,
    pub frame_end: u64,
    /// End of the latest transmission.
    pub sending_until: u64,
    nav: u64,
    /// End of a NAV set by an RTS if no frame begins before.
    nav_reset: u64,
    /// Time until which the medium was last in use, by this station or by a station that it senses.
    air_free: u64,
    /// Beginning of the station's idle time, in the past or future; `NEVER` while it is busy.
    idle_from: u64,
    idle_total: u64,
    /// Slots of backoff left.
    slots: u32,
    pub cw: u32,
    /// Time from which slots are counted.
    count_from: u64,
    /// Deadline of the timer: the end of backoff, a response, or a timeout.
    pub deadline: u64,
}

impl Station {
    pub fn new(cw: u32) -> Station {
        Station {
            frame: NO_FRAME,
            hearing: Hearing::Good,
            exchange: Exchange::None,
            bad: false,
            power: 0.0,
            sum: 0.0,
            frame_start: 0,
            frame_end: 0,
            sending_until: 0,
            nav: 0,
            nav_reset: NEVER,
            air_free: 0,
            idle_from: 0,
            idle_total: 0,
            slots: NO_BACKOFF,
            cw,
            count_from: 0,
            deadline: NEVER,
        }
    }

    /// Returns whether a frame began to arrive before `now` or the NAV is set.
    pub fn senses(&self, now: u64) -> bool {
        (self.frame != NO_FRAME && self.frame_start < now) || self.nav() > now
    }

    /// Returns whether the station waits for a CTS or an ACK.
    pub fn awaits_response(&self) -> bool {
        matches!(self.exchange, Exchange::AwaitCts | Exchange::AwaitAck)
    }

    /// End of the NAV if no frame begins before.
    pub fn nav(&self) -> u64 {
        self.nav.min(self.nav_reset)
    }

    /// Extends the NAV to at least `until`; with `reset`, only if a frame begins before that time.
    pub fn set_nav(&mut self, until: u64, reset: u64) {
        if until > self.nav() {
            self.nav = until;
            self.nav_reset = reset;
        }
    }

    /// Stops counting slots because the medium is in use. A timer that expires now still runs.
    #[inline]
    pub fn freeze(&mut self, now: u64, slot: u64) {
        if self.idle_from == NEVER {
            return;
        }
        self.idle_total += now.saturating_sub(self.idle_from);
        self.idle_from = NEVER;
        if self.slots == NO_BACKOFF || self.deadline <= now {
            return;
        }
        self.deadline = NEVER;
        if self.slots >= UNDRAWN {
            self.slots = UNDRAWN;
        } else if now > self.count_from {
            self.slots -= whole_slots(now - self.count_from, slot).min(self.slots);
        }
    }

    /// Handles the beginning of a frame: a NAV set by an RTS remains, unless it has ended.
    #[inline]
    pub fn frame_begins(&mut self, now: u64) {
        if self.nav_reset != NEVER {
            if now >= self.nav_reset {
                self.nav = self.nav_reset;
            }
            self.nav_reset = NEVER;
        }
    }

    /// Handles the end of the followed frame, with or without errors.
    #[inline]
    pub fn frame_ended(&mut self, bad: bool) {
        self.frame = NO_FRAME;
        self.bad = bad;
    }

    /// Records a transmission until `end`. EIFS follows a reception with errors, and DIFS follows a
    /// transmission of the station (IEEE 802.11-2007, §9.2.3.5).
    pub fn transmits(&mut self, end: u64) {
        self.sending_until = end;
        self.bad = false;
    }

    /// Records that the medium is free again.
    #[inline]
    pub fn air_is_free(&mut self, now: u64) {
        self.air_free = now;
    }

    /// Continues a backoff outside an exchange, DIFS after both the medium and the NAV became free.
    #[inline]
    pub fn resume(&mut self, now: u64, rules: &Rules) {
        if self.exchange != Exchange::None || self.frame != NO_FRAME || self.idle_from != NEVER {
            return;
        }
        self.idle_from = now.max(self.nav());
        if self.slots != NO_BACKOFF {
            self.count(now, rules);
        }
    }

    /// Time from which an idle station may count slots at `now`.
    fn access_from(&self, now: u64, rules: &Rules) -> u64 {
        let free = if rules.difs_after_timeout { now } else { self.air_free };
        let interval = if self.bad { rules.eifs_time } else { rules.difs };
        (free + interval).max(self.nav() + rules.difs)
    }

    /// Counts slots from now on, aligned to whole slots if the medium has been idle for longer.
    #[inline]
    fn count(&mut self, now: u64, rules: &Rules) {
        let mut from = self.access_from(now, rules);
        if now > from {
            from += (now - from).div_ceil(rules.slot) * rules.slot;
        }
        self.count_from = from;
        let slots = if self.slots >= UNDRAWN { 0 } else { self.slots };
        self.deadline = from + u64::from(slots) * rules.slot;
    }

    /// Begins a backoff of `slots`.
    pub fn back_off(&mut self, now: u64, slots: u32, rules: &Rules) {
        self.slots = slots;
        if self.idle_from != NEVER {
            self.count(now, rules);
        }
    }

    /// Accesses the medium without backoff, once it has been idle for DIFS. Returns false if the medium is in
    /// use.
    pub fn access_now(&mut self, now: u64, rules: &Rules) -> bool {
        if self.idle_from > now {
            return false;
        }
        self.slots = IMMEDIATE;
        self.count_from = self.access_from(self.air_free, rules).max(now);
        self.deadline = self.count_from;
        true
    }

    /// Draws the backoff of an expired timer that had none: slots are counted from now on. Returns true if
    /// the draw is zero slots.
    pub fn draw_late(&mut self, now: u64, slots: u32, rules: &Rules) -> bool {
        self.slots = slots;
        self.count_from = now;
        if self.idle_from != NEVER {
            self.deadline = now + u64::from(slots) * rules.slot;
        }
        slots == 0
    }

    /// Returns whether the backoff must still be drawn.
    pub fn undrawn(&self) -> bool {
        self.slots == UNDRAWN
    }

    /// Returns whether a backoff is pending.
    pub fn backing_off(&self) -> bool {
        self.slots != NO_BACKOFF
    }

    /// Ends the backoff.
    pub fn backoff_done(&mut self) {
        self.slots = NO_BACKOFF;
        self.deadline = NEVER;
    }

    /// Schedules a response after SIFS.
    pub fn respond(&mut self, now: u64, due: Exchange, rules: &Rules) {
        self.freeze(now, rules.slot);
        self.enter(due, now + rules.sifs);
    }

    /// Enters a step of an exchange. The step ends at `deadline`.
    pub fn enter(&mut self, exchange: Exchange, deadline: u64) {
        self.exchange = exchange;
        self.deadline = deadline;
    }

    /// Idle time until `now`.
    pub fn idle_time(&self, now: u64) -> u64 {
        self.idle_total + if self.idle_from == NEVER { 0 } else { now.saturating_sub(self.idle_from) }
    }
}

/// `time / slot`, by a 32-bit division if possible: it takes a third of the time, and each freeze needs one.
#[inline]
fn whole_slots(time: u64, slot: u64) -> u32 {
    match (u32::try_from(time), u32::try_from(slot)) {
        (Ok(time), Ok(slot)) => time / slot,
        _ => (time / slot) as u32,
    }
}
