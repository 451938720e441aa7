//! A window for live video. The window is BBRv3's model with a limit on the queueing delay. The window distinguishes
//! random losses from full queues.
//!
//! The window follows several papers:
//!
//! | rule | from | here |
//! |---|---|---|
//! | rate, window, probing | draft-ietf-ccwg-bbr-06 | [`V3`] |
//! | a virtual mark in proportion to the queueing delay, from half of the target on | SCReAMv2 (draft-johansson-ccwg-rfc8298bis-screamv2) | [`Guard::mark`] |
//! | marks end a probe; while cruising they cut the rate until the next one | BBRv3's short-term model (§5.5.10.3) | [`Guard::mark`] |
//! | losses without a queue: a trial at 85 % for two round trips decides | BBRv3's headroom; none for the trial | [`Guard::judge_losses`] |
//! | losses while the queue is about as long as its longest of late: it may be short, and full | Veno (Fu and Liew 2003) | [`Guard::is_full`] |
//! | a queue that is never nearly empty belongs to others: a higher target | Copa (Arun and Balakrishnan 2018) | [`Guard::update_queue_range`] |
//! | half of the rate for a round trip, in place of ProbeRTT | none | [`Guard::duck`] |
//!
//! `ASSUMED`: the constants below that name no source, and the conclusions from a trial. A trial sends at 85 % of the
//! rate. If the share of losses halves, the rate causes the losses (a short queue, a policer). Losses then limit the
//! rate for ten seconds. If the share does not halve, the path causes the losses, and this share of losses is ignored
//! for half a minute.

use strandcast_keys::keys;
use strandcast_proto::rfc::WindowConfig;
use strandcast_proto::time::{Duration, Instant};

use super::constants::LOSS_THRESHOLD;
use super::model::{Ack, Model, Start};
use super::rate::{LostPacket, Sampler};
use super::shell::{Headers, Paced};
use super::state::State;
use super::v3::V3;
use crate::congestion::TcpConfig;
use crate::congestion::window::{WindowPart, Windows};
use crate::part::Estimators;

/// Least interval at which queueing delays are evaluated as marks. If a round trip is longer, the interval is one round
/// trip (SCReAMv2's virtual round trip).
const MARK_INTERVAL: Duration = Duration::from_millis(25);
/// Share by which full marking reduces the rate. SCReAMv2 has one half, as for marks of L4S.
const MARK_CUT: f64 = 0.5;
/// Number of round trips in which the queue of a probe drains.
const DRAIN_ROUNDS: u64 = 5;
/// Factor of the rate of DOWN during these round trips.
const DRAIN_PACE: f64 = 0.8;
/// Share of the target delay. If the queueing delay is longer, the queue counts as the cause of a loss (SCReAMv2).
const BLAMED_QUEUE: f64 = 0.25;
/// Factor of the rate during a trial (1 − BBR.Headroom).
const TRIAL_PACE: f64 = 0.85;
/// Number of round trips of a trial.
const TRIAL_ROUNDS: u64 = 2;
/// Factor by which a trial must reduce the share of losses. If it does, the rate causes the losses.
const TRIAL_CONVICTS: f64 = 0.5;
/// Number of expected losses after which a trial ends. Even if the path's share of losses does not change, a trial may
/// count at most half of this number by chance. Such a chance result happens in one of fifty cases.
const TRIAL_LOSSES: f64 = 16.0;
/// Time for which the verdict holds that the path causes losses.
const KNOWN: Duration = Duration::from_secs(30);
/// Time for which the verdict holds that the rate causes them.
const GUILTY: Duration = Duration::from_secs(10);
/// Share of the recent longest queue. A longer queue may be full (in `queue-aware`, this share is one half). Also the
/// factor by which each round trip reduces the recent longest queue. The recent longest queue halves in about 140 round
/// trips.
const FULL_SHARE: f64 = 0.75;
const FORGETS: f64 = 0.995;
/// Number of packets lost above the threshold that may be lost by chance. While other flows use the queue, each loss
/// counts.
const CHANCE: f64 = 2.0;
/// Weight of a packet in the loss share.
const LOSS_GAIN: f64 = 0.005;
/// Number of round trips. If only this flow fills a queue, the queue is nearly empty at least once in this time.
const EMPTY_ROUNDS: u64 = 5;
/// Share of the longest queue that counts as nearly empty (Copa).
const NEARLY_EMPTY: f64 = 0.1;
/// Queueing delay in seconds below which a queue is ignored.
const NO_QUEUE: f64 = 0.005;
/// Age after which the least round-trip time is measured again. BBR has ten seconds.
const DUCK_AFTER: Duration = Duration::from_millis(4500);
/// Factor of the rate during the test for the cause of losses.
const DUCK_PACE: f64 = 0.5;

