//! BBRv3 (draft-ietf-ccwg-bbr-06), as a model of one path. Each function implements the section that it names. This
//! file contains the state machine. [`control`](super::control) derives window and rate.
//!
//! | draft | here |
//! |---|---|
//! | §5.2.3 UpdateOnACK | [`V3::on_ack`] |
//! | §5.3.1 Startup, its end by a plateau or by losses | [`V3::check_startup`] |
//! | §5.3.2 Drain | [`V3::check_drain`] |
//! | §5.3.3 ProbeBW: DOWN, CRUISE, REFILL, UP | [`V3::probe_bandwidth`] |
//! | §5.3.3.6 precautionary probing | [`V3::is_time_to_go_down`], [`V3::adapt_long_term`] |
//! | §5.3.3.8 when to probe | [`V3::is_time_to_probe`] |
//! | §5.3.4 ProbeRTT | [`V3::update_min_rtt`], [`V3::check_probe_rtt`] |
//! | §5.4 restart from idle | [`V3::on_restart`] |
//! | §5.5.9 ACK aggregation | [`V3::update_aggregation`] |
//! | §5.5.10.2 losses while probing | [`V3::on_lost`], [`V3::inflight_too_high`] |
//! | §5.5.10.3 losses otherwise | [`V3::update_short_term`] |
//! | §5.6.2 pacing rate, §5.6.4 window | [`V3::set_pacing`], [`V3::set_window`] |

use strandcast_proto::time::{Duration, Instant};

use super::constants::*;
use super::filters::{CycleMax, FullPipe, RoundMax, Rounds};
use super::model::{Ack, Model, Start, draw};
use super::rate::{LostPacket, Sample, Sampler};
use super::state::State;

/// BBR.ack_phase: phase of probing to which arriving acknowledgements belong.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// No phase of probing.
    Init,
    /// Acknowledgements belong to the phase before the probe.
    Refilling,
    /// Acknowledgements still belong to the phase before the probe. The acknowledgements of the probe arrive one round
    /// trip later.
    Starting,
    /// Acknowledgements belong to the probe.
    Probing,
    /// Last acknowledgements of the probe.
    Stopping,
}

/// BBRv3 on one path.
#[derive(Clone, Debug)]
pub struct V3 {
    pub(super) state: State,
    pub(super) packet: f64,
    pub(super) initial: f64,
    salt: u64,
    pub(super) cwnd: f64,
    pub(super) pacing: Option<f64>,
    /// The window before recovery or ProbeRTT.
    pub(super) prior_cwnd: f64,
    in_recovery: bool,
    pub(super) rounds: Rounds,
    pub(super) pipe: FullPipe,
    max_bw: CycleMax,
    /// min(max_bw, bw_shortterm).
    pub(super) bw: f64,
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
    /// `bw_shortterm`, `inflight_shortterm` and `inflight_longterm` before the losses of this round.
    undo: (f64, f64, f64),
    bw_latest: f64,
    inflight_latest: f64,
    loss_round_delivered: u64,
    loss_round_began: bool,
    loss_in_round: bool,
    /// Number of ranges of packets lost in this round.
    ranges_lost: u32,
    pub(super) extra_acked: RoundMax,
    extra_since: Instant,
    extra_delivered: f64,
    pub(super) feedback: Feedback,
    drain_round: u64,
    cycle_began: Instant,
    probe_wait: Duration,
    rounds_since_probe: u64,
    /// BBR.is_bw_probe_sample.
    probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    probe_up_rounds: u32,
    probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    pub(super) min_rtt: Option<Duration>,
    pub(super) min_rtt_at: Instant,
    pub(super) probe_rtt_min: Option<Duration>,
    pub(super) probe_rtt_min_at: Instant,
    pub(super) probe_rtt_expired: bool,
    pub(super) probe_rtt_until: Option<Instant>,
    pub(super) probe_rtt_round_done: bool,
    pub(super) idle_restart: bool,
    /// True if this model decides on ProbeRTT.
    pub(super) probes_rtt: bool,
    /// Share of the packets of a round trip. If a larger share is lost, the amount in flight was too high.
    pub(super) loss_threshold: f64,
}

