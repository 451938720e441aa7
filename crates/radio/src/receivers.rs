//! Receiving parts of all stations. The receiving parts handle frames and changes of interference one by one.

use crate::config::{Eifs, Timeout};
use crate::counters::Counters;
use crate::frame::{ALL, Frame, FrameKind, FrameOutcome, Frames};
use crate::neighbours::{Neighbour, Thresholds};
use crate::rules::{NEVER, Rules};
use crate::station::{Exchange, Hearing, NO_FRAME, Station};
use crate::timers::Timers;

/// The end of a frame at a station that must handle it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameEnd {
    pub at: u32,
    pub frame: u32,
    /// True if the frame has no errors and is for this station or for all stations.
    pub good: bool,
}

/// Receiving parts of all stations.
#[derive(Debug)]
pub(crate) struct Receivers {
    pub rules: Rules,
    pub thresholds: Thresholds,
    pub stations: Vec<Station>,
    pub frames: Frames,
    pub counters: Vec<Counters>,
    pub timers: Timers,
    /// Ends of frames that stations must handle, in order. The caller empties this list.
    pub frame_ends: Vec<FrameEnd>,
}

impl Receivers {
    pub fn new(rules: Rules, thresholds: Thresholds, stations: usize) -> Receivers {
        Receivers {
            stations: vec![Station::new(rules.cw_min); stations],
            rules,
            thresholds,
            frames: Frames::default(),
            counters: vec![Counters::default(); stations],
            timers: Timers::new(stations),
            frame_ends: Vec::new(),
        }
    }

    /// Sets a station's timer to the station's deadline.
    #[inline]
    pub fn arm(&mut self, id: u32) {
        self.timers.set(id, self.stations[id as usize].deadline);
    }

    /// Records that a station transmits and therefore receives nothing.
    pub fn transmits(&mut self, now: u64, frame: &Frame) {
        let station = &mut self.stations[frame.from as usize];
        station.freeze(now, self.rules.slot);
        station.transmits(frame.end);
        if station.frame == NO_FRAME {
            return;
        }
        let (met, was) = (station.frame, station.hearing);
        station.hearing = Hearing::Bad;
        if self.rules.summed {
            station.frame = NO_FRAME;
        }
        let met = self.frames.get_mut(met);
        if was == Hearing::Good && met.to == frame.from {
            met.outcome = FrameOutcome::Deaf;
        }
    }

    /// Handles the beginning of a frame at a station.
    #[inline]
    pub fn meet(&mut self, now: u64, at: Neighbour, id: u32, frame: &Frame) {
        let station = &self.stations[at.id as usize];
        if station.frame == NO_FRAME && !self.rules.summed {
            self.follow(now, at, id, frame);
        } else {
            self.meet_another(now, at, id, frame);
        }
    }

    /// Handles the beginning of a frame at a station that follows another frame, or that sums the powers of frames.
    fn meet_another(&mut self, now: u64, at: Neighbour, id: u32, frame: &Frame) {
        let station = &self.stations[at.id as usize];
        if station.frame != NO_FRAME && station.frame_end <= now {
            // The followed frame ends now, and its alarm comes later.
            let (ended, ended_id) = (*self.frames.get(station.frame), station.frame);
            self.conclude(now, at.id, ended_id, &ended);
        }
        if self.rules.summed {
            self.meet_in_sum(now, at.id, at.power, id, frame);
        } else if self.stations[at.id as usize].frame == NO_FRAME {
            self.follow(now, at, id, frame);
        } else {
            self.overlap(now, at.id, at.power, id, frame);
        }
    }

    /// Makes a station follow a frame, which it may receive.
    #[inline]
    fn follow(&mut self, now: u64, Neighbour { id: at, power }: Neighbour, id: u32, frame: &Frame) {
        let station = &mut self.stations[at as usize];
        let (deaf, strong) = (station.sending_until > now, power >= self.thresholds.reception);
        station.frame = id;
        station.frame_start = now;
        station.frame_end = frame.end;
        station.power = power;
        station.hearing = if strong && !deaf { Hearing::Good } else { Hearing::Bad };
        station.frame_begins(now);
        let due = station.deadline;
        station.freeze(now, self.rules.slot);
        // A timer that expires after the frame stays in the table: the end of the frame precedes it and sets
        // it again.
        if station.deadline != due && due < frame.end {
            self.timers.set(at, station.deadline);
        }
        if station.exchange != Exchange::None && due >= frame.end {
            // The timer is a timeout, and the frame may be the response: no alarm is needed before its end.
            self.timers.set(at, NEVER);
        }
        if frame.to == at {
            let outcome = if strong { FrameOutcome::Received } else { FrameOutcome::Weak };
            self.frames.get_mut(id).outcome = if deaf { FrameOutcome::Deaf } else { outcome };
        }
    }

