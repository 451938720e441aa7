//! Loss models and their running state.

use strandcast_proto::seeds::Random;

/// How a link loses packets at random. A link without random loss has no model; one with several applies all of
/// them (a packet must survive each).
///
/// Models: uniform (independent) loss and the two-state Markov chain of Gilbert and Elliott, advanced once a packet.
/// Limits: loss depends on neither packet length nor time; a burst is counted in packets, so it lasts longer on a
/// slower sender. Validation: stationary loss, its variance and mean burst length against their closed forms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet is lost independently.
    Uniform {
        /// Probability of losing a packet.
        p: f64,
    },
    /// Two-state Markov chain, starting in Good. Each packet first moves the chain, then is lost with the
    /// probability of the state it finds.
    Markov {
        /// Probability, a packet, of going from Good to Bad.
        p_good_to_bad: f64,
        /// Probability, a packet, of going from Bad to Good.
        p_bad_to_good: f64,
        /// Probability of losing a packet in Good.
        loss_good: f64,
        /// Probability of losing a packet in Bad.
        loss_bad: f64,
    },
}

impl LossModel {
    /// The chain that loses nothing in Good and everything in Bad, from the share of packets it loses in the long run
    /// and the mean length of a run of lost packets (`mean_burst` ≥ 1): 1/p_bad_to_good = mean_burst, and the
    /// stationary share of Bad is `mean_loss`.
    ///
    /// Numbers no chain has (a loss of 1, bursts shorter than a packet) give probabilities outside `[0, 1]`:
    /// [`is_valid`](Self::is_valid) tells.
    pub fn bursts(mean_loss: f64, mean_burst: f64) -> Self {
        let p_bad_to_good = 1.0 / mean_burst;
        let p_good_to_bad = mean_loss * p_bad_to_good / (1.0 - mean_loss);
        LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good: 0.0, loss_bad: 1.0 }
    }

    /// The share of packets lost in the long run. A chain that never moves stays in Good.
    pub fn mean_loss(&self) -> f64 {
        match *self {
            LossModel::Uniform { p } => p,
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
                let moves = p_good_to_bad + p_bad_to_good;
                let bad = if moves > 0.0 { p_good_to_bad / moves } else { 0.0 };
                loss_good + bad * (loss_bad - loss_good)
            }
        }
    }

    /// Whether every probability is in `[0, 1]`.
    pub fn is_valid(&self) -> bool {
        let probability = |p: f64| (0.0..=1.0).contains(&p);
        match *self {
            LossModel::Uniform { p } => probability(p),
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
                [p_good_to_bad, p_bad_to_good, loss_good, loss_bad].into_iter().all(probability)
            }
        }
    }
}

/// A loss model at work.
#[derive(Clone, Debug)]
pub struct Loss {
    model: LossModel,
    bad: bool,
    random: Random,
}

impl Loss {
    /// `model`, drawing from `random`.
    pub fn new(model: LossModel, random: Random) -> Self {
        Loss { model, bad: false, random }
    }

    /// Whether the next packet is lost. To be asked once for every packet, also for those lost to something else.
    pub fn next_is_lost(&mut self) -> bool {
        match self.model {
            LossModel::Uniform { p } => self.random.chance(p),
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
                let leave = if self.bad { p_bad_to_good } else { p_good_to_bad };
                self.bad ^= self.random.chance(leave);
                self.random.chance(if self.bad { loss_bad } else { loss_good })
            }
        }
    }
}