impl V3 {
    /// OnInit.
    pub fn new(start: Start) -> Self {
        V3 {
            state: State::Startup,
            packet: start.packet,
            initial: start.window,
            salt: start.salt,
            cwnd: start.window,
            pacing: None,
            prior_cwnd: 0.0,
            in_recovery: false,
            rounds: Rounds::default(),
            pipe: FullPipe::default(),
            max_bw: CycleMax::default(),
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            undo: (0.0, 0.0, 0.0),
            bw_latest: 0.0,
            inflight_latest: 0.0,
            loss_round_delivered: 0,
            loss_round_began: false,
            loss_in_round: false,
            ranges_lost: 0,
            extra_acked: RoundMax::default(),
            extra_since: start.now,
            extra_delivered: 0.0,
            feedback: Feedback::Init,
            drain_round: 0,
            cycle_began: start.now,
            probe_wait: Duration::ZERO,
            rounds_since_probe: 0,
            probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            probe_up_rounds: 0,
            probe_up_acked: 0.0,
            probe_up_acked_per_inc: f64::INFINITY,
            min_rtt: None,
            min_rtt_at: start.now,
            probe_rtt_min: None,
            probe_rtt_min_at: start.now,
            probe_rtt_expired: false,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            probes_rtt: true,
            loss_threshold: LOSS_THRESHOLD,
        }
    }

    /// IsInflightTooHigh, for peers that acknowledge selectively.
    fn too_high(&self, lost: u64, in_flight: u64) -> bool {
        lost as f64 > in_flight as f64 * self.loss_threshold
    }

    /// BBR.max_bw.
    pub fn max_bw(&self) -> f64 {
        self.max_bw.get()
    }

