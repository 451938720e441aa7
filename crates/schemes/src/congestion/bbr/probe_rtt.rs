//! The least round-trip time of [`V3`], and ProbeRTT (§5.3.4).

use strandcast_proto::time::{Duration, Instant};

use super::constants::*;
use super::model::Ack;
use super::rate::Sampler;
use super::state::State;
use super::v3::{Feedback, V3};

impl V3 {
    pub(super) fn update_min_rtt(&mut self, now: Instant, rtt: Option<Duration>) {
        self.probe_rtt_expired = now > self.probe_rtt_min_at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rtt
            && (self.probe_rtt_min.is_none_or(|least| rtt < least) || self.probe_rtt_expired)
        {
            (self.probe_rtt_min, self.probe_rtt_min_at) = (Some(rtt), now);
        }
        let expired = now > self.min_rtt_at + MIN_RTT_WINDOW;
        let less = self.probe_rtt_min.is_some_and(|new| self.min_rtt.is_none_or(|old| new < old));
        if less || expired {
            (self.min_rtt, self.min_rtt_at) = (self.probe_rtt_min, self.probe_rtt_min_at);
        }
    }

    /// CheckProbeRTT, EnterProbeRTT, HandleProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack<'_>, sampler: &mut Sampler) {
        let due = self.probe_rtt_expired && !self.idle_restart && self.probes_rtt;
        if self.state != State::ProbeRtt && due {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
            self.feedback = Feedback::Stopping;
            self.rounds.start(sampler.delivered());
        }
        if self.state == State::ProbeRtt {
            sampler.mark_limited(ack.in_flight);
            if self.probe_rtt_until.is_some() {
                self.probe_rtt_round_done |= self.rounds.began;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(ack.now, sampler);
                }
            } else if ack.in_flight as f64 <= self.probe_rtt_cwnd() {
                self.probe_rtt_until = Some(ack.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.rounds.start(sampler.delivered());
            }
        }
        self.idle_restart &= ack.sample.delivered == 0;
    }

    /// CheckProbeRTTDone, ExitProbeRTT.
    pub(super) fn check_probe_rtt_done(&mut self, now: Instant, sampler: &Sampler) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.probe_rtt_min_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_short_term();
        if self.pipe.reached {
            self.start_down(now, sampler);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
