//! The states of [`V3`](super::v3::V3) and their gains.

use super::constants::*;

/// BBR.state.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Doubling the rate.
    Startup,
    /// Emptying the queue of Startup.
    Drain,
    /// Slower than the path, until its queue is empty.
    Down,
    /// The rate is that of the path.
    Cruise,
    /// The rate is that of the path, to fill it before probing.
    Refill,
    /// Faster, to see whether there is more.
    Up,
    /// Little in flight, to see the least round-trip time.
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

    /// Gains of rate and window (§5.6.1).
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
