//! What a link is like.

use std::sync::Arc;

use strandcast_proto::time::{Duration, Instant};

use super::Opportunities;
use crate::loss::LossModel;
use crate::number::{Every, Number, NumberError};

/// One direction of a link. The default is the perfect link: infinite rate, no delay, no loss.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Serialisation rate.
    pub rate: Rate,
    /// Propagation delay in seconds, as it is when a packet's last bit leaves the transmitter.
    pub delay: Number,
    /// Whether packets keep their order when the delay changes: a packet that would overtake an earlier one then arrives
    /// together with it. Otherwise each packet takes its own delay, whatever became of those before.
    pub keep_order: bool,
    /// What may wait for the transmitter.
    pub queue: Queue,
    /// Random loss behind the transmitter: a lost packet has waited and used its whole serialisation time. Every packet
    /// passes every model, also when another one has lost it already.
    pub losses: Vec<LossModel>,
    /// How many times the link sends a packet again that random loss took (ARQ), at once, before it gives it up. Each
    /// transmission takes its serialisation time, in which the others wait, and passes every model anew.
    pub retries: u8,
    /// The link holds some packets up, so that later packets overtake them; `None`: none.
    pub reorder: Option<Reorder>,
    /// Probability that a packet which was not lost arrives twice, at the same time.
    pub duplicate: f64,
    /// Probability that a packet, or a copy of it, arrives damaged.
    pub corrupt: f64,
    /// From when on times in numbers and traces count.
    pub origin: Instant,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            rate: Rate::Infinite,
            delay: Number::Constant(0.0),
            keep_order: true,
            queue: Queue::default(),
            losses: Vec::new(),
            retries: 0,
            reorder: None,
            duplicate: 0.0,
            corrupt: 0.0,
            origin: Instant::ZERO,
        }
    }
}

impl LinkConfig {
    /// The same link without random loss.
    pub fn lossless(self) -> Self {
        LinkConfig { losses: Vec::new(), ..self }
    }

    /// The share of packets lost at random in the long run, all models together. Retries count as if each transmission
    /// were lost independently of the others: fades and bursts that outlast them lose more.
    pub fn mean_loss(&self) -> f64 {
        let kept: f64 = self.losses.iter().map(|model| 1.0 - model.mean_loss()).product();
        libm::pow(1.0 - kept, f64::from(self.retries) + 1.0)
    }

    /// Checks numbers which came from outside.
    ///
    /// # Errors
    /// The first number that no link has.
    pub fn validate(&self) -> Result<(), LinkConfigError> {
        self.rate.validate()?;
        self.delay.validate().map_err(LinkConfigError::Delay)?;
        let shortest = self.delay.range().0;
        if shortest < 0.0 {
            return Err(LinkConfigError::NegativeDelay(shortest));
        }
        if self.queue.in_service && matches!(self.queue.limit, QueueLimit::Packets(0) | QueueLimit::Bytes(0))
        {
            return Err(LinkConfigError::NoRoom);
        }
        if let Some(model) = self.losses.iter().find(|model| !model.is_valid()) {
            return Err(LinkConfigError::Loss(model.clone()));
        }
        for p in [self.duplicate, self.corrupt, self.reorder.map_or(0.0, |reorder| reorder.probability)] {
            if !(0.0..=1.0).contains(&p) {
                return Err(LinkConfigError::Probability(p));
            }
        }
        Ok(())
    }
}

/// How fast a transmitter is.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// Packets take no time and never wait.
    Infinite,
    /// bit/s, above 0.
    Constant(u64),
    /// In bit/s, rounded to whole ones. At 0 the transmitter stands still, in the middle of a packet, too; a packet waits
    /// for ever if the rate doesn't rise again. A rate drawn for each packet is the packet's, whatever it takes.
    Varying(Number),
    /// 1500 bytes at each of these moments.
    Opportunities(Arc<Opportunities>),
}

impl Rate {
    /// bit/s in the long run; `None` is infinite.
    pub fn mean_bps(&self) -> Option<f64> {
        match self {
            Rate::Infinite => None,
            Rate::Constant(bps) => Some(*bps as f64),
            Rate::Varying(number) => Some(number.mean()),
            Rate::Opportunities(opportunities) => Some(opportunities.mean_bps()),
        }
    }

    fn validate(&self) -> Result<(), LinkConfigError> {
        let Rate::Varying(number) = self else {
            return if *self == Rate::Constant(0) { Err(LinkConfigError::ZeroRate) } else { Ok(()) };
        };
        number.validate().map_err(LinkConfigError::Rate)?;
        let (low, high) = number.range();
        match number {
            _ if low < 0.0 => Err(LinkConfigError::NegativeRate(low)),
            Number::Uniform { every: Every::Packet, .. } if low < 1.0 => Err(LinkConfigError::ZeroRate),
            Number::Constant(_) if high < 1.0 => Err(LinkConfigError::ZeroRate),
            _ => Ok(()),
        }
    }
}

/// In bit/s.
impl From<u64> for Rate {
    fn from(bps: u64) -> Self {
        Rate::Constant(bps)
    }
}

/// A drop-tail queue in front of the transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// When it is full.
    pub limit: QueueLimit,
    /// Whether the packet in the transmitter counts. If so, a limit of q packets is ns-2's; otherwise 0 is a transmitter
    /// without a queue, and a packet that finds the transmitter free is always taken.
    pub in_service: bool,
}

impl Queue {
    /// Room for so many packets besides the one in the transmitter.
    pub fn packets(limit: usize) -> Self {
        Queue { limit: QueueLimit::Packets(limit), in_service: false }
    }
}

/// What fits a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLimit {
    /// Everything.
    #[default]
    Unlimited,
    /// So many packets.
    Packets(usize),
    /// So many bytes at IP level; a packet that does not fit as a whole is dropped.
    Bytes(u64),
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
    /// Below nothing.
    #[error("a link's rate can't be {0} bit/s")]
    NegativeRate(f64),
    /// The rate is no number.
    #[error("rate: {0}")]
    Rate(#[source] NumberError),
    /// Before it was sent.
    #[error("a link's delay can't be {0} s")]
    NegativeDelay(f64),
    /// The delay is no number.
    #[error("delay: {0}")]
    Delay(#[source] NumberError),
    /// The limit counts the packet in the transmitter and is 0.
    #[error("a queue whose limit counts the packet in service needs room for one")]
    NoRoom,
    /// A probability of the model is outside `[0, 1]`, a time too short, or a ratio below 0 dB.
    #[error("no such loss: {0:?} has a probability outside 0..=1, a time under 1 µs or a ratio under 0 dB")]
    Loss(LossModel),
    /// The probability of reordering, duplication or corruption is outside `[0, 1]`.
    #[error("probability {0} is outside 0..=1")]
    Probability(f64),
}
