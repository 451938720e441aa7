//! Properties of a path that a sender measures with acknowledgements: delivery rate, queueing delay, and the share of
//! lost packets.
//!
//! * *Delivery rate* ([`DeliveryInterval`]): bytes newly acknowledged in an interval, divided by the length of the
//!   interval. An interval lasts at least a round-trip time. A sample that is higher than the rate replaces the rate at
//!   once. A lower sample has the weight 1/8. It counts only if the window was full or the queue was long during the
//!   interval, because a source that sends little does not show the capacity of the path. The rate is therefore a lower
//!   bound. It is more than a bound only if such a sample has tested it recently ([`tested`]). Packets that were sent
//!   before the window was first full do not test the rate. The rate is unknown before a sample with a full packet, and
//!   again after a time of [`IDLE`] without load. A keep-alive message is not a full packet.
//! * *Least round-trip time*: a SACK may return by another path than the data's path. A least value is therefore kept
//!   for each return path. [`Estimate::reference_rtt`] is the value for the path itself as the return path, if it is
//!   known.
//! * *Queueing delay* ([`Estimate::queue`]): the round-trip time of the newest chunk of each SACK, less the least
//!   round-trip time with the same return path. A lower value counts at once, and a higher value has the weight 1/4. If
//!   the peer may have delayed a SACK ([`AckInfo::held`]), the queueing delay lies between two bounds. The estimate
//!   then moves to the nearer bound. A delay of the peer is therefore not mistaken for a queue.
//! * *Loss*: moving average over about the last 100 chunks. Losses found by a timeout do not count. They show that the
//!   path fell silent, and the state of the path reports this. Losses that turn out to be spurious are taken back.

use smallvec::SmallVec;

use strandcast_proto::policy::{
    AckInfo, Estimate, LossCause, LossTrigger, Moves, PathEstimator, PathId, PathState, PathView, Policy,
    Signal, View,
};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::units::Rate;

use super::delivery_interval::{DeliveryInterval, RateSample};

/// Share of the least round-trip time. A shorter queueing delay counts as zero.
pub const NO_QUEUE: f64 = 0.125;

/// Queueing delay in seconds. A shorter delay does not count as a queue, because a host may need this time to wake up.
pub const MIN_QUEUE: f64 = 0.002;

/// Least time for which a test counts. If [`TEST_TRIPS`] round-trip times are longer, they replace this time.
const TEST_AGE: Duration = Duration::from_secs(1);
const TEST_TRIPS: u32 = 10;

/// Time without load after which the rate becomes unknown. A packet counts as load if it has at least a quarter of the
/// MTU.
const IDLE: Duration = Duration::from_secs(10);

/// Weight of a chunk in the loss share.
const LOSS_GAIN: f64 = 0.01;

/// Returns whether the delivery rate of `path` is tested. It is tested if a recent sample confirmed it while the path,
/// and not the source, limited the sample. Otherwise the path carries at least this rate.
pub fn tested(now: Instant, path: &PathView) -> bool {
    let age = TEST_AGE.max(TEST_TRIPS * path.srtt.unwrap_or_default());
    path.est.tested.is_some_and(|at| now.saturating_since(at) <= age)
}

/// Estimator of delivery rate, queueing delay, least round-trip time and loss of each path.
#[derive(Debug, Default)]
pub struct Delivery {
    /// Measurements by path slot. `None` while the slot is closed or unused.
    paths: Vec<Option<Measured>>,
}

#[derive(Debug, Default)]
struct Measured {
    /// Delivery rate in bytes per second.
    rate: Option<f64>,
    /// Time of the last sample that changed or confirmed the rate, and that the path limited.
    tested: Option<Instant>,
    /// Time at which load last left.
    loaded: Option<Instant>,
    /// Time at which the window was first full after the last time without data in flight.
    filled: Option<Instant>,
    interval: DeliveryInterval,
    /// Least round-trip time by return path.
    least: SmallVec<[(PathId, Duration); 4]>,
    /// Queueing delay in seconds.
    queue: Option<f64>,
    loss: f64,
}

impl Measured {
    fn on_sent(&mut self, now: Instant, path: &PathView, len: u64) {
        if path.in_flight <= len {
            self.filled = None;
            if let Some(sample) = self.interval.sent_alone(now) {
                self.take_rate(now, path, sample);
            }
        }
        if path.in_flight.saturating_add(path.mtu) > path.limit.cwnd {
            self.filled.get_or_insert(now);
        }
        if 4 * len >= path.mtu {
            if self.loaded.is_some_and(|at| now.saturating_since(at) >= IDLE) {
                (self.rate, self.tested) = (None, None);
            }
            self.loaded = Some(now);
        }
    }

