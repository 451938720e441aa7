//! The states of [`V3`](super::v3::V3) and their gains.

use super::constants::*;

/// BBR.state.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// The rate doubles.
    Startup,
    /// The queue of Startup is emptied.
    Drain,
    /// The rate is lower than the path's rate, until the queue is empty.
    Down,
    /// The rate is equal to the path's rate.
    Cruise,
    /// The rate is equal to the path's rate. The path is thus full before a probe.
    Refill,
    /// The rate is higher than the path's rate, to find out whether the path carries more.
    Up,
    /// Few data are in flight, so that the least round-trip time can be measured.
    ProbeRtt,
}

impl State {
    /// IsInAProbeBWState.
    pub fn probes_bandwidth(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// IsProbingBW.
    pub fn accelerates(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    /// Returns the gains of rate and window (§5.6.1).
    pub fn gains(self) -> (f64, f64) {
        match self {
            State::Startup => (STARTUP_PACING_GAIN, CWND_GAIN),
            State::Drain => (DRAIN_PACING_GAIN, CWND_GAIN),
            State::Down => (DOWN_PACING_GAIN, CWND_GAIN),
            State::Cruise | State::Refill => (1.0, CWND_GAIN),
            State::Up => (UP_PACING_GAIN, UP_CWND_GAIN),
            State::ProbeRtt => (1.0, PROBE_RTT_CWND_GAIN),
        }
    }
}
