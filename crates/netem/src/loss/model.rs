//! Loss models, and their state in a run.

use std::sync::Arc;

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::sojourns::Sojourns;
use super::{LossList, Modulation, frame_error_rate};
use crate::number::{Number, Varying};

/// A model of random loss on a link. A link without random loss has no loss model. If a link has several models, a
/// packet must survive all of them.
///
/// Models: uniform (independent) loss; the two-state chain of Gilbert and Elliott, advanced once per packet or in
/// continuous time; bit errors with white Gaussian noise; a recorded list. Limits: only the model of bit errors depends
/// on a packet's length. If the chain advances per packet, a burst is a number of packets. A burst of a number of
/// packets lasts longer with a slower sender. Validation: stationary loss, its variance and the mean burst length are
/// compared with their closed forms.
#[derive(Clone, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet is lost independently of the others.
    Uniform {
        /// Probability that a packet is lost.
        p: Number,
    },
    /// Two-state Markov chain, which starts in the state Good. Each packet first advances the chain. The packet is then
    /// lost with the probability of the new state.
    Markov {
        /// Probability per packet of a change from Good to Bad.
        p_good_to_bad: f64,
        /// Probability per packet of a change from Bad to Good.
        p_bad_to_good: f64,
        /// Probability that a packet is lost in the state Good.
        loss_good: f64,
        /// Probability that a packet is lost in the state Bad.
        loss_bad: f64,
    },
    /// Two-state Markov process in continuous time, which is stationary from the start. Both states last exponentially
    /// distributed times, independent of packets. A packet is lost with the probability of the state at the time when
    /// its last bit leaves the transmitter.
    MarkovByTime {
        /// Mean duration of the state Good, at least 1 µs.
        mean_good: Duration,
        /// Mean duration of the state Bad, at least 1 µs.
        mean_bad: Duration,
        /// Probability that a packet is lost in the state Good.
        loss_good: f64,
        /// Probability that a packet is lost in the state Bad.
        loss_bad: f64,
    },
    /// A packet is lost if one of its bits is wrong. Bit errors are independent of each other.
    Snr {
        /// Modulation.
        modulation: Modulation,
        /// Signal-to-noise ratio per symbol in dB, at least 0. The value at the time when a packet's last bit leaves
        /// applies to the packet.
        snr_db: Number,
    },
    /// A list of recorded losses.
    List {
        /// List of lost packets.
        list: Arc<LossList>,
        /// True if the list repeats after its last packet.
        repeat: bool,
    },
}

/// Number of midpoints for the mean over a range of signal-to-noise ratios.
const MIDPOINTS: u32 = 64;

impl LossModel {
    /// Returns a model that loses each packet independently with the constant probability `p`.
    pub fn uniform(p: f64) -> Self {
        LossModel::Uniform { p: Number::Constant(p) }
    }

    /// Returns a chain that loses no packet in Good and every packet in Bad. The chain has the given long-run fraction
    /// of lost packets, and the given mean length of loss bursts (`mean_burst` ≥ 1): 1/p_bad_to_good = mean_burst, and
    /// the stationary fraction of Bad is `mean_loss`.
    ///
    /// Impossible arguments (a loss of 1, bursts shorter than a packet) give probabilities outside `[0, 1]`.
    /// [`is_valid`](Self::is_valid) detects these.
    pub fn bursts(mean_loss: f64, mean_burst: f64) -> Self {
        let p_bad_to_good = 1.0 / mean_burst;
        let p_good_to_bad = mean_loss * p_bad_to_good / (1.0 - mean_loss);
        LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good: 0.0, loss_bad: 1.0 }
    }

    /// Returns the long-run fraction of lost packets, if arrivals are independent of losses. A chain that never changes
    /// its state stays in Good. For the model of bit errors, packets have 1500 bytes.
    pub fn mean_loss(&self) -> f64 {
        let mixed = |bad: f64, loss_good: f64, loss_bad: f64| loss_good + bad * (loss_bad - loss_good);
        match *self {
            LossModel::Uniform { ref p } => p.mean(),
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
                let moves = p_good_to_bad + p_bad_to_good;
                let bad = if moves > 0.0 { p_good_to_bad / moves } else { 0.0 };
                mixed(bad, loss_good, loss_bad)
            }
            LossModel::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => {
                let (good, bad) = (mean_good.as_secs_f64(), mean_bad.as_secs_f64());
                mixed(bad / (good + bad), loss_good, loss_bad)
            }
            LossModel::Snr { modulation, ref snr_db } => {
                let at = |snr_db| frame_error_rate(modulation.bit_error_rate(snr_db), 1500);
                match *snr_db {
                    Number::Uniform { low, high, .. } => {
                        let each = (0..MIDPOINTS).map(|i| (f64::from(i) + 0.5) / f64::from(MIDPOINTS));
                        each.map(|u| at(low + (high - low) * u)).sum::<f64>() / f64::from(MIDPOINTS)
                    }
                    ref other => at(other.mean()),
                }
            }
            LossModel::List { repeat: false, .. } => 0.0,
            LossModel::List { ref list, repeat: true } => list.ordinals().len() as f64 / list.len() as f64,
        }
    }

    /// Returns whether all probabilities are in `[0, 1]`, all times are long enough, and all ratios are at least 0 dB.
    pub fn is_valid(&self) -> bool {
        let probability = |p: f64| (0.0..=1.0).contains(&p);
        match *self {
            LossModel::Uniform { ref p } => {
                let (low, high) = p.range();
                p.validate().is_ok() && probability(low) && probability(high)
            }
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
                [p_good_to_bad, p_bad_to_good, loss_good, loss_bad].into_iter().all(probability)
            }
            LossModel::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => {
                let long_enough = mean_good.min(mean_bad) >= Duration::from_micros(1);
                long_enough && probability(loss_good) && probability(loss_bad)
            }
            LossModel::Snr { ref snr_db, .. } => snr_db.validate().is_ok() && snr_db.range().0 >= 0.0,
            LossModel::List { .. } => true,
        }
    }
}

