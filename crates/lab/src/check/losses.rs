//! Random losses of a path: their probability and correlation.

use strandcast_netem::link::LinkConfig;
use strandcast_netem::loss::LossModel;

/// The loss models of all links of a route. The loss models are independent of each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Losses(Vec<Process>);

/// One loss model, with its long-term loss rate and its correlation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Process {
    mean: f64,
    /// Variance of the loss probability over the states of the model's Markov chain. 0 if packets are lost
    /// independently.
    variance: f64,
    moves: Moves,
}

/// Decay of the correlation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moves {
    /// Each packet multiplies the correlation by this factor.
    ByPacket(f64),
    /// The correlation decays by exp(-rate · time). The parameter is the rate per second.
    ByTime(f64),
}

impl Losses {
    /// Adds the loss models of a link. If a link retransmits, its models count as one model without correlation.
    pub(super) fn add(&mut self, link: &LinkConfig) {
        if link.retries > 0 {
            self.0.push(Process::independent(link.mean_loss()));
        } else {
            self.0.extend(link.losses.iter().map(Process::of));
        }
    }

    /// Independent losses with this probability.
    #[cfg(test)]
    pub(super) fn uniform(p: f64) -> Self {
        Losses(vec![Process::independent(p)])
    }

    /// Share of packets that are lost.
    pub(super) fn mean(&self) -> f64 {
        1.0 - self.kept()
    }

    /// Probability that a packet is lost although the packet `gap` seconds before it was not lost. In this case, a
    /// burst begins.
    pub(super) fn after_success(&self, gap: f64) -> f64 {
        let kept = self.kept();
        if kept > 0.0 { (1.0 - self.both_kept(gap) / kept).clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Probability that a packet is lost after the packet `gap` seconds before it was lost.
    pub(super) fn after_loss(&self, gap: f64) -> f64 {
        let kept = self.kept();
        if kept < 1.0 {
            ((1.0 - 2.0 * kept + self.both_kept(gap)) / (1.0 - kept)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Losses with the same share of lost packets. Each packet is lost independently of the others.
    pub(super) fn uncorrelated(&self) -> Self {
        Losses(self.0.iter().map(|process| Process { variance: 0.0, ..*process }).collect())
    }

    /// Returns whether the state of a model changes only with packets, and not with time.
    pub(super) fn by_packet(&self) -> bool {
        self.0.iter().any(|process| process.variance > 0.0 && matches!(process.moves, Moves::ByPacket(_)))
    }

    fn kept(&self) -> f64 {
        self.0.iter().map(|process| 1.0 - process.mean).product()
    }

    fn both_kept(&self, gap: f64) -> f64 {
        let each = |process: &Process| square(1.0 - process.mean) + process.variance * process.memory(gap);
        self.0.iter().map(each).product()
    }
}

impl Process {
    fn independent(mean: f64) -> Self {
        Process { mean, variance: 0.0, moves: Moves::ByPacket(0.0) }
    }

    fn of(model: &LossModel) -> Self {
        let mean = model.mean_loss();
        let variance = |bad: f64, good: f64, lost: f64| bad * (1.0 - bad) * square(lost - good);
        match *model {
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
                let all = p_good_to_bad + p_bad_to_good;
                let bad = if all > 0.0 { p_good_to_bad / all } else { 0.0 };
                Process {
                    mean,
                    variance: variance(bad, loss_good, loss_bad),
                    moves: Moves::ByPacket(1.0 - all),
                }
            }
            LossModel::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => {
                let (good, bad) = (mean_good.as_secs_f64(), mean_bad.as_secs_f64());
                let share = bad / (good + bad);
                let moves = Moves::ByTime(1.0 / good + 1.0 / bad);
                Process { mean, variance: variance(share, loss_good, loss_bad), moves }
            }
            _ => Process::independent(mean),
        }
    }

    fn memory(&self, gap: f64) -> f64 {
        match self.moves {
            Moves::ByPacket(factor) => factor,
            Moves::ByTime(rate) => libm::exp(-rate * gap),
        }
    }
}

fn square(x: f64) -> f64 {
    x * x
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn of(models: Vec<LossModel>) -> Losses {
        let mut losses = Losses::default();
        losses.add(&LinkConfig { losses: models, ..LinkConfig::default() });
        losses
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn a_chain_by_packet_does_not_change_with_time() {
        // 20 % of the packets are lost in bursts of 5. A loss follows a loss with probability 4/5. A burst begins with
        // probability 0.2 / 0.8 / 5.
        let losses = of(vec![LossModel::bursts(0.2, 5.0)]);
        for gap in [0.0, 1.0, 60.0] {
            near(losses.after_loss(gap), 0.8);
            near(losses.after_success(gap), 0.05);
        }
        near(losses.mean(), 0.2);
        assert!(losses.by_packet() && !losses.uncorrelated().by_packet());
        near(losses.uncorrelated().after_loss(0.0), 0.2);
    }

    #[test]
    fn a_chain_by_time_forgets() {
        let (mean_good, mean_bad) = (Duration::from_secs(9), Duration::from_secs(1));
        let losses = of(vec![LossModel::MarkovByTime { mean_good, mean_bad, loss_good: 0.0, loss_bad: 1.0 }]);
        near(losses.mean(), 0.1);
        near(losses.after_loss(0.0), 1.0);
        near(losses.after_success(0.0), 0.0);
        near(losses.after_loss(1e3), 0.1);
        near(losses.after_success(1e3), 0.1);
        // The probability of a change from Good to Bad is 0.1 (1 - exp(-t (1/9 + 1))).
        near(losses.after_success(0.9), 0.1 * (1.0 - libm::exp(-1.0)));
        assert!(!losses.by_packet());
    }

    #[test]
    fn models_of_a_route_add_up() {
        let losses = of(vec![LossModel::uniform(0.1), LossModel::uniform(0.2)]);
        for p in [losses.mean(), losses.after_loss(0.0), losses.after_success(0.0)] {
            near(p, 1.0 - 0.9 * 0.8);
        }
        near(of(vec![LossModel::uniform(1.0)]).after_success(0.0), 1.0);
        near(of(Vec::new()).after_loss(0.0), 0.0);
        // There are three transmissions. Each is lost with probability 1/2.
        let mut again = Losses::default();
        again.add(&LinkConfig {
            losses: vec![LossModel::bursts(0.5, 3.0)],
            retries: 2,
            ..LinkConfig::default()
        });
        near(again.after_loss(0.0), 0.125);
    }
}
