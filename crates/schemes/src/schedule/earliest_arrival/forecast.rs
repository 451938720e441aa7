//! Forecast of a chunk on a path.

use strandcast_proto::policy::PathView;
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::units::Rate;

use super::{FILLED, RECHECK, UNKNOWN};
use crate::estimate::{MIN_QUEUE, NO_QUEUE, held, tested};

/// The forecast of a chunk on a path. Times are in seconds from now.
#[derive(Copy, Clone, Debug)]
pub(in crate::schedule) struct Forecast {
    /// Time of arrival without a loss.
    pub arrival: f64,
    /// Part of the arrival time: the delay of the path without queues.
    pub way: f64,
    /// Mean deviation of round-trip times.
    deviation: f64,
    /// Time by which data in flight beyond the bandwidth-delay product delay the chunk.
    pub backlog: f64,
    /// Time from the loss of a chunk until its retransmission arrives on this path.
    pub resend: f64,
    /// Probability that the chunk is lost.
    pub loss: f64,
    /// Bytes per second.
    pub rate: f64,
    /// True if the path carries no more than this rate, because the rate was tested lately.
    pub tested: bool,
    /// The measured queueing delay, while data are in flight.
    standing: f64,
    /// Time by which an answer of the path is overdue.
    silence: f64,
}

/// Part of a forecast that depends only on measurements of the path. The part is computed once for each set of
/// measurements.
#[derive(Copy, Clone, Debug)]
pub(in crate::schedule) struct Basis {
    from: Measured,
    /// Least round-trip time and present round-trip time, in seconds.
    least: f64,
    round_trip: f64,
    /// Mean deviation of round-trip times, seconds.
    deviation: f64,
    /// Queueing delay measured, seconds.
    queue: f64,
    /// Probability of a loss.
    loss: f64,
    /// Rate in bytes per second, and number of bytes that are in transit without a queue.
    rate: f64,
    carried: f64,
}

/// Measurements of a path.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Measured {
    least: Option<Duration>,
    srtt: Option<Duration>,
    rttvar: Duration,
    rate: Option<Rate>,
    queue: Option<f64>,
    loss: Option<f64>,
    window: u64,
}

impl Measured {
    fn of(path: &PathView) -> Self {
        Measured {
            least: path.est.reference_rtt.or(path.min_rtt).or(path.srtt),
            srtt: path.srtt,
            rttvar: path.rttvar,
            rate: path.est.delivery_rate,
            queue: path.est.queue,
            loss: path.est.loss,
            window: path.limit.cwnd.max(path.mtu),
        }
    }
}

impl Basis {
    /// Basis of forecasts of `path` as it is now.
    pub fn of(path: &PathView) -> Self {
        Basis::new(Measured::of(path))
    }

    /// Computes the forecast again if a measurement changed.
    #[inline]
    pub fn renew(&mut self, path: &PathView) {
        let from = Measured::of(path);
        if from != self.from {
            *self = Basis::new(from);
        }
    }

    fn new(from: Measured) -> Self {
        let seconds = |d: Duration| d.as_secs_f64();
        let least = from.least.map_or(UNKNOWN, seconds);
        let round_trip = from.srtt.map_or(least, seconds).max(least).max(1e-6);
        let measured = from.rate.map(|r| r.bytes_per_s()).filter(|r| *r > 0.0);
        let window = from.window as f64 / round_trip;
        // A path without a queue is not full, and carries all data that its window allows. The measured rate may only
        // be the rate of the data that it was given.
        let queue = from.queue.unwrap_or(0.0);
        let open = queue < (least * NO_QUEUE).max(MIN_QUEUE);
        let rate = measured.map_or(window, |rate| if open { rate.max(window) } else { rate });
        let loss = from.loss.unwrap_or(0.0).min(0.9);
        let deviation = seconds(from.rttvar);
        Basis { from, least, round_trip, deviation, queue, loss, rate, carried: rate * least }
    }

    /// The forecast of a chunk of `len` bytes. `silence` is the time by which an answer of the path is overdue.
    #[inline]
    pub fn forecast(&self, now: Instant, path: &PathView, len: u64, silence: f64) -> Forecast {
        let flight = (path.in_flight + len) as f64 + held(path);
        let backlog = ((flight - self.carried.max(len as f64)) / self.rate).max(0.0);
        let standing = if path.in_flight > 0 { self.queue } else { 0.0 };
        let waiting = backlog.max(standing) + silence;
        let way = self.least / 2.0;
        Forecast {
            arrival: way + waiting,
            way,
            deviation: self.deviation,
            backlog,
            resend: self.round_trip + waiting,
            loss: self.loss,
            rate: self.rate,
            tested: tested(now, path),
            standing,
            silence,
        }
    }
}

impl Forecast {
    /// `silence` is the time by which an answer of the path is overdue.
    pub fn new(now: Instant, path: &PathView, len: u64, silence: f64) -> Self {
        Basis::of(path).forecast(now, path, len, silence)
    }

    /// Returns the mean time of arrival, which includes the cost of a loss.
    pub fn expected(&self) -> f64 {
        if self.loss == 0.0 {
            self.arrival
        } else {
            self.arrival + self.resend * self.loss / (1.0 - self.loss)
        }
    }

    /// Cost of a chunk that is worthless after `left` seconds. The cost is the expected arrival time. A late arrival
    /// counts as the whole time `left`.
    pub fn cost(&self, left: f64) -> f64 {
        let late = if self.arrival + self.resend > left { self.loss } else { self.loss * self.loss };
        self.arrival + late * left
    }

    /// Returns whether queues make the chunk so late that sending it is useless. The player may count time from the
    /// arrival of the first packet. The path's own delay therefore counts as at most half of the remaining time. A
    /// backlog counts only if the path's rate was tested.
    pub fn hopeless(&self, left: f64) -> bool {
        let backlog = if self.tested { self.backlog } else { 0.0 };
        let waiting = backlog.max(self.standing) + self.silence;
        waiting > 2.0 * self.way * NO_QUEUE && self.way.min(left / 2.0) + waiting + self.deviation > left
    }

    /// Returns whether data in flight keep the path busy for longer than [`RECHECK`]. The rate of the path must be
    /// tested.
    pub fn busy(&self) -> bool {
        self.tested && self.backlog > RECHECK
    }

    /// Returns whether the chunk is in time although data in flight wait for up to the share [`FILLED`] of the `life`
    /// of messages. The path must answer.
    pub fn in_time_behind_others(&self, left: f64, life: f64) -> bool {
        self.silence <= 0.0 && self.backlog <= FILLED * life && self.in_time(left - self.deviation)
    }

    /// Returns whether the chunk arrives within `left` seconds.
    pub fn in_time(&self, left: f64) -> bool {
        self.arrival <= left
    }
}