/// State of a loss model in a run.
#[derive(Clone, Debug)]
pub struct Loss {
    state: State,
    random: Random,
}

#[derive(Clone, Debug)]
enum State {
    Uniform(Varying),
    Markov { p_good_to_bad: f64, p_bad_to_good: f64, loss_good: f64, loss_bad: f64, bad: bool },
    MarkovByTime { sojourns: Sojourns, loss_good: f64, loss_bad: f64 },
    Snr(Noise),
    List { list: Arc<LossList>, repeat: bool, seen: u64, next: usize },
}

/// State of the model of bit errors, whose signal-to-noise ratio rarely changes.
#[derive(Clone, Debug)]
struct Noise {
    modulation: Modulation,
    snr_db: Varying,
    /// Last signal-to-noise ratio, and its bit error rate.
    last: (f64, f64),
}

impl Noise {
    fn frame_error_rate(&mut self, at: Instant, bytes: usize) -> f64 {
        let snr_db = self.snr_db.at(at);
        if snr_db != self.last.0 {
            self.last = (snr_db, self.modulation.bit_error_rate(snr_db));
        }
        frame_error_rate(self.last.1, bytes)
    }
}

impl Loss {
    /// Creates the state of `model`. The state draws from streams of `seeds` with the label `label`. Times in the
    /// numbers of the model count from `origin`.
    pub fn new(model: &LossModel, seeds: &Seeds, label: &str, origin: Instant) -> Self {
        // Draws in time have a separate stream: packets must not move it.
        let in_time = || seeds.stream(&format!("{label}/time"));
        let state = match *model {
            LossModel::Uniform { ref p } => State::Uniform(Varying::new(p, in_time(), origin)),
            LossModel::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad } => {
                State::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad, bad: false }
            }
            LossModel::MarkovByTime { mean_good, mean_bad, loss_good, loss_bad } => {
                let sojourns = Sojourns::new(mean_good, mean_bad, in_time());
                State::MarkovByTime { sojourns, loss_good, loss_bad }
            }
            LossModel::Snr { modulation, ref snr_db } => {
                let snr_db = Varying::new(snr_db, in_time(), origin);
                State::Snr(Noise { modulation, snr_db, last: (f64::NAN, 0.0) })
            }
            LossModel::List { ref list, repeat } => {
                State::List { list: Arc::clone(list), repeat, seen: 0, next: 0 }
            }
        };
        Loss { state, random: seeds.stream(label) }
    }

    /// Returns whether the next packet, of `bytes` bytes, is lost. The last bit of the packet leaves the transmitter at
    /// `at`. This method must be called once per transmission of every packet, even if the packet is lost for another
    /// reason.
    pub fn next_is_lost(&mut self, at: Instant, bytes: usize) -> bool {
        let p = match &mut self.state {
            State::Uniform(p) => p.at(at),
            State::Markov { p_good_to_bad, p_bad_to_good, loss_good, loss_bad, bad } => {
                *bad ^= self.random.chance(if *bad { *p_bad_to_good } else { *p_good_to_bad });
                if *bad { *loss_bad } else { *loss_good }
            }
            State::MarkovByTime { sojourns, loss_good, loss_bad } => {
                if sojourns.bad(at) {
                    *loss_bad
                } else {
                    *loss_good
                }
            }
            State::Snr(noise) => noise.frame_error_rate(at, bytes),
            State::List { list, repeat, seen, next } => {
                *seen += 1;
                let lost = list.ordinals().get(*next) == Some(seen);
                *next += usize::from(lost);
                if *repeat && *seen == list.len() {
                    (*seen, *next) = (0, 0);
                }
                return lost;
            }
        };
        self.random.chance(p)
    }
}