    /// Handles the end of a frame at a station in range.
    #[inline]
    pub fn leave(&mut self, now: u64, Neighbour { id: at, power }: Neighbour, id: u32, frame: &Frame) {
        if self.rules.summed {
            self.fade(now, at, power);
        }
        if self.stations[at as usize].frame == id {
            self.conclude(now, at, id, frame);
        } else if self.rules.summed {
            self.resume(now, at);
        }
    }

    /// Compares the frame that a station follows with a frame that begins.
    #[cold]
    fn overlap(&mut self, now: u64, at: u32, power: f32, id: u32, frame: &Frame) {
        let station = &mut self.stations[at as usize];
        let strong = power >= self.thresholds.reception;
        if station.frame_start == now && power > station.power && station.hearing != Hearing::Collided {
            // The strongest of several simultaneous frames counts as the first, as from the nearest station.
            return self.meet_stronger(at, power, id, frame);
        }
        if station.power >= self.rules.capture(self.frames.get(station.frame).rate) * power {
            let eifs = if self.rules.eifs == Eifs::Nav { self.rules.eifs_time } else { 0 };
            station.set_nav(frame.end + eifs, NEVER);
            if frame.to == at {
                self.frames.get_mut(id).outcome = FrameOutcome::Ignored;
            }
            return;
        }
        let (met, was) = (station.frame, station.hearing);
        station.hearing = Hearing::Collided;
        // The longer frame keeps the receiver busy.
        if frame.end > station.frame_end {
            station.frame = id;
            station.frame_end = frame.end;
            station.power = power;
            self.timers.set(at, station.deadline);
        }
        if was == Hearing::Good {
            self.lose(at, met);
        }
        if strong {
            self.lose(at, id);
        }
    }

    /// Handles a stronger frame that begins at the same time as the frame that a station follows.
    #[cold]
    fn meet_stronger(&mut self, at: u32, power: f32, id: u32, frame: &Frame) {
        let station = &mut self.stations[at as usize];
        let (met, was, end) = (station.frame, station.hearing, station.frame_end);
        let captures = power >= self.rules.capture(frame.rate) * station.power;
        let strong = power >= self.thresholds.reception;
        if captures || frame.end > end {
            station.frame = id;
            station.frame_end = frame.end;
            station.power = power;
            self.timers.set(at, station.deadline);
        }
        if !captures {
            station.hearing = Hearing::Collided;
            if was == Hearing::Good {
                self.lose(at, met);
            }
            if strong {
                self.lose(at, id);
            }
            return;
        }
        let eifs = if self.rules.eifs == Eifs::Nav { self.rules.eifs_time } else { 0 };
        station.set_nav(end + eifs, NEVER);
        let deaf = station.sending_until > station.frame_start;
        station.hearing = if strong && !deaf { Hearing::Good } else { Hearing::Bad };
        let met = self.frames.get_mut(met);
        if met.to == at {
            met.outcome = if deaf { FrameOutcome::Deaf } else { FrameOutcome::Ignored };
        }
        if frame.to == at {
            let outcome = if strong { FrameOutcome::Received } else { FrameOutcome::Weak };
            self.frames.get_mut(id).outcome = if deaf { FrameOutcome::Deaf } else { outcome };
        }
    }

