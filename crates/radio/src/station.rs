//! What a station hears, and its access to the medium. Times are nanoseconds.

use crate::rules::{NEVER, Rules};

/// No frame is being received.
pub(crate) const NO_FRAME: u32 = u32::MAX;
/// No backoff is pending.
const NO_BACKOFF: u32 = u32::MAX;
/// Access without backoff.
const IMMEDIATE: u32 = u32::MAX - 1;
/// Access that began without backoff, before the medium was taken into use.
const UNDRAWN: u32 = u32::MAX - 2;

/// How a frame that a station follows fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hearing {
    /// Without errors so far.
    Good,
    /// Too weak, or it overlaps a transmission of the station's own.
    Bad,
    /// Disturbed by another frame.
    Collided,
}

/// Where a station is in an exchange of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// In none: it contends for the medium or has nothing to send.
    None,
    /// A frame of its own is on the air.
    Sending,
    /// It sent an RTS.
    AwaitCts,
    /// It sent data.
    AwaitAck,
    /// It sent a CTS.
    AwaitData,
    /// SIFS before a CTS.
    CtsDue,
    /// SIFS before data.
    DataDue,
    /// SIFS before an ACK.
    AckDue,
}

/// The state of a station that each frame around it touches.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Station {
    /// The frame it follows.
    pub frame: u32,
    pub hearing: Hearing,
    pub exchange: Exchange,
    /// The last frame that it followed to its end had errors (for `Eifs::Interval`).
    bad: bool,
    /// Power of the frame it follows.
    pub power: f32,
    /// Power of all frames on the air, if interference is summed.
    pub sum: f64,
    pub frame_start: u64,
    pub frame_end: u64,
    /// End of its latest transmission.
    pub sending_until: u64,
    nav: u64,
    /// The NAV ends here if no frame begins before, since it was set by an RTS.
    nav_reset: u64,
    /// The medium was last in use until then, by this station or another that it senses.
    air_free: u64,
    /// Since when, or from when on, the station is idle; `NEVER` while it isn't.
    idle_from: u64,
    idle_total: u64,
    /// Slots of backoff left.
    slots: u32,
    pub cw: u32,
    /// Slots are counted from here.
    count_from: u64,
    /// When its timer is due: the end of backoff, a response, a timeout.
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

    /// Whether a frame began to arrive before `now` or the NAV is set.
    pub fn senses(&self, now: u64) -> bool {
        (self.frame != NO_FRAME && self.frame_start < now) || self.nav() > now
    }

    /// Whether it waits for a CTS or an ACK.
    pub fn awaits_response(&self) -> bool {
        matches!(self.exchange, Exchange::AwaitCts | Exchange::AwaitAck)
    }

    /// When the NAV ends, if no frame begins before.
    pub fn nav(&self) -> u64 {
        self.nav.min(self.nav_reset)
    }

    /// Keeps the NAV at least until `until`; with `reset`, only if a frame begins before that.
    pub fn set_nav(&mut self, until: u64, reset: u64) {
        if until > self.nav() {
            self.nav = until;
            self.nav_reset = reset;
        }
    }

    /// The medium is taken into use. A timer that is due now is not stopped.
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

    /// A frame begins: a NAV that was set by an RTS holds, unless it has ended.
    #[inline]
    pub fn frame_begins(&mut self, now: u64) {
        if self.nav_reset != NEVER {
            if now >= self.nav_reset {
                self.nav = self.nav_reset;
            }
            self.nav_reset = NEVER;
        }
    }

    /// A frame that it followed has ended, with or without errors.
    #[inline]
    pub fn frame_ended(&mut self, bad: bool) {
        self.frame = NO_FRAME;
        self.bad = bad;
    }

    /// It transmits until `end`. EIFS counts from a reception with errors; after a frame of its own DIFS does
    /// (IEEE 802.11-2007, §9.2.3.5).
    pub fn transmits(&mut self, end: u64) {
        self.sending_until = end;
        self.bad = false;
    }

    /// The medium is in use no longer.
    #[inline]
    pub fn air_is_free(&mut self, now: u64) {
        self.air_free = now;
    }

    /// Goes on with backoff, if it is in no exchange and the medium is free: DIFS after the medium, and the NAV, became so.
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

    /// When slots may be counted from, for a station that is idle at `now`.
    fn access_from(&self, now: u64, rules: &Rules) -> u64 {
        let free = if rules.difs_after_timeout { now } else { self.air_free };
        let interval = if self.bad { rules.eifs_time } else { rules.difs };
        (free + interval).max(self.nav() + rules.difs)
    }

    /// Counts slots from now on: whole ones, if the medium has been idle for longer.
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

    /// Without backoff: as soon as the medium has been idle for DIFS. `false` if it is in use.
    pub fn access_now(&mut self, now: u64, rules: &Rules) -> bool {
        if self.idle_from > now {
            return false;
        }
        self.slots = IMMEDIATE;
        self.count_from = self.access_from(self.air_free, rules).max(now);
        self.deadline = self.count_from;
        true
    }

    /// Its timer is due, and the backoff that it ends was never drawn: the slots are counted from now on. `true` if there are
    /// none.
    pub fn draw_late(&mut self, now: u64, slots: u32, rules: &Rules) -> bool {
        self.slots = slots;
        self.count_from = now;
        if self.idle_from != NEVER {
            self.deadline = now + u64::from(slots) * rules.slot;
        }
        slots == 0
    }

    /// Whether its backoff is still to be drawn.
    pub fn undrawn(&self) -> bool {
        self.slots == UNDRAWN
    }

    /// Whether a backoff is pending.
    pub fn backing_off(&self) -> bool {
        self.slots != NO_BACKOFF
    }

    /// Backoff is over.
    pub fn backoff_done(&mut self) {
        self.slots = NO_BACKOFF;
        self.deadline = NEVER;
    }

    /// Owes a frame in SIFS.
    pub fn respond(&mut self, now: u64, due: Exchange, rules: &Rules) {
        self.freeze(now, rules.slot);
        self.enter(due, now + rules.sifs);
    }

    /// Enters a step of an exchange that ends at `deadline`.
    pub fn enter(&mut self, exchange: Exchange, deadline: u64) {
        self.exchange = exchange;
        self.deadline = deadline;
    }

    /// How long it has been idle, until `now`.
    pub fn idle_time(&self, now: u64) -> u64 {
        self.idle_total + if self.idle_from == NEVER { 0 } else { now.saturating_sub(self.idle_from) }
    }
}

/// `time / slot`, by a division of 32 bits where it can: it takes a third of the time, and each freeze needs one.
#[inline]
fn whole_slots(time: u64, slot: u64) -> u32 {
    match (u32::try_from(time), u32::try_from(slot)) {
        (Ok(time), Ok(slot)) => time / slot,
        _ => (time / slot) as u32,
    }
}