keys! {
    /// Keys of the guard.
    #[derive(Copy)]
    pub struct GuardConfig {
        /// queueing delay to stay below; an eighth of the latency that a stream allows, 30 to 100 ms
        target as "queue-target": Duration [1, 1000, "ms"] = Duration::from_millis(60),
        /// queueing delay to stay below while others keep the queue filled
        most as "queue-most": Duration [1, 10_000, "ms"] = Duration::from_millis(200),
    }
}

impl GuardConfig {
    fn windows(self, config: TcpConfig, headers: Headers) -> Windows {
        Box::new(Paced::new(config.initial_window, headers, move |start| Guard::new(self, start)))
    }
}

impl WindowPart for GuardConfig {
    fn paper(&self) -> &'static str {
        "none: BBRv3, SCReAMv2, Copa"
    }

    fn summary(&self) -> &'static str {
        "BBR's model held to a queueing delay; a trial distinguishes random losses from those of a full queue"
    }

    fn sctp(&self, config: WindowConfig) -> Windows {
        self.windows(config.into(), Headers::SCTP)
    }

    fn tcp(&self, config: TcpConfig) -> Result<Windows, &'static str> {
        Ok(self.windows(config, Headers::NONE))
    }

    fn estimators(&self, estimators: &mut Estimators) {
        estimators.delivery();
    }
}

/// Cause of losses, for as long as the verdict holds.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Verdict {
    /// No verdict holds at present.
    None,
    /// The rate causes the losses. The verdict holds until this time.
    Guilty(Instant),
    /// The path causes the losses: it loses this share of packets at any rate. The verdict holds until this time.
    Known(Instant, f64),
}

/// State of a running trial: the share of packets lost before the trial, the round in which the trial began, and the
/// packets delivered and lost since then.
#[derive(Copy, Clone, Debug)]
struct Trial {
    before: f64,
    round: u64,
    delivered: f64,
    lost: f64,
}

/// Least and longest queueing delay since `round`, in seconds.
#[derive(Copy, Clone, Debug)]
struct QueueRange {
    round: u64,
    least: f64,
    most: f64,
}

/// The model of one path.
#[derive(Clone, Debug)]
pub struct Guard {
    config: GuardConfig,
    bbr: V3,
    /// Sum and number of queueing delays since the last evaluation as marks, and time of that evaluation.
    sum: f64,
    samples: f64,
    marked_at: Instant,
    /// Last round in which the queue of a probe or of Startup drains.
    drains_until: u64,
    /// Latest queueing delay in seconds, and the recent longest one.
    queue: f64,
    longest: f64,
    /// Share of the packets that is lost.
    loss: f64,
    verdict: Verdict,
    trial: Option<Trial>,
    queues: QueueRange,
    competes: bool,
    /// Round in which the rate was last halved.
    ducked: Option<u64>,
    /// Time at which the least round-trip time was last measured.
    least_at: Instant,
}

/// Returns the queueing delay of an acknowledgement in seconds. No other function depends on the source of the delay.
fn queueing_delay(ack: &Ack<'_>, min_rtt: Option<Duration>) -> Option<f64> {
    let own = || Some(ack.sample.rtt?.saturating_sub(min_rtt?).as_secs_f64());
    ack.queue.or_else(own)
}

impl Guard {
    /// Makes the state of a path on which nothing was sent yet.
    pub fn new(config: GuardConfig, start: Start) -> Self {
        let mut bbr = V3::new(start);
        bbr.probes_rtt = false;
        Guard {
            config,
            bbr,
            sum: 0.0,
            samples: 0.0,
            marked_at: start.now,
            drains_until: 0,
            queue: 0.0,
            longest: 0.0,
            loss: 0.0,
            verdict: Verdict::None,
            trial: None,
            queues: QueueRange { round: 0, least: f64::INFINITY, most: 0.0 },
            competes: false,
            ducked: None,
            least_at: start.now,
        }
    }

    /// The queueing delay to stay below, seconds.
    fn target(&self) -> f64 {
        let target =
            if self.competes { self.config.most.max(self.config.target) } else { self.config.target };
        target.as_secs_f64()
    }

