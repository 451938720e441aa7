//! BBRv1 as in Linux (`net/ipv4/tcp_bbr.c`), as a model of one path. Runs of simulated TCP compare the model with the
//! kernel's BBR.
//!
//! | Linux | here |
//! |---|---|
//! | `bbr_update_bw` | [`V1::take_sample`] |
//! | `bbr_lt_bw_sampling`: a policer's rate | [`Policer`](super::policer::Policer) |
//! | `bbr_update_ack_aggregation` | [`V1::update_aggregation`] |
//! | `bbr_update_cycle_phase` | [`V1::is_next_phase`] |
//! | `bbr_check_full_bw_reached`, `bbr_check_drain` | [`V1::check_startup`] |
//! | `bbr_update_min_rtt` | [`V1::update_min_rtt`] |
//! | `bbr_set_pacing_rate`, `bbr_set_cwnd` | [`V1::set_pacing`], [`V1::set_window`] |
//! | `bbr_set_cwnd_to_recover_or_restore` | [`V1::conserve`] |
//!
//! Linux corrects for packets that are scheduled to leave later (`bbr_packets_in_net_at_edt`). This correction is left
//! out, because no packets are queued here before their time to leave.

use strandcast_proto::time::{Duration, Instant};

use super::filters::{FullPipe, RoundMax, Rounds};
use super::model::{Ack, Model, Start, draw};
use super::policer::Policer;
use super::rate::{LostPacket, Sample, Sampler};

/// `bbr_high_gain`: 2/ln 2, and its inverse, `bbr_drain_gain`.
const HIGH_GAIN: f64 = 2.885;
/// `bbr_pacing_gain`: the cycle of ProbeBW.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `bbr_cycle_rand`: number of phases of ProbeBW that may come first. The phase that drains never comes first.
const FIRST_PHASES: f64 = 7.0;
/// `bbr_bw_rtts`.
const BANDWIDTH_ROUNDS: u64 = 10;
/// `bbr_min_rtt_win_sec`.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// `bbr_probe_rtt_mode_ms`.
const PROBE_RTT: Duration = Duration::from_millis(200);
/// `bbr_cwnd_min_target`, packets.
const MIN_PACKETS: f64 = 4.0;
/// `bbr_cwnd_gain`.
const CWND_GAIN: f64 = 2.0;
/// `bbr_pacing_margin_percent`, as a share.
const PACING_MARGIN: f64 = 0.01;
/// `bbr_min_tso_rate` in bytes per second. Below this rate a burst has one packet, otherwise two packets.
const LOW_RATE: f64 = 150_000.0;
/// `sk_pacing_shift` of 10: time in seconds. A burst is the amount of data that leaves in this time.
const BURST_SECONDS: f64 = 1.0 / 1024.0;
/// `bbr_extra_acked_win_rtts`: five to ten rounds.
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// `bbr_extra_acked_max_us`, seconds.
const EXTRA_ACKED_MOST: f64 = 0.1;

/// `bbr_mode`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    /// Probes of the bandwidth. The number is the position in [`CYCLE`].
    ProbeBw(usize),
    ProbeRtt,
}

/// `icsk_ca_state`, as far as the model reads it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Repair {
    Open,
    Recovery,
    Loss,
}

/// BBRv1 on one path.
#[derive(Clone, Debug)]
pub struct V1 {
    mode: Mode,
    packet: f64,
    initial: f64,
    salt: u64,
    cwnd: f64,
    pacing: Option<f64>,
    prior_cwnd: f64,
    repair: Repair,
    /// State at the previous acknowledgement.
    repair_before: Repair,
    conserves: bool,
    rounds: Rounds,
    pipe: FullPipe,
    bandwidth: RoundMax,
    policer: Policer,
    extra_acked: RoundMax,
    extra_since: Instant,
    extra_delivered: f64,
    phase_began: Instant,
    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
}

