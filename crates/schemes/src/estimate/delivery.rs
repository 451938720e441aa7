//! What a sender learns of a path from its acknowledgements: how fast it delivers, how long its queues are, and what share
//! of its packets it loses.
//!
//! - *Delivery rate*: bytes newly acknowledged over at least a round-trip time, by its time ([`DeliveryInterval`]). A higher
//!   sample counts at once. A lower one counts by an eighth, and only if the window was full or the queue long in the
//!   meantime: a source that sends little says nothing of what the path could do.
//! - *Least round-trip time*: a SACK may return by another path than its data took, so a least value is kept for each
//!   return path. [`Estimate::reference_rtt`] is that of the path's own way back where it is known.
//! - *Queueing delay* ([`QUEUE`]): the round-trip time of the newest chunk of each SACK less the least one of the same way
//!   back; a lower value counts at once, a higher one by a quarter.
//! - *Loss*: moving average over the last 100 or so chunks. Those of a timeout don't count: they say that the path fell
//!   silent, which the state of the path tells.

use smallvec::SmallVec;

use strandcast_proto::policy::{
    AckInfo, Estimate, LossCause, PathEstimator, PathId, PathState, PathView, Policy, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::units::Rate;

pub use strandcast_proto::policy::QUEUE;

use super::delivery_interval::{DeliveryInterval, RateSample};

/// A queueing delay below this part of the least round-trip time is none.
pub const NO_QUEUE: f64 = 0.125;

/// Weight of a chunk in the loss share.
const LOSS_GAIN: f64 = 0.01;

/// Delivery rate, queueing delay, least round-trip time and loss of each path.
#[derive(Debug, Default)]
pub struct Delivery {
    /// By path slot; `None` while the slot is closed or unused.
    paths: Vec<Option<Measured>>,
}

#[derive(Debug, Default)]
struct Measured {
    /// Bytes per second.
    rate: Option<f64>,
    interval: DeliveryInterval,
    /// Least round-trip time by return path.
    least: SmallVec<[(PathId, Duration); 4]>,
    /// Seconds.
    queue: Option<f64>,
    loss: f64,
}

impl Measured {
    fn on_sent(&mut self, now: Instant, alone: bool) {
        if alone {
            self.interval.sent_alone(now);
        }
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        for _ in 0..ack.newly_acked_chunks.min(1000) {
            self.loss -= LOSS_GAIN * self.loss;
        }
        if let Some(sent) = ack.newest_sent {
            self.take_rtt(ack.return_path, view.now.saturating_since(sent));
        }
        let path = &view[ack.path];
        if let Some(sample) = self.interval.acked(view.now, path, ack) {
            self.take_rate(path, sample);
        }
    }

    fn take_rtt(&mut self, by: PathId, rtt: Duration) {
        let rtt = rtt.max(Duration::from_micros(1));
        let least = match self.least.iter_mut().find(|l| l.0 == by) {
            Some((_, least)) => {
                *least = rtt.min(*least);
                *least
            }
            None => {
                self.least.push((by, rtt));
                rtt
            }
        };
        let sample = (rtt - least).as_secs_f64();
        let before = self.queue.unwrap_or(sample);
        self.queue = Some(if sample < before { sample } else { before + (sample - before) / 4.0 });
    }

    fn take_rate(&mut self, path: &PathView, sample: RateSample) {
        let round_trip = path.srtt.unwrap_or(Duration::ZERO);
        let limited = sample.limited || self.queue.unwrap_or(0.0) > 0.5 * round_trip.as_secs_f64();
        match &mut self.rate {
            None => self.rate = Some(sample.rate),
            Some(rate) if sample.rate >= *rate => *rate = sample.rate,
            Some(rate) if limited => *rate += (sample.rate - *rate) / 8.0,
            Some(_) => {}
        }
    }

    /// The least round-trip time by the path's own way back, else by any.
    fn least(&self, own: PathId) -> Option<Duration> {
        let of_own = self.least.iter().find(|l| l.0 == own).map(|l| l.1);
        of_own.or_else(|| self.least.iter().map(|l| l.1).min())
    }
}

impl Delivery {
    fn of(&mut self, path: PathId) -> &mut Measured {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        self.paths[path.index()].get_or_insert_with(Measured::default)
    }
}

impl Policy for Delivery {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => {
                let path = chunk.path();
                let alone = view.paths.get(path.index()).is_some_and(|p| p.in_flight <= chunk.len);
                self.of(path).on_sent(view.now, alone);
            }
            Signal::Acked(ack) if view.paths.len() > ack.path.index() => {
                self.of(ack.path).on_acked(view, ack);
            }
            Signal::Lost { path, cause, .. } if *cause != LossCause::PathFailure => {
                let loss = &mut self.of(*path).loss;
                *loss += LOSS_GAIN * (1.0 - *loss);
            }
            Signal::Heartbeat(answer) if !answer.late => {
                if let Some(rtt) = answer.rtt {
                    self.of(answer.path).take_rtt(answer.path, rtt);
                }
            }
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed) =>
            {
                if let Some(slot) = self.paths.get_mut(path.index()) {
                    *slot = None;
                }
            }
            _ => {}
        }
    }

    fn is_local(&self, signal: &Signal<'_>) -> bool {
        matches!(signal, Signal::Sent(_) | Signal::Acked(_) | Signal::Arrived(_))
    }
}

impl PathEstimator for Delivery {
    fn estimate(&self, path: PathId, out: &mut Estimate) {
        let Some(measured) = self.paths.get(path.index()).and_then(Option::as_ref) else {
            (out.delivery_rate, out.reference_rtt, out.loss) = (None, None, None);
            out.extra.retain(|(name, _)| *name != QUEUE);
            return;
        };
        out.delivery_rate = measured.rate.map(Rate::from_bytes_per_s);
        out.reference_rtt = measured.least(path);
        out.loss = Some(measured.loss.clamp(0.0, 1.0));
        if let Some(queue) = measured.queue {
            out.set_extra(QUEUE, queue);
        }
    }
}