    fn on_acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        for _ in 0..ack.newly_acked_chunks.min(1000) {
            self.loss -= LOSS_GAIN * self.loss;
        }
        if let Some(rtt) = ack.newest_rtt(view.now) {
            self.take_rtt(ack.return_path, rtt);
        }
        let path = &view[ack.path];
        if let Some(sample) = self.interval.acked(view.now, path, ack) {
            let full = self.filled.zip(ack.newest_sent).is_some_and(|(filled, newest)| newest >= filled);
            self.take_rate(view.now, path, RateSample { limited: sample.limited && full, ..sample });
        }
    }

    /// Takes a round-trip time that lies between `rtt.0` and `rtt.1`. `by` is the path by which the SACK returned, or
    /// the path of the HEARTBEAT.
    fn take_rtt(&mut self, by: PathId, rtt: (Duration, Duration)) {
        let most = rtt.1.max(Duration::from_micros(1));
        let least = match self.least.iter_mut().find(|l| l.0 == by) {
            Some((_, least)) => {
                *least = most.min(*least);
                *least
            }
            None => {
                self.least.push((by, most));
                most
            }
        };
        let sample = (rtt.0.saturating_sub(least).as_secs_f64(), (most - least).as_secs_f64());
        let before = self.queue.unwrap_or(sample.0);
        let nearer = before.clamp(sample.0, sample.1);
        self.queue = Some(if nearer < before { nearer } else { before + (nearer - before) / 4.0 });
    }

    fn take_rate(&mut self, now: Instant, path: &PathView, sample: RateSample) {
        let round_trip = path.srtt.unwrap_or(Duration::ZERO);
        let long = self.queue.unwrap_or(0.0) > (0.5 * round_trip.as_secs_f64()).max(MIN_QUEUE);
        let limited = sample.limited || (long && sample.bytes >= path.mtu);
        if limited {
            self.tested = Some(now);
        }
        match &mut self.rate {
            None if limited || sample.bytes >= path.mtu => self.rate = Some(sample.rate),
            None => {}
            Some(rate) if sample.rate >= *rate => *rate = sample.rate,
            Some(rate) if limited && sample.most < *rate => *rate += (sample.most - *rate) / 8.0,
            Some(_) => {}
        }
    }

    /// Returns the least round-trip time with the path itself as the return path. If that is unknown, returns the least
    /// round-trip time with any return path.
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
                if let Some(path) = view.paths.get(chunk.path().index()) {
                    self.of(path.id).on_sent(view.now, path, chunk.len);
                }
            }
            Signal::Acked(ack) if view.paths.len() > ack.path.index() => {
                self.of(ack.path).on_acked(view, ack);
            }
            Signal::Lost { path, cause, .. } if *cause != LossCause::PathFailure => {
                let loss = &mut self.of(*path).loss;
                *loss += LOSS_GAIN * (1.0 - *loss);
            }
            Signal::Spurious { path, chunks, trigger: LossTrigger::FastRetransmit, .. } => {
                let loss = &mut self.of(*path).loss;
                *loss = (*loss - LOSS_GAIN * f64::from(*chunks)).max(0.0);
            }
            Signal::Heartbeat(answer) if !answer.late => {
                if let Some(rtt) = answer.rtt {
                    self.of(answer.path).take_rtt(answer.path, (rtt, rtt));
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

    fn moves(&self, signal: &Signal<'_>) -> Moves {
        Moves::by(signal)
    }
}

impl PathEstimator for Delivery {
    fn estimate(&self, path: PathId, out: &mut Estimate) {
        let Some(measured) = self.paths.get(path.index()).and_then(Option::as_ref) else {
            (out.delivery_rate, out.tested, out.queue) = (None, None, None);
            (out.reference_rtt, out.loss) = (None, None);
            return;
        };
        out.delivery_rate = measured.rate.map(Rate::from_bytes_per_s);
        out.reference_rtt = measured.least(path);
        out.loss = Some(measured.loss.clamp(0.0, 1.0));
        (out.tested, out.queue) = (measured.tested, measured.queue);
    }
}

#[cfg(test)]
mod tests;
