//! Configuration of a link.

use std::sync::Arc;

use strandcast_proto::time::{Duration, Instant};

use super::Opportunities;
use super::codel::Codel;
use super::fq_codel::FqCodel;
use super::policer::Policer;
use crate::loss::LossModel;
use crate::number::{Every, Number, NumberError, Offset};

/// Configuration of one direction of a link. The default is a perfect link: infinite rate, no delay, no loss.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Rate at which packets are serialised.
    pub rate: Rate,
    /// Propagation delay in seconds. The value at the time when a packet's last bit leaves the transmitter applies to
    /// the packet.
    pub delay: Number,
    /// True if packets keep their order when the delay changes. A packet that would overtake an earlier packet then
    /// arrives together with it. If false, each packet has its own delay, independent of earlier packets.
    pub keep_order: bool,
    /// A token bucket that precedes the queue.
    pub policer: Option<Policer>,
    /// Queue of packets that wait for the transmitter.
    pub queue: Queue,
    /// Random loss that follows the transmitter. A lost packet has also waited and used its full serialisation time.
    /// Every packet passes every loss model, even if another model has already lost it.
    pub losses: Vec<LossModel>,
    /// Maximum number of immediate retransmissions by the link (ARQ) after a random loss. Each transmission takes the
    /// packet's serialisation time, during which other packets wait. Each transmission passes every loss model again.
    pub retries: u8,
    /// Extra delay for some packets, which later packets therefore overtake.
    pub reorder: Option<Reorder>,
    /// Probability that a packet that was not lost arrives twice, at one time.
    pub duplicate: f64,
    /// Probability that a packet or its copy arrives damaged.
    pub corrupt: f64,
    /// Origin of the times in numbers and traces.
    pub origin: Instant,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            rate: Rate::Infinite,
            delay: Number::Constant(0.0),
            keep_order: true,
            policer: None,
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
    /// Returns the configuration without random loss.
    pub fn lossless(self) -> Self {
        LinkConfig { losses: Vec::new(), ..self }
    }

    /// Returns the long-run fraction of packets that all models together lose at random. The result assumes that each
    /// transmission is lost independently of the others. Fades and bursts that last longer than the retransmissions
    /// lose more packets.
    pub fn mean_loss(&self) -> f64 {
        let kept: f64 = self.losses.iter().map(|model| 1.0 - model.mean_loss()).product();
        libm::pow(1.0 - kept, f64::from(self.retries) + 1.0)
    }

    /// Checks whether all numbers are valid for a link.
    ///
    /// # Errors
    /// Returns the first number that is invalid, as an error.
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
        if self.policer.is_some_and(|policer| policer.rate == 0 || policer.burst == 0) {
            return Err(LinkConfigError::Policer);
        }
        if !self.queue.discipline.is_valid() {
            return Err(LinkConfigError::Discipline(self.queue.discipline));
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

/// Rate of a transmitter in bit/s.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// Packets take no serialisation time and never wait.
    Infinite,
    /// The rate is constant, in bit/s. The rate must be above 0.
    Constant(u64),
    /// The rate in bit/s changes over time. The rate is rounded to whole numbers. At rate 0 the transmitter stops, even
    /// in the middle of a packet. If the rate stays 0, the packet waits for ever. If a rate is drawn for each packet,
    /// it applies to the whole packet.
    Varying(Number),
    /// A recorded rate: 1500 bytes may be sent at each of these times.
    Opportunities(Arc<Opportunities>),
    /// One of several recorded rates, which is drawn once. The recorded rate starts at a given or a random time of the
    /// trace.
    Recorded {
        /// The traces. There is at least one.
        traces: Vec<Arc<Opportunities>>,
        /// Time within the trace that corresponds to the start of the run.
        offset: Offset,
        /// Seed of the cause, whose draws select the trace and the offset.
        cause: Option<u64>,
    },
}

impl Rate {
    /// Returns the long-run rate in bit/s; `None` if it is infinite.
    pub fn mean_bps(&self) -> Option<f64> {
        match self {
            Rate::Infinite => None,
            Rate::Constant(bps) => Some(*bps as f64),
            Rate::Varying(number) => Some(number.mean()),
            Rate::Opportunities(opportunities) => Some(opportunities.mean_bps()),
            Rate::Recorded { traces, .. } => {
                Some(traces.iter().map(|trace| trace.mean_bps()).sum::<f64>() / traces.len() as f64)
            }
        }
    }

    fn validate(&self) -> Result<(), LinkConfigError> {
        let number = match self {
            Rate::Varying(number) => number,
            Rate::Constant(0) => return Err(LinkConfigError::ZeroRate),
            Rate::Recorded { traces, .. } if traces.is_empty() => {
                return Err(LinkConfigError::Rate(NumberError::Empty));
            }
            Rate::Infinite | Rate::Constant(_) | Rate::Opportunities(_) | Rate::Recorded { .. } => {
                return Ok(());
            }
        };
        number.validate().map_err(LinkConfigError::Rate)?;
        let (low, high) = number.range();
        match number {
            _ if low < 0.0 => Err(LinkConfigError::NegativeRate(low)),
            Number::Uniform { every: Every::Packet, .. } if low < 1.0 => Err(LinkConfigError::ZeroRate),
            Number::Constant(_) if high < 1.0 => Err(LinkConfigError::ZeroRate),
            Number::Uniform { .. } => Ok(()),
            // The mean rate of another law by packets, which slow ones determine, has no closed form.
            _ if number.is_drawn_by_packet() => Err(LinkConfigError::RateByPacket),
            _ => Ok(()),
        }
    }
}

