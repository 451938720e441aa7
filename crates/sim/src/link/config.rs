//! What a link is like.

use crate::loss::LossModel;
use core::time::Duration;

/// One direction of a link. The default is the perfect link: infinite rate, no delay, no loss.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Serialisation rate in bit/s; `None` is infinite, so that packets never wait.
    pub rate_bps: Option<u64>,
    /// Propagation delay.
    pub delay: Delay,
    /// Drop-tail limit: how many packets may wait. The packet being serialised does not count, so that `0` is a
    /// transmitter without a queue, and ns-2's limit of q, which counts it, is q - 1 here.
    pub queue_packets: usize,
    /// Random loss behind the transmitter: a lost packet has waited and used its whole serialisation time. Every packet
    /// passes every model, also when another one has lost it already.
    pub losses: Vec<LossModel>,
    /// Packets that arrive behind later ones; `None`: packets keep their order.
    pub reorder: Option<Reorder>,
    /// Probability that a packet which was not lost arrives twice, at the same time.
    pub duplicate: f64,
    /// Probability that a packet, or a copy of it, arrives damaged.
    pub corrupt: f64,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            rate_bps: None,
            delay: Delay::Fixed(Duration::ZERO),
            queue_packets: usize::MAX,
            losses: Vec::new(),
            reorder: None,
            duplicate: 0.0,
            corrupt: 0.0,
        }
    }
}

impl LinkConfig {
    /// The same link without random loss.
    pub fn lossless(self) -> Self {
        LinkConfig { losses: Vec::new(), ..self }
    }

    /// The share of packets lost at random in the long run, all models together.
    pub fn mean_loss(&self) -> f64 {
        1.0 - self.losses.iter().map(|model| 1.0 - model.mean_loss()).product::<f64>()
    }

    /// Checks numbers which came from outside.
    ///
    /// # Errors
    /// The first number that no link has.
    pub fn validate(&self) -> Result<(), LinkConfigError> {
        if self.rate_bps == Some(0) {
            return Err(LinkConfigError::ZeroRate);
        }
        if let Delay::Uniform { min, max } = self.delay
            && min > max
        {
            return Err(LinkConfigError::Delay { min, max });
        }
        if let Some(&model) = self.losses.iter().find(|model| !model.is_valid()) {
            return Err(LinkConfigError::Loss(model));
        }
        for p in [self.duplicate, self.corrupt, self.reorder.map_or(0.0, |reorder| reorder.probability)] {
            if !(0.0..=1.0).contains(&p) {
                return Err(LinkConfigError::Probability(p));
            }
        }
        Ok(())
    }
}

/// Propagation delay of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// The same for every packet.
    Fixed(Duration),
    /// Drawn for each packet. A packet that would overtake the one before arrives together with it instead.
    Uniform {
        /// The shortest delay.
        min: Duration,
        /// The longest delay.
        max: Duration,
    },
}

/// Reordering: some packets are held up after propagation and do not hold up those behind them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a packet is held up.
    pub probability: f64,
    /// For how long.
    pub extra: Duration,
}

/// Why a [`LinkConfig`] describes no link.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkConfigError {
    /// Nothing would ever come out; a link that is down is [`Link::set_down`](super::Link::set_down).
    #[error("a link's rate must be above 0 bit/s")]
    ZeroRate,
    /// The range is empty.
    #[error("the shortest delay, {min:?}, is longer than the longest, {max:?}")]
    Delay {
        /// The shortest delay.
        min: Duration,
        /// The longest delay.
        max: Duration,
    },
    /// A probability of the model is outside `[0, 1]`.
    #[error("no such loss: {0:?} has a probability outside 0..=1")]
    Loss(LossModel),
    /// The probability of reordering, duplication or corruption is outside `[0, 1]`.
    #[error("probability {0} is outside 0..=1")]
    Probability(f64),
}