    /// Once per round trip, evaluates the mean queueing delay as a mark. A mark ends Startup. It also ends a probe, and
    /// the queue of the probe drains afterwards. While cruising, a mark reduces the rate until the next probe.
    fn mark(&mut self, ack: &Ack<'_>, sampler: &Sampler) {
        let interval = ack.srtt.unwrap_or_default().max(MARK_INTERVAL);
        if self.samples == 0.0 || ack.now.saturating_since(self.marked_at) < interval {
            return;
        }
        let mean = self.sum / self.samples;
        (self.sum, self.samples, self.marked_at) = (0.0, 0.0, ack.now);
        let mark = (2.0 * mean / self.target() - 1.0).clamp(0.0, 1.0);
        if mark == 0.0 {
            return;
        }
        match self.bbr.state {
            State::Startup => self.bbr.pipe.reached = true,
            State::Up => self.bbr.start_down(ack.now, sampler),
            State::Cruise | State::Down if self.bbr.rounds.count > self.drains_until => {
                let bound = self.bbr.bw_shortterm.min(self.bbr.max_bw());
                self.bbr.bw_shortterm = bound * (1.0 - MARK_CUT * mark);
            }
            _ => {}
        }
    }

    /// Returns whether losses show that too many data are in flight.
    fn blames(&self, now: Instant) -> bool {
        let guilty = matches!(self.verdict, Verdict::Guilty(until) if now < until);
        guilty || self.queue > BLAMED_QUEUE * self.target() || self.is_full()
    }

    /// Returns whether the queue is about as long as its recent maximum. A short queue may then be full.
    fn is_full(&self) -> bool {
        self.queue > (FULL_SHARE * self.longest).max(NO_QUEUE)
    }

    /// Share of packets that the path loses at any rate, as far as it is known.
    fn known(&self, now: Instant) -> f64 {
        match self.verdict {
            Verdict::Known(until, share) if now < until => share,
            _ => 0.0,
        }
    }

    /// Called once per round. Starts a trial if losses exceed the known share although there is no queue. At the end of
    /// a trial, reaches a verdict.
    fn judge_losses(&mut self, now: Instant) {
        let round = self.bbr.rounds.count;
        if let Some(trial) = self.trial {
            let packets = trial.delivered + trial.lost;
            if round <= trial.round + TRIAL_ROUNDS || packets * trial.before < TRIAL_LOSSES {
                return;
            }
            let share = trial.lost / packets;
            let guilty = share < TRIAL_CONVICTS * trial.before;
            self.verdict =
                if guilty { Verdict::Guilty(now + GUILTY) } else { Verdict::Known(now + KNOWN, share) };
            self.trial = None;
        }
        self.bbr.loss_threshold = LOSS_THRESHOLD + self.known(now);
        if self.trial.is_none() && self.loss > self.bbr.loss_threshold && !self.blames(now) {
            self.trial = Some(Trial { before: self.loss, round, delivered: 0.0, lost: 0.0 });
        }
    }

    /// Called once in several round trips. Records whether other flows keep the queue filled. Other flows keep it
    /// filled if the queue was never nearly empty.
    fn update_queue_range(&mut self) {
        let QueueRange { round, least, most } = self.queues;
        if self.bbr.rounds.count < round + EMPTY_ROUNDS {
            return;
        }
        self.competes = least > (NEARLY_EMPTY * most).max(NO_QUEUE);
        self.queues = QueueRange { round: self.bbr.rounds.count, least: f64::INFINITY, most: 0.0 };
    }

    /// Halves the rate for one round trip if the last measurement of the least round-trip time is too old.
    fn duck(&mut self, now: Instant, found: bool) {
        if found {
            self.least_at = now;
        }
        match self.ducked {
            Some(round) if self.bbr.rounds.count > round + 1 => {
                (self.ducked, self.least_at) = (None, now);
            }
            None if now > self.least_at + DUCK_AFTER => self.ducked = Some(self.bbr.rounds.count),
            _ => {}
        }
    }

    fn take_queue(&mut self, queue: f64) {
        self.queue = queue;
        self.longest = self.longest.max(queue);
        self.sum += queue;
        self.samples += 1.0;
        self.queues.least = self.queues.least.min(queue);
        self.queues.most = self.queues.most.max(queue);
    }
}

