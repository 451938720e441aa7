//! Durations that follow from a configuration, in nanoseconds.

use crate::config::{DcfConfig, Eifs, Interference, Rate, Timeout};
use crate::config::{MediumConfig, Retries};

/// Time that is never reached.
pub(crate) const NEVER: u64 = u64::MAX;

/// Bytes of an RTS frame (IEEE 802.11-2007 §7.2.1.1).
pub(crate) const RTS_BYTES: u32 = 20;
/// Bytes of a CTS or ACK frame (IEEE 802.11-2007 §7.2.1.2, §7.2.1.3).
pub(crate) const CTS_BYTES: u32 = 14;
/// Propagation time in both directions (2 µs each) that ns-2 adds to timeouts.
const PROPAGATION: u64 = 4_000;

/// The rules of DCF, with durations that were computed in advance.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub slot: u64,
    pub sifs: u64,
    pub difs: u64,
    pub eifs_time: u64,
    pub eifs: Eifs,
    pub rts: u64,
    pub cts: u64,
    /// Time after an RTS at which the NAV set by that RTS ends, unless a frame follows.
    pub nav_reset: u64,
    pub cw_min: u32,
    pub cw_max: u32,
    pub short_limit: u32,
    pub long_limit: u32,
    pub rts_threshold: u32,
    pub data_header: u32,
    pub queue: usize,
    pub inclusive_draw: bool,
    pub immediate_access: bool,
    pub timeout: Timeout,
    pub difs_after_timeout: bool,
    pub sense_before_response: bool,
    pub data_needs_cts: bool,
    pub retries: Retries,
    pub data_rate: Rate,
    pub basic_rate: Rate,
    pub summed: bool,
    /// Minimum ratio of powers for capture. `basic_capture` applies to frames at the basic rate.
    capture: f32,
    basic_capture: f32,
    /// Minimum ratio of powers at which the start of a frame is noticed.
    pub preamble_capture: f32,
    preamble: u64,
    rx_start: u64,
    whole_microseconds: bool,
}

impl Rules {
    pub fn new(dcf: &DcfConfig, medium: &MediumConfig) -> Rules {
        let us = |n: u32| u64::from(n) * 1000;
        let (slot, sifs) = (us(dcf.slot), us(dcf.sifs));
        let difs = sifs + 2 * slot;
        let mut rules = Rules {
            slot,
            sifs,
            difs,
            eifs_time: 0,
            eifs: dcf.eifs,
            rts: 0,
            cts: 0,
            nav_reset: NEVER,
            cw_min: dcf.cw_min,
            cw_max: dcf.cw_max,
            short_limit: dcf.short_retry_limit.unwrap_or(u32::MAX),
            long_limit: dcf.long_retry_limit.unwrap_or(u32::MAX),
            rts_threshold: dcf.rts_threshold,
            data_header: dcf.data_header,
            queue: dcf.queue,
            inclusive_draw: dcf.inclusive_draw,
            immediate_access: dcf.immediate_access,
            timeout: dcf.timeout,
            difs_after_timeout: dcf.difs_after_timeout,
            sense_before_response: dcf.sense_before_response,
            data_needs_cts: dcf.data_needs_cts,
            retries: dcf.retries,
            data_rate: dcf.data_rate,
            basic_rate: dcf.basic_rate,
            summed: medium.interference == Interference::Summed,
            capture: ratio(medium.capture),
            basic_capture: ratio(medium.basic_capture),
            preamble_capture: ratio(medium.preamble_capture),
            preamble: us(dcf.preamble),
            rx_start: us(dcf.rx_start_delay),
            whole_microseconds: dcf.whole_microseconds,
        };
        rules.rts = rules.airtime(RTS_BYTES, dcf.basic_rate);
        rules.cts = rules.airtime(CTS_BYTES, dcf.basic_rate);
        // Time of an ACK at the lowest rate, for any basic rate (IEEE 802.11-2007 §9.2.10).
        rules.eifs_time = sifs + difs + rules.airtime(CTS_BYTES, Rate::R1);
        if dcf.reset_nav {
            // IEEE 802.11-2007 §9.2.5.4.
            rules.nav_reset = 2 * sifs + rules.cts + rules.rx_start + 2 * slot;
        }
        rules
    }

    /// Returns the minimum ratio of powers at which a frame of `rate` survives other frames.
    pub fn capture(&self, rate: Rate) -> f32 {
        if rate == self.basic_rate { self.basic_capture } else { self.capture }
    }

    /// Returns the time on the air of a frame of `bytes` bytes, including the preamble.
    pub fn airtime(&self, bytes: u32, rate: Rate) -> u64 {
        let halves = rate.half_megabits();
        let bits = u64::from(bytes) * 8;
        let body = match self.whole_microseconds {
            true => (bits * 2).div_ceil(halves) * 1000,
            false => (bits * 2000 + halves / 2) / halves,
        };
        self.preamble + body
    }

    /// Returns a duration rounded to whole microseconds, as in a duration field.
    pub fn field(&self, time: u64) -> u64 {
        match self.whole_microseconds {
            true => time.div_ceil(1000) * 1000,
            false => (time + 500) / 1000 * 1000,
        }
    }

    /// Returns the timeout for a response that lasts `response`. The timeout counts from the end of the frame that is
    /// answered.
    pub fn response_timeout(&self, response: u64) -> u64 {
        match self.timeout {
            Timeout::Whole => self.sifs + response + PROPAGATION,
            Timeout::Start => self.sifs + self.slot + self.rx_start,
        }
    }
}

/// Returns the ratio of powers for a value in dB.
fn ratio(db: f64) -> f32 {
    libm::pow(10.0, db / 10.0) as f32
}
