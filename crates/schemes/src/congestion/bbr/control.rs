//! Window and rate of [`V3`] (§5.6). Also the volumes that its states compare with the data in flight.

use strandcast_proto::time::Duration;

use super::constants::*;
use super::rate::Sampler;
use super::state::State;
use super::v3::V3;

impl V3 {
    /// BBR.bdp in bytes. `None` before the first round-trip time.
    pub(super) fn bdp(&self) -> Option<f64> {
        self.min_rtt.map(|rtt| self.bw * rtt.as_secs_f64())
    }

    /// TargetInflight.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().unwrap_or(self.initial).min(self.cwnd)
    }

    /// Inflight for the bandwidth in use.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.inflight_at(self.bw, gain)
    }

    pub(super) fn inflight_at(&self, bw: f64, gain: f64) -> f64 {
        let bdp = self.min_rtt.map_or(self.initial, |rtt| gain * bw * rtt.as_secs_f64());
        self.quantized(bdp)
    }

    /// QuantizationBudget; BBR.offload_budget is one quantum (§5.5.8.2).
    pub(super) fn quantized(&self, volume: f64) -> f64 {
        let quantum = (self.pacing.unwrap_or(0.0) * QUANTUM_SECONDS)
            .clamp(2.0 * self.packet, MAX_QUANTUM.max(2.0 * self.packet));
        let more = if self.state == State::Up { 2.0 * self.packet } else { 0.0 };
        volume.max(quantum).max(self.least_cwnd()) + more
    }

    /// BBR.MinPipeCwnd.
    pub(super) fn least_cwnd(&self) -> f64 {
        MIN_PIPE_PACKETS * self.packet
    }

    /// InflightWithHeadroom.
    pub(super) fn with_headroom(&self) -> f64 {
        let headroom = (HEADROOM * self.inflight_longterm).max(self.packet);
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        (self.inflight_longterm - headroom).max(self.least_cwnd())
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp().map_or(self.initial, |bdp| PROBE_RTT_CWND_GAIN * bdp).max(self.least_cwnd())
    }

    /// SetPacingRateWithGain. Also InitPacingRate, once there is a round-trip time.
    pub(super) fn set_pacing(&mut self, srtt: Option<Duration>, gain: f64) {
        if self.pacing.is_none() {
            let rtt = srtt.or(self.min_rtt).filter(|rtt| !rtt.is_zero());
            self.pacing = rtt.map(|rtt| STARTUP_PACING_GAIN * self.initial / rtt.as_secs_f64());
        }
        let rate = gain * self.bw * (1.0 - PACING_MARGIN);
        if rate > 0.0 && (self.pipe.reached || self.pacing.is_some_and(|now| rate > now)) {
            self.pacing = Some(rate);
        }
    }

    /// SetCwnd, BoundCwndForProbeRTT, BoundCwndForModel.
    pub(super) fn set_window(&mut self, newly_acked: u64, sampler: &Sampler) {
        let gain = self.state.gains().1;
        let bdp = self.min_rtt.map_or(self.initial, |rtt| gain * self.bw * rtt.as_secs_f64());
        let most = self.quantized(bdp + self.extra_acked.get());
        let grown = self.cwnd + newly_acked as f64;
        if self.pipe.reached {
            self.cwnd = grown.min(most);
        } else if self.cwnd < most || (sampler.delivered() as f64) < self.initial {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(self.least_cwnd());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(self.least_cwnd()));
    }
}