impl Model for Guard {
    fn on_ack(&mut self, ack: &Ack<'_>, sampler: &mut Sampler) {
        let (least, before) = (self.bbr.min_rtt, self.bbr.state);
        if let Some(queue) = queueing_delay(ack, least) {
            self.take_queue(queue);
        }
        let packets = ack.sample.newly_acked as f64 / self.bbr.packet;
        self.loss *= libm::pow(1.0 - LOSS_GAIN, packets);
        if let Some(trial) = &mut self.trial
            && self.bbr.rounds.count > trial.round
        {
            trial.delivered += packets;
        }
        self.bbr.on_ack(ack, sampler);
        if self.bbr.rounds.began {
            self.longest *= FORGETS;
            self.judge_losses(ack.now);
            self.update_queue_range();
        }
        self.mark(ack, sampler);
        let probed = matches!(before, State::Startup | State::Drain | State::Up);
        if probed && self.bbr.state != before {
            self.drains_until = self.bbr.rounds.count + DRAIN_ROUNDS;
        }
        let found = ack.sample.rtt.is_some_and(|rtt| least.is_none_or(|least| rtt <= least));
        self.duck(ack.now, found);
    }

    fn on_lost(&mut self, now: Instant, lost: &LostPacket, sampler: &Sampler) {
        self.loss += LOSS_GAIN * (1.0 - self.loss);
        if let Some(trial) = &mut self.trial
            && self.bbr.rounds.count > trial.round
        {
            trial.lost += 1.0;
        }
        let expected = self.bbr.loss_threshold * lost.in_flight as f64 + CHANCE * self.bbr.packet;
        if self.blames(now) && (self.competes || self.is_full() || lost.lost as f64 > expected) {
            self.bbr.on_lost(now, lost, sampler);
        }
    }

    fn on_recovery(&mut self) {
        self.bbr.on_recovery();
    }

    fn on_timeout(&mut self) {
        self.bbr.on_timeout();
    }

    fn on_recovered(&mut self) {
        self.bbr.on_recovered();
    }

    fn on_spurious(&mut self) {
        self.trial = None;
        self.bbr.on_spurious();
    }

    fn on_penalty(&mut self) {
        self.bbr.on_penalty();
    }

    fn on_restart(&mut self, now: Instant, sampler: &Sampler) {
        self.bbr.on_restart(now, sampler);
    }

    fn set_packet(&mut self, bytes: f64) {
        self.bbr.set_packet(bytes);
    }

    fn cwnd(&self) -> f64 {
        self.bbr.cwnd()
    }

    fn pacing(&self) -> Option<f64> {
        let trial: f64 = if self.trial.is_some() { TRIAL_PACE } else { 1.0 };
        let duck = if self.ducked.is_some() { DUCK_PACE } else { 1.0 };
        let drains = self.bbr.state == State::Down && self.bbr.rounds.count <= self.drains_until;
        let drain = if drains { DRAIN_PACE } else { 1.0 };
        self.bbr.pacing().map(|rate| rate * trial.min(duck).min(drain))
    }

    fn min_rtt(&self) -> Option<Duration> {
        self.bbr.min_rtt()
    }

    fn gauges(&self, out: &mut Vec<(&'static str, f64)>) {
        self.bbr.gauges(out);
        out.push(("guard_queue_ms", self.queue * 1e3));
        out.push(("guard_loss", self.loss));
        out.push(("guard_competes", f64::from(u8::from(self.competes))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_millis(5);

    /// Returns the verdict in `round`, after `delivered` packets. The trial began in round 0 with a loss share of 5 %.
    fn verdict(round: u64, delivered: f64, lost: f64) -> Verdict {
        let start = Start { now: NOW, window: 10_000.0, packet: 1000.0, salt: 0 };
        let mut guard = Guard::new(GuardConfig::default(), start);
        guard.trial = Some(Trial { before: 0.05, round: 0, delivered, lost });
        guard.bbr.rounds.count = round;
        guard.judge_losses(NOW);
        assert_eq!(guard.trial.is_some(), guard.verdict == Verdict::None);
        guard.verdict
    }

    /// A trial ends after 16 expected losses, which are 5 % of 320 packets. Fewer packets lead to no verdict, whatever
    /// their losses.
    #[test]
    fn a_trial_ends_when_losses_are_no_matter_of_chance() {
        for (delivered, lost) in [(20.0, 0.0), (160.0, 4.0), (319.0, 0.0), (303.0, 16.0)] {
            assert_eq!(verdict(3, delivered, lost), Verdict::None, "{delivered} delivered, {lost} lost");
        }
        assert_eq!(verdict(2, 304.0, 16.0), Verdict::None, "the second round trip is not over");
        assert_eq!(verdict(3, 304.0, 16.0), Verdict::Known(NOW + KNOWN, 0.05));
        assert_eq!(verdict(3, 313.0, 7.0), Verdict::Guilty(NOW + GUILTY), "less than half of 5 %");
    }
}