/// Returns a constant rate in bit/s.
impl From<u64> for Rate {
    fn from(bps: u64) -> Self {
        Rate::Constant(bps)
    }
}

/// Configuration of the queue that precedes the transmitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Discipline: the order of sending, and the choice of packets to drop.
    pub discipline: Discipline,
    /// Limit of the queue's size.
    pub limit: QueueLimit,
    /// True if the packet in the transmitter also counts against the limit, as in ns-2. Only drop-tail queues permit
    /// this. If false, a limit of 0 means a transmitter without a queue. A transmitter without a queue accepts a packet
    /// only while it is idle.
    pub in_service: bool,
}

impl Queue {
    /// Returns a queue with room for `limit` packets in addition to the packet in the transmitter.
    pub fn packets(limit: usize) -> Self {
        Queue { limit: QueueLimit::Packets(limit), ..Queue::default() }
    }
}

/// Discipline of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// First in, first out (drop-tail). A packet that arrives at a full queue is dropped.
    #[default]
    DropTail,
    /// Controlled delay, CoDel (RFC 8289).
    Codel(Codel),
    /// Flow queue CoDel (RFC 8290): each flow has a queue with controlled delay, and the queues take turns.
    FqCodel(FqCodel),
}

impl Discipline {
    /// Returns the time for which the waits of packets may exceed the target before the queue drops a packet; `None` if
    /// there is no limit.
    pub fn interval(self) -> Option<Duration> {
        match self {
            Discipline::DropTail => None,
            Discipline::Codel(codel) | Discipline::FqCodel(FqCodel { codel, .. }) => Some(codel.interval),
        }
    }

    fn is_valid(self) -> bool {
        match self {
            Discipline::DropTail => true,
            Discipline::Codel(codel) => !codel.interval.is_zero(),
            Discipline::FqCodel(FqCodel { codel, quantum, flows }) => {
                !codel.interval.is_zero() && quantum > 0 && flows > 0
            }
        }
    }
}

/// Limit of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLimit {
    /// The queue has no limit.
    #[default]
    Unlimited,
    /// Limit as a maximum number of packets.
    Packets(usize),
    /// Limit as a maximum number of bytes at IP level. A packet that does not fit completely is dropped.
    Bytes(u64),
}

impl QueueLimit {
    /// Returns the number of packets of length `bytes` within the limit; `None` if there is no limit.
    pub fn packets_of(self, bytes: u32) -> Option<f64> {
        match self {
            QueueLimit::Unlimited => None,
            QueueLimit::Packets(packets) => Some(packets as f64),
            QueueLimit::Bytes(limit) => Some(limit as f64 / f64::from(bytes.max(1))),
        }
    }

    /// Returns whether the limit admits `packets` packets that have `bytes` bytes in total.
    pub(super) fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(most) => packets <= most,
            QueueLimit::Bytes(most) => bytes <= most,
        }
    }
}

/// Reordering: some packets get an extra delay after propagation. Later packets are not delayed by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a packet gets the extra delay.
    pub probability: f64,
    /// Extra delay of such a packet.
    pub extra: Duration,
}

/// Reason why a [`LinkConfig`] is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkConfigError {
    /// The rate is 0, so no packet would ever be sent. To take a link down, use
    /// [`Link::set_down`](super::Link::set_down).
    #[error("a link's rate must be above 0 bit/s")]
    ZeroRate,
    /// A rate is drawn for each packet, but not from a uniform distribution.
    #[error("a link's rate can be drawn for each packet only from a uniform distribution")]
    RateByPacket,
    /// The rate is negative.
    #[error("a link's rate can't be {0} bit/s")]
    NegativeRate(f64),
    /// The number that describes the rate is invalid.
    #[error("rate: {0}")]
    Rate(#[source] NumberError),
    /// The delay is negative.
    #[error("a link's delay can't be {0} s")]
    NegativeDelay(f64),
    /// The number that describes the delay is invalid.
    #[error("delay: {0}")]
    Delay(#[source] NumberError),
    /// The limit is 0 although it counts the packet in the transmitter.
    #[error("a queue whose limit counts the packet in service needs room for one")]
    NoRoom,
    /// The policer has no rate or no burst.
    #[error("a policer's rate and burst must be above 0")]
    Policer,
    /// An interval, a quantum, or a number of queues of the discipline is 0.
    #[error("invalid queue: {0:?} has a 0 that is not allowed")]
    Discipline(Discipline),
    /// A loss model is invalid: a probability is outside `[0, 1]`, a time is too short, or a ratio is below 0 dB.
    #[error("invalid loss: {0:?} has a probability outside 0..=1, a time under 1 µs or a ratio under 0 dB")]
    Loss(LossModel),
    /// The probability of reordering, duplication or corruption is outside `[0, 1]`.
    #[error("probability {0} is outside 0..=1")]
    Probability(f64),
}