    /// Handles the beginning of a frame at a station that sums the powers of all other frames. A frame that is too weak
    /// to be decoded counts only as power.
    #[inline]
    fn meet_in_sum(&mut self, now: u64, at: u32, power: f32, id: u32, frame: &Frame) {
        let station = &mut self.stations[at as usize];
        let before = station.sum;
        station.sum += f64::from(power);
        if station.sum >= f64::from(self.thresholds.sense) {
            station.frame_begins(now);
            station.freeze(now, self.rules.slot);
            self.timers.set(at, station.deadline);
        }
        let first = station.frame != NO_FRAME && station.frame_start == now && power > station.power;
        if first {
            // The strongest of several simultaneous frames is followed.
            let met = core::mem::replace(&mut station.frame, NO_FRAME);
            if station.hearing == Hearing::Good {
                self.lose(at, met);
            }
        }
        let station = &mut self.stations[at as usize];
        if station.frame != NO_FRAME {
            let interference = station.sum - f64::from(station.power);
            let (met, was) = (station.frame, station.hearing);
            let ratio = self.rules.capture(self.frames.get(met).rate);
            let survives = f64::from(station.power) >= f64::from(ratio) * interference;
            if !survives {
                station.hearing = Hearing::Collided;
            }
            if !survives && was == Hearing::Good {
                self.lose(at, met);
            }
            if power >= self.thresholds.reception {
                self.lose(at, id);
            }
            return;
        }
        if power < self.thresholds.reception {
            return;
        }
        if station.sending_until > now {
            if frame.to == at {
                self.frames.get_mut(id).outcome = FrameOutcome::Deaf;
            }
            return;
        }
        if f64::from(power) < f64::from(self.rules.preamble_capture) * before {
            return self.lose(at, id);
        }
        let clear = f64::from(power) >= f64::from(self.rules.capture(frame.rate)) * before;
        station.frame = id;
        station.frame_start = now;
        station.frame_end = frame.end;
        station.power = power;
        station.hearing = if clear { Hearing::Good } else { Hearing::Collided };
        if !clear {
            self.lose(at, id);
        } else if frame.to == at {
            self.frames.get_mut(id).outcome = FrameOutcome::Received;
        }
    }

    /// Records that another frame destroyed a frame at a station.
    #[cold]
    fn lose(&mut self, at: u32, frame: u32) {
        let frame = self.frames.get_mut(frame);
        if frame.to == at || frame.to == ALL {
            self.counters[at as usize].collided += 1;
        }
        if frame.to == at {
            frame.outcome = FrameOutcome::Collided;
        }
    }

    /// Subtracts the power of a frame that has ended.
    fn fade(&mut self, now: u64, at: u32, power: f32) {
        let (station, sense) = (&mut self.stations[at as usize], f64::from(self.thresholds.sense));
        let sensed = station.sum >= sense;
        station.sum -= f64::from(power);
        if sensed && station.sum < sense {
            station.air_is_free(now);
        }
        // A remainder from rounding counts as zero.
        if station.sum < sense * 1e-4 {
            station.sum = 0.0;
        }
    }

    /// Handles the end of the frame that a station follows.
    #[inline]
    fn conclude(&mut self, now: u64, at: u32, id: u32, frame: &Frame) {
        let (rules, station) = (&self.rules, &mut self.stations[at as usize]);
        if station.sending_until > now {
            station.frame_ended(false);
            return;
        }
        let good = station.hearing == Hearing::Good;
        station.air_is_free(now);
        if !good {
            let overlapped = station.sending_until > station.frame_start;
            station.frame_ended(!overlapped && rules.eifs == Eifs::Interval);
            if rules.eifs == Eifs::Nav {
                station.set_nav(now + rules.eifs_time, NEVER);
            }
            let waits = rules.timeout == Timeout::Start && station.awaits_response();
            return if waits {
                self.frame_ends.push(FrameEnd { at, frame: id, good })
            } else {
                self.resume(now, at)
            };
        }
        station.frame_ended(false);
        if frame.to != at && frame.nav > 0 {
            let reset = frame.kind == FrameKind::Rts && rules.nav_reset != NEVER;
            station.set_nav(now + frame.nav, if reset { now + rules.nav_reset } else { NEVER });
        }
        let good = frame.to == at || frame.to == ALL;
        if good || (rules.timeout == Timeout::Start && station.awaits_response()) {
            self.frame_ends.push(FrameEnd { at, frame: id, good });
        } else {
            self.resume(now, at);
        }
    }

    /// Continues a station's backoff, unless something prevents this.
    #[inline]
    pub fn resume(&mut self, now: u64, at: u32) {
        let station = &mut self.stations[at as usize];
        if !self.rules.summed || station.sum < f64::from(self.thresholds.sense) {
            station.resume(now, &self.rules);
        }
        self.timers.set(at, station.deadline);
    }
}