impl V1 {
    /// `bbr_init`.
    pub fn new(start: Start) -> Self {
        V1 {
            mode: Mode::Startup,
            packet: start.packet,
            initial: start.window,
            salt: start.salt,
            cwnd: start.window,
            pacing: None,
            prior_cwnd: 0.0,
            repair: Repair::Open,
            repair_before: Repair::Open,
            conserves: false,
            rounds: Rounds::default(),
            pipe: FullPipe::default(),
            bandwidth: RoundMax::default(),
            policer: Policer::default(),
            extra_acked: RoundMax::default(),
            extra_since: start.now,
            extra_delivered: 0.0,
            phase_began: start.now,
            min_rtt: None,
            min_rtt_at: start.now,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            idle_restart: false,
        }
    }

    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    /// Gains of rate and window.
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw(_) if self.policer.rate().is_some() => (1.0, CWND_GAIN),
            Mode::ProbeBw(phase) => (CYCLE[phase], CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        }
    }

    fn take_sample(&mut self, ack: &Ack<'_>, sampler: &Sampler) {
        let Some(rate) = ack.sample.rate else {
            self.rounds.began = false;
            return;
        };
        self.rounds.update(ack.sample.prior_delivered, sampler.delivered());
        if self.rounds.began {
            self.conserves = false;
        }
        let probing = matches!(self.mode, Mode::ProbeBw(_));
        if self.policer.take(ack, sampler, self.rounds.began, probing) {
            self.start_probing(ack.now);
        }
        if !ack.sample.limited || rate >= self.bandwidth.get() {
            self.bandwidth.push(self.rounds.count, rate, BANDWIDTH_ROUNDS);
        }
    }

    fn update_aggregation(&mut self, now: Instant, sample: &Sample) {
        if sample.rate.is_none() {
            return;
        }
        let mut expected = self.bw() * now.saturating_since(self.extra_since).as_secs_f64();
        if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_since, expected) = (0.0, now, 0.0);
        }
        self.extra_delivered += sample.newly_acked as f64;
        let extra = (self.extra_delivered - expected).min(self.cwnd);
        self.extra_acked.push(self.rounds.count, extra, EXTRA_ACKED_ROUNDS);
    }

    fn is_next_phase(&self, phase: usize, ack: &Ack<'_>) -> bool {
        let full = ack.now > self.phase_began + self.min_rtt.unwrap_or_default();
        let (gain, bw) = (self.gains().0, self.bandwidth.get());
        let before = ack.in_flight_before as f64;
        if gain > 1.0 {
            full && (ack.sample.newly_lost > 0 || before + self.burst() >= self.inflight(bw, gain))
        } else if gain < 1.0 {
            debug_assert!(phase == 1, "the only phase that drains");
            full || before <= self.inflight(bw, 1.0)
        } else {
            full
        }
    }

    /// `bbr_reset_probe_bw_mode`.
    fn start_probing(&mut self, now: Instant) {
        let last = CYCLE.len() - 1 - (FIRST_PHASES * draw(now, self.salt)) as usize;
        self.mode = Mode::ProbeBw((last + 1) % CYCLE.len());
        self.phase_began = now;
    }

    fn check_startup(&mut self, ack: &Ack<'_>) {
        if self.rounds.began && !ack.sample.limited && !self.pipe.reached {
            self.pipe.check(self.bandwidth.get());
        }
        if self.mode == Mode::Startup && self.pipe.reached {
            self.mode = Mode::Drain;
        }
        let bdp = self.inflight(self.bandwidth.get(), 1.0);
        if self.mode == Mode::Drain && ack.in_flight as f64 <= bdp {
            self.start_probing(ack.now);
        }
    }

    fn update_min_rtt(&mut self, ack: &Ack<'_>, sampler: &mut Sampler) {
        let expired = ack.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.sample.rtt
            && (self.min_rtt.is_none_or(|least| rtt < least) || expired)
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), ack.now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            sampler.mark_limited(ack.in_flight);
            if self.probe_rtt_until.is_some() {
                self.probe_rtt_round_done |= self.rounds.began;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(ack.now);
                }
            } else if ack.in_flight as f64 <= MIN_PACKETS * self.packet {
                self.probe_rtt_until = Some(ack.now + PROBE_RTT);
                self.probe_rtt_round_done = false;
                self.rounds.start(sampler.delivered());
            }
        }
        self.idle_restart &= ack.sample.delivered == 0;
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_at = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.pipe.reached {
            self.start_probing(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn save_cwnd(&mut self) {
        let good = self.repair_before == Repair::Open && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// `bbr_tso_segs_goal`, bytes.
    fn burst(&self) -> f64 {
        let rate = self.pacing.unwrap_or(0.0);
        let least = if rate < LOW_RATE { 1.0 } else { 2.0 };
        libm::floor(rate * BURST_SECONDS / self.packet).max(least) * self.packet
    }

    fn quantized(&self, volume: f64) -> f64 {
        let packets = libm::ceil((volume + 3.0 * self.burst()) / self.packet);
        let even = packets + packets % 2.0;
        let more = if self.mode == Mode::ProbeBw(0) { 2.0 } else { 0.0 };
        (even + more) * self.packet
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantized(self.bdp(bw, gain))
    }

    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial, |rtt| gain * bw * rtt.as_secs_f64())
    }

    fn set_pacing(&mut self, srtt: Option<Duration>, gain: f64) {
        if self.pacing.is_none() {
            let rtt = srtt.or(self.min_rtt).filter(|rtt| !rtt.is_zero());
            self.pacing = rtt.map(|rtt| HIGH_GAIN * self.initial / rtt.as_secs_f64() * (1.0 - PACING_MARGIN));
        }
        let rate = gain * self.bw() * (1.0 - PACING_MARGIN);
        if rate > 0.0 && (self.pipe.reached || self.pacing.is_some_and(|now| rate > now)) {
            self.pacing = Some(rate);
        }
    }

    /// Returns whether the principle of packet conservation determines the window.
    fn conserve(&mut self, ack: &Ack<'_>, sampler: &Sampler) -> bool {
        let acked = ack.sample.newly_acked as f64;
        let in_flight = ack.in_flight as f64;
        if ack.sample.newly_lost > 0 {
            self.cwnd = (self.cwnd - ack.sample.newly_lost as f64).max(self.packet);
        }
        if self.repair == Repair::Recovery && self.repair_before != Repair::Recovery {
            self.conserves = true;
            self.rounds.start(sampler.delivered());
            self.cwnd = in_flight + acked;
        } else if self.repair_before != Repair::Open && self.repair == Repair::Open {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.repair_before = self.repair;
        if self.conserves {
            self.cwnd = self.cwnd.max(in_flight + acked);
        }
        self.conserves
    }

    fn set_window(&mut self, ack: &Ack<'_>, sampler: &Sampler) {
        if !self.conserve(ack, sampler) {
            let mut target = self.bdp(self.bw(), self.gains().1);
            if self.pipe.reached {
                target += self.extra_acked.get().min(self.bw() * EXTRA_ACKED_MOST);
            }
            let target = self.quantized(target);
            let grown = self.cwnd + ack.sample.newly_acked as f64;
            if self.pipe.reached {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || (sampler.delivered() as f64) < self.initial {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(MIN_PACKETS * self.packet);
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PACKETS * self.packet);
        }
    }
}

impl Model for V1 {
    fn on_ack(&mut self, ack: &Ack<'_>, sampler: &mut Sampler) {
        self.take_sample(ack, sampler);
        self.update_aggregation(ack.now, ack.sample);
        if let Mode::ProbeBw(phase) = self.mode
            && self.is_next_phase(phase, ack)
        {
            self.mode = Mode::ProbeBw((phase + 1) % CYCLE.len());
            self.phase_began = ack.now;
        }
        self.check_startup(ack);
        self.update_min_rtt(ack, sampler);
        self.set_pacing(ack.srtt, self.gains().0);
        self.set_window(ack, sampler);
    }

    fn on_lost(&mut self, _: Instant, _: &LostPacket, _: &Sampler) {}

    fn on_recovery(&mut self) {
        self.save_cwnd();
        self.repair = Repair::Recovery;
    }

    fn on_timeout(&mut self) {
        self.save_cwnd();
        (self.repair, self.repair_before) = (Repair::Loss, Repair::Loss);
        self.pipe.reset(0.0);
        self.cwnd = self.cwnd.min(self.packet);
    }

    fn on_recovered(&mut self) {
        self.repair = Repair::Open;
    }

    fn on_penalty(&mut self) {
        self.cwnd = (self.cwnd / 2.0).max(MIN_PACKETS * self.packet).min(self.cwnd);
    }

    fn on_restart(&mut self, now: Instant, _: &Sampler) {
        self.idle_restart = true;
        (self.extra_since, self.extra_delivered) = (now, 0.0);
        match self.mode {
            Mode::ProbeBw(_) => self.set_pacing(None, 1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            _ => {}
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
        out.push(("bbr_bandwidth_bps", 8.0 * self.bw()));
        out.extend(self.min_rtt.map(|rtt| ("bbr_min_rtt_ms", rtt.as_secs_f64() * 1e3)));
        out.extend(self.pacing.map(|rate| ("bbr_pacing_bps", 8.0 * rate)));
    }
}
