//! State of a station's reception and of its access to the medium. Times are in nanoseconds.

use crate::rules::{NEVER, Rules};

/// Value of `frame` while no frame is being received.
pub(crate) const NO_FRAME: u32 = u32::MAX;
/// Value of `slots` while no backoff is pending.
const NO_BACKOFF: u32 = u32::MAX;
/// Value of `slots` for access without backoff.
const IMMEDIATE: u32 = u32::MAX - 1;
/// Value of `slots` if access began without backoff and the medium then became busy.
const UNDRAWN: u32 = u32::MAX - 2;

/// State of a frame that a station follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearing {
    /// The frame has had no errors so far.
    Good,
    /// The frame is too weak, or overlaps with a transmission of the station.
    Bad,
    /// Another frame has disturbed the frame.
    Collided,
}

/// Step of an exchange of frames that a station has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// The station is in no exchange. A station in no exchange contends for the medium or has nothing to send.
    None,
    /// The station transmits a frame.
    Sending,
    /// The station sent an RTS and waits for a CTS.
    AwaitCts,
    /// The station sent data and waits for an ACK.
    AwaitAck,
    /// The station sent a CTS and waits for data.
    AwaitData,
    /// The station waits SIFS before it sends a CTS.
    CtsDue,
    /// The station waits SIFS before it sends data.
    DataDue,
    /// The station waits SIFS before it sends an ACK.
    AckDue,
}

/// State of a station that each frame nearby changes.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Station {
    /// Number of the frame that the station follows.
    pub frame: u32,
    pub hearing: Hearing,
    pub exchange: Exchange,
    /// True if the last frame that the station followed to its end had errors (for `Eifs::Interval`).
    bad: bool,
    /// Power of the frame that the station follows.
    pub power: f32,
    /// Total power of all frames on the air. The total power is used if interference is summed.
    pub sum: f64,
    pub frame_start: u64,
    pub frame_end: u64,
    /// End of the station's latest transmission.
    pub sending_until: u64,
    nav: u64,
    /// Time at which a NAV set by an RTS ends if no frame begins before.
    nav_reset: u64,
    /// Time until which the medium was last used by this station or by a station that it senses.
    air_free: u64,
    /// Beginning of the station's idle time, which may be in the future. The beginning is `NEVER` while the station is
    /// busy.
    idle_from: u64,
    idle_total: u64,
    /// Number of slots of the backoff that are left.
    slots: u32,
    pub cw: u32,
    /// Time from which slots are counted.
    count_from: u64,
    /// Deadline of the station's timer: the end of a backoff, a response, or a timeout.
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

    /// Returns whether the NAV is set or a frame began to arrive before `now`.
    pub fn senses(&self, now: u64) -> bool {
        (self.frame != NO_FRAME && self.frame_start < now) || self.nav() > now
    }

    /// Returns whether the station waits for a CTS or ACK.
    pub fn awaits_response(&self) -> bool {
        matches!(self.exchange, Exchange::AwaitCts | Exchange::AwaitAck)
    }

    /// Returns the end of the NAV if no frame begins before.
    pub fn nav(&self) -> u64 {
        self.nav.min(self.nav_reset)
    }

    /// Extends the NAV to at least `until`. If no frame begins before the time `reset`, the NAV ends at that time.
    pub fn set_nav(&mut self, until: u64, reset: u64) {
        if until > self.nav() {
            self.nav = until;
            self.nav_reset = reset;
        }
    }

    /// Stops the count of backoff slots, because the medium is in use. A timer that expires at `now` still runs.
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

    /// Handles the beginning of a frame. A NAV that an RTS set then stays, unless it has already ended.
    #[inline]
    pub fn frame_begins(&mut self, now: u64) {
        if self.nav_reset != NEVER {
            if now >= self.nav_reset {
                self.nav = self.nav_reset;
            }
            self.nav_reset = NEVER;
        }
    }

    /// Handles the end of the frame that the station follows. `bad` is true if it had errors.
    #[inline]
    pub fn frame_ended(&mut self, bad: bool) {
        self.frame = NO_FRAME;
        self.bad = bad;
    }

    /// Records a transmission of the station until `end`. A station waits EIFS after a reception with errors, and DIFS
    /// after its own transmission (IEEE 802.11-2007, §9.2.3.5).
    pub fn transmits(&mut self, end: u64) {
        self.sending_until = end;
        self.bad = false;
    }

    /// Records that the medium is no longer used.
    #[inline]
    pub fn air_is_free(&mut self, now: u64) {
        self.air_free = now;
    }

    /// Continues a backoff outside an exchange of frames. Slots count from DIFS after both the medium and the NAV are
    /// free.
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

    /// Returns the time from which an idle station may count slots, as of `now`.
    fn access_from(&self, now: u64, rules: &Rules) -> u64 {
        let free = if rules.difs_after_timeout { now } else { self.air_free };
        let interval = if self.bad { rules.eifs_time } else { rules.difs };
        (free + interval).max(self.nav() + rules.difs)
    }

    /// Counts backoff slots from now on. If the medium has been idle for longer, the count is aligned to whole slots.
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

    /// Begins a backoff of `slots` slots.
    pub fn back_off(&mut self, now: u64, slots: u32, rules: &Rules) {
        self.slots = slots;
        if self.idle_from != NEVER {
            self.count(now, rules);
        }
    }

    /// Starts access to the medium without backoff, once the medium has been idle for DIFS. Returns false if the medium
    /// is in use.
    pub fn access_now(&mut self, now: u64, rules: &Rules) -> bool {
        if self.idle_from > now {
            return false;
        }
        self.slots = IMMEDIATE;
        self.count_from = self.access_from(self.air_free, rules).max(now);
        self.deadline = self.count_from;
        true
    }

    /// Draws the backoff for an expired timer that had no backoff. Slots count from now on. Returns true if the backoff
    /// has zero slots.
    pub fn draw_late(&mut self, now: u64, slots: u32, rules: &Rules) -> bool {
        self.slots = slots;
        self.count_from = now;
        if self.idle_from != NEVER {
            self.deadline = now + u64::from(slots) * rules.slot;
        }
        slots == 0
    }

    /// Returns whether the backoff is not drawn yet.
    pub fn undrawn(&self) -> bool {
        self.slots == UNDRAWN
    }

    /// Returns whether a backoff is pending.
    pub fn backing_off(&self) -> bool {
        self.slots != NO_BACKOFF
    }

    /// Ends the station's backoff.
    pub fn backoff_done(&mut self) {
        self.slots = NO_BACKOFF;
        self.deadline = NEVER;
    }

    /// Schedules a response, SIFS after `now`.
    pub fn respond(&mut self, now: u64, due: Exchange, rules: &Rules) {
        self.freeze(now, rules.slot);
        self.enter(due, now + rules.sifs);
    }

    /// Enters a step of an exchange of frames. The step lasts until `deadline`.
    pub fn enter(&mut self, exchange: Exchange, deadline: u64) {
        self.exchange = exchange;
        self.deadline = deadline;
    }

    /// Returns the idle time until `now`.
    pub fn idle_time(&self, now: u64) -> u64 {
        self.idle_total + if self.idle_from == NEVER { 0 } else { now.saturating_sub(self.idle_from) }
    }
}

/// Returns `time / slot`. The function uses a 32-bit division if possible, which takes a third of the time. Each
/// interruption of a backoff needs one division.
#[inline]
fn whole_slots(time: u64, slot: u64) -> u32 {
    match (u32::try_from(time), u32::try_from(slot)) {
        (Ok(time), Ok(slot)) => time / slot,
        _ => (time / slot) as u32,
    }
}