    /// Updates the model when the processing of an acknowledgement begins (§5.5.10.3 UpdateLatestDeliverySignals,
    /// §5.5.5 UpdateMaxBw).
    fn take_sample(&mut self, sample: &Sample, sampler: &Sampler) {
        let rate = sample.rate.unwrap_or(0.0);
        self.loss_round_began = false;
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered as f64);
        if sample.prior_delivered.is_some_and(|prior| prior >= self.loss_round_delivered) {
            self.loss_round_delivered = sampler.delivered();
            self.loss_round_began = true;
        }
        self.rounds.update(sample.prior_delivered, sampler.delivered());
        self.rounds_since_probe += u64::from(self.rounds.began);
        if rate > 0.0 && (rate >= self.max_bw() || !sample.limited) {
            self.max_bw.push(rate);
        }
    }

    /// AdaptLowerBoundsFromCongestion, once a round.
    fn update_short_term(&mut self) {
        if !self.loss_in_round || self.state.accelerates() {
            return;
        }
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
    }

    /// ResetShortTermModel.
    pub(super) fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// ResetCongestionSignals.
    fn reset_congestion_signals(&mut self) {
        (self.loss_in_round, self.ranges_lost) = (false, 0);
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
    }

    fn update_aggregation(&mut self, now: Instant, newly_acked: u64) {
        let mut expected = self.bw * now.saturating_since(self.extra_since).as_secs_f64();
        if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_since, expected) = (0.0, now, 0.0);
        }
        self.extra_delivered += newly_acked as f64;
        let extra = (self.extra_delivered - expected).min(self.cwnd);
        let window = if self.pipe.reached { EXTRA_ACKED_ROUNDS } else { 1 };
        self.extra_acked.push(self.rounds.count, extra, window);
    }

    /// CheckFullBWReached, CheckStartupDone, CheckStartupHighLoss.
    fn check_startup(&mut self, sample: &Sample) {
        if self.rounds.began && !sample.limited {
            self.pipe.check(sample.rate.unwrap_or(0.0));
        }
        if self.state != State::Startup {
            return;
        }
        let lossy = self.loss_round_began && self.loss_in_round && self.ranges_lost >= STARTUP_LOST_RANGES;
        if !self.pipe.reached && lossy && self.too_high(sample.lost, sample.sent_in_flight) {
            self.pipe.reached = true;
            self.inflight_longterm = self.bdp().unwrap_or(self.initial).max(self.inflight_latest);
        }
        if self.pipe.reached {
            self.state = State::Drain;
            self.drain_round = self.rounds.count;
        }
    }

    fn check_drain(&mut self, ack: &Ack<'_>, sampler: &Sampler) {
        let long = self.rounds.count > self.drain_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (ack.in_flight as f64 <= self.inflight(1.0) || long) {
            self.start_down(ack.now, sampler);
        }
    }

    /// StartProbeBW_DOWN, with PickProbeWait.
    pub(super) fn start_down(&mut self, now: Instant, sampler: &Sampler) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.rounds_since_probe = u64::from(draw(now, self.salt ^ 1) < 0.5);
        self.probe_wait = PROBE_WAIT + PROBE_WAIT_SPREAD.mul_f64(draw(now, self.salt));
        self.cycle_began = now;
        self.feedback = Feedback::Stopping;
        self.rounds.start(sampler.delivered());
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL.
    fn start_refill(&mut self, sampler: &Sampler) {
        self.reset_short_term();
        (self.probe_up_rounds, self.probe_up_acked) = (0, 0.0);
        self.prev_probe_precautionary = false;
        self.feedback = Feedback::Refilling;
        self.rounds.start(sampler.delivered());
        self.state = State::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, sample: &Sample, sampler: &Sampler) {
        self.probe_sample = true;
        self.feedback = Feedback::Starting;
        self.rounds.start(sampler.delivered());
        self.pipe.reset(sample.rate.unwrap_or(0.0));
        self.state = State::Up;
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase.
    fn probe_bandwidth(&mut self, ack: &Ack<'_>, sampler: &Sampler) {
        if !self.pipe.reached || self.adapt_long_term(ack, sampler) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe(ack.now) => self.start_refill(sampler),
            State::Down if self.is_time_to_cruise(ack.in_flight as f64) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(ack.now) => self.start_refill(sampler),
            State::Refill if self.rounds.began => self.start_up(ack.sample, sampler),
            State::Up if self.is_time_to_go_down(ack) => {
                self.prev_probe_too_high = false;
                self.start_down(ack.now, sampler);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW, IsRenoCoexistenceProbeTime.
    fn is_time_to_probe(&self, now: Instant) -> bool {
        let reno_rounds = (self.target_inflight() / self.packet).min(MAX_RENO_ROUNDS);
        now > self.cycle_began + self.probe_wait || self.rounds_since_probe as f64 >= reno_rounds
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self, in_flight: f64) -> bool {
        in_flight <= self.with_headroom() && in_flight <= self.inflight_at(self.max_bw(), 1.0)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, ack: &Ack<'_>) -> bool {
        if self.prev_probe_too_high && ack.in_flight as f64 >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if ack.window_limited && self.cwnd >= self.inflight_longterm {
            self.pipe.reset(ack.sample.rate.unwrap_or(0.0));
            return false;
        }
        self.pipe.now
    }

    /// RaiseInflightLongtermSlope.
    fn raise_slope(&mut self) {
        let growth = f64::from(1u32 << self.probe_up_rounds);
        self.probe_up_rounds = (self.probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).max(self.packet);
    }

    /// AdaptLongTermModel. Returns whether the function chose a state.
    fn adapt_long_term(&mut self, ack: &Ack<'_>, sampler: &Sampler) -> bool {
        if self.feedback == Feedback::Starting && self.rounds.began {
            self.feedback = Feedback::Probing;
        }
        if self.feedback == Feedback::Stopping && self.rounds.began {
            self.probe_sample = false;
            self.feedback = Feedback::Init;
            if self.state.probes_bandwidth() && !ack.sample.limited {
                self.max_bw.advance();
            }
            let safe = self.prev_probe_precautionary && !self.prev_probe_too_high;
            if self.state.probes_bandwidth() && safe {
                self.start_refill(sampler);
                return true;
            }
        }
        if self.too_high(ack.sample.lost, ack.sample.sent_in_flight) || self.inflight_longterm.is_infinite() {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(ack.sample.sent_in_flight as f64);
        if self.state == State::Up {
            self.probe_upward(ack);
        }
        false
    }

    /// ProbeInflightLongtermUpward.
    fn probe_upward(&mut self, ack: &Ack<'_>) {
        if !ack.window_limited || self.cwnd < self.inflight_longterm {
            return;
        }
        self.probe_up_acked += ack.sample.newly_acked as f64;
        let steps = libm::floor(self.probe_up_acked / self.probe_up_acked_per_inc);
        if steps >= 1.0 {
            self.probe_up_acked -= steps * self.probe_up_acked_per_inc;
            self.inflight_longterm += steps * self.packet;
        }
        if self.rounds.began {
            self.raise_slope();
        }
    }

    /// HandleInflightTooHigh, with `in_flight` bytes.
    fn inflight_too_high(&mut self, now: Instant, in_flight: f64, limited: bool, sampler: &Sampler) {
        self.prev_probe_too_high = true;
        self.probe_sample = false;
        if !limited {
            self.inflight_longterm = in_flight.max(BETA * self.target_inflight());
        }
        if self.state == State::Up {
            self.start_down(now, sampler);
        }
    }

    /// SaveCwnd.
    pub(super) fn save_cwnd(&mut self) {
        let good = !self.in_recovery && self.state != State::ProbeRtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }
}

impl Model for V3 {
    fn on_ack(&mut self, ack: &Ack<'_>, sampler: &mut Sampler) {
        self.take_sample(ack.sample, sampler);
        if self.loss_round_began {
            self.update_short_term();
        }
        self.update_aggregation(ack.now, ack.sample.newly_acked);
        self.check_startup(ack.sample);
        if self.loss_round_began {
            (self.loss_in_round, self.ranges_lost) = (false, 0);
        }
        self.check_drain(ack, sampler);
        self.probe_bandwidth(ack, sampler);
        self.update_min_rtt(ack.now, ack.sample.rtt);
        self.check_probe_rtt(ack, sampler);
        if self.loss_round_began {
            self.bw_latest = ack.sample.rate.unwrap_or(0.0);
            self.inflight_latest = ack.sample.delivered as f64;
        }
        self.bw = self.max_bw().min(self.bw_shortterm);
        self.set_pacing(ack.srtt, self.state.gains().0);
        self.set_window(ack.sample.newly_acked, sampler);
    }

    fn on_lost(&mut self, now: Instant, lost: &LostPacket, sampler: &Sampler) {
        if !self.loss_in_round {
            self.loss_round_delivered = sampler.delivered();
            self.undo = (self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm);
            self.save_cwnd();
        }
        self.loss_in_round = true;
        self.ranges_lost += u32::from(lost.begins_range);
        if self.probe_sample && self.too_high(lost.lost, lost.in_flight) {
            // InflightAtLoss.
            let before = lost.in_flight.saturating_sub(lost.len) as f64;
            let lost_before = lost.lost.saturating_sub(lost.len) as f64;
            let prefix = (self.loss_threshold * before - lost_before) / (1.0 - self.loss_threshold);
            self.inflight_too_high(now, (before + prefix).max(0.0), lost.limited, sampler);
        }
    }

    fn on_recovery(&mut self) {
        self.save_cwnd();
        self.in_recovery = true;
    }

    fn on_timeout(&mut self) {
        self.save_cwnd();
        self.in_recovery = true;
        self.cwnd = self.cwnd.min(self.packet);
    }

    fn on_recovered(&mut self) {
        self.in_recovery = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn on_spurious(&mut self) {
        let (bandwidth, short, long) = core::mem::take(&mut self.undo);
        self.bw_shortterm = self.bw_shortterm.max(bandwidth);
        self.inflight_shortterm = self.inflight_shortterm.max(short);
        self.inflight_longterm = self.inflight_longterm.max(long);
        (self.loss_in_round, self.ranges_lost) = (false, 0);
        self.on_recovered();
    }

    fn on_penalty(&mut self) {
        self.inflight_shortterm = (BETA * self.inflight_shortterm.min(self.cwnd)).max(self.least_cwnd());
        self.cwnd = self.cwnd.min(self.inflight_shortterm);
    }

    fn on_restart(&mut self, now: Instant, sampler: &Sampler) {
        self.idle_restart = true;
        (self.extra_since, self.extra_delivered) = (now, 0.0);
        if self.state.probes_bandwidth() {
            self.set_pacing(None, 1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now, sampler);
        }
    }

    fn set_packet(&mut self, bytes: f64) {
        self.packet = bytes;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn pacing(&self) -> Option<f64> {
        self.pacing
    }

    fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    fn gauges(&self, out: &mut Vec<(&'static str, f64)>) {
        out.push(("bbr_bandwidth_bps", 8.0 * self.bw));
        out.push(("bbr_state", f64::from(self.state as u8)));
        out.extend(self.min_rtt.map(|rtt| ("bbr_min_rtt_ms", rtt.as_secs_f64() * 1e3)));
        out.extend(self.pacing.map(|rate| ("bbr_pacing_bps", 8.0 * rate)));
        let bound = Some(self.inflight_longterm).filter(|bound| bound.is_finite());
        out.extend(bound.map(|bound| ("bbr_inflight_longterm_bytes", bound)));
    }
}
