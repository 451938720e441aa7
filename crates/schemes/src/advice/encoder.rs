//! The part of a scheme that gives the advice.

use smallvec::SmallVec;

use strandcast_proto::policy::{
    Advice, ChunkInfo, Estimate, Moves, PathEstimator, PathId, PathState, PathView, PeerArrivals, Policy,
    Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::bound::{BIN, BINS, Carried, bound};
use super::path_rate::PathRate;
use super::steady::Steady;
use crate::estimate::Verdict;

/// Share of the carried rate that an encoder may use. The rest is for headers and for pictures that are larger than the
/// mean.
const SHARE: f64 = 0.9;
/// Part of the latency that acknowledgements need: twice their longest delay.
const ACKNOWLEDGED: Duration = Duration::from_millis(50);
/// Length of the interval over which the longest latency of messages is taken. A value counts for one to two such
/// intervals.
const LATENCY_HELD: Duration = Duration::from_secs(5);
/// Factor by which the counts of redundancy decay in each bin. Half of a count remains after seven seconds.
const FORGETS: f64 = 0.02;
/// Number of bins before the first advice.
const FIRST: usize = 5;
/// Time without a report of arrivals. After this time, or after two round trips if that is longer, a path with data in
/// flight counts as carrying nothing.
const SILENT: Duration = Duration::from_millis(200);

/// State of one path.
#[derive(Debug)]
struct Known {
    rate: PathRate,
    carried: Carried,
    /// Time of the last arrival. While nothing was in flight, the time of the last departure.
    last_received: Instant,
    /// Least value in the current five seconds, and in the five seconds before. The value is the one-way delay plus the
    /// difference between the peer's clock and this clock, in microseconds.
    ahead: [Option<i64>; 2],
}

impl Known {
    fn new(now: Instant) -> Self {
        let (rate, carried) = (PathRate::default(), Carried::default());
        Known { rate, carried, last_received: now, ahead: [None; 2] }
    }

    /// One-way delay plus a constant. The constant is equal for all paths.
    fn delay(&self) -> Option<i64> {
        self.ahead.into_iter().flatten().min()
    }

    /// Bytes per second that the path carries at present.
    fn now(&mut self, now: Instant, path: &PathView) -> f64 {
        let gone = !matches!(path.state, PathState::Active | PathState::PotentiallyFailed);
        if gone || Verdict::of(path) == Verdict::Dead {
            self.rate.forget();
            return 0.0;
        }
        // A queue may have caused the timeout.
        let suspect = path.state != PathState::Active || Verdict::of(path) > Verdict::Deaf;
        let holdoff = path.srtt.map_or(SILENT, |srtt| SILENT.max(2 * srtt));
        let silent = path.in_flight > 0 && now.saturating_since(self.last_received) > holdoff;
        if silent || suspect { 0.0 } else { self.rate.get(now) }
    }
}

/// Advises an encoder. The advice follows from the amount of data that the paths carried in the last five seconds.
#[derive(Debug, Default)]
pub struct Encoder {
    /// State by path slot. `None` before the first data on a path.
    paths: Vec<Option<Known>>,
    /// End of the running bin, and number of bins so far, at most [`BINS`].
    ends: Option<Instant>,
    bins: usize,
    /// Longest latency of messages in the current five seconds and in the five seconds before, and the start of the
    /// current five seconds.
    latency: [Option<Duration>; 2],
    turned: Instant,
    /// Number of bytes that were sent for the first time, and number of bytes that were retransmitted or sent as
    /// redundancy.
    first: f64,
    again: f64,
    rate: Steady,
    safe: Steady,
}

impl Encoder {
    fn of(&mut self, now: Instant, path: PathId) -> &mut Known {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        self.paths[path.index()].get_or_insert_with(|| Known::new(now))
    }

    fn sent(&mut self, view: &View<'_>, chunk: &ChunkInfo) {
        if chunk.sent_once() {
            self.first += chunk.len as f64;
            let left = chunk.expires.map(|expires| expires.saturating_since(view.now));
            self.latency[0] = self.latency[0].max(left);
        } else {
            self.again += chunk.len as f64;
        }
        let path = chunk.path();
        let alone = view.paths.get(path.index()).is_some_and(|p| p.in_flight <= chunk.len);
        let known = self.of(view.now, path);
        if alone {
            known.last_received = view.now;
        }
        known.rate.sent(view.now, chunk);
    }

    fn hear(&mut self, view: &View<'_>, arrivals: &PeerArrivals) {
        for news in &arrivals.paths {
            let Some(path) = view.paths.get(news.path.index()) else { continue };
            let known = self.of(view.now, news.path);
            if known.rate.hear(view.now, path, news) {
                known.last_received = view.now;
                let ahead = news.sent.map(|sent| news.at.ahead_of(sent));
                known.ahead[0] = known.ahead[0].into_iter().chain(ahead).min();
            }
        }
    }

    /// Ends the running bin if its time is over.
    fn pass(&mut self, view: &View<'_>) {
        let ends = *self.ends.get_or_insert(view.now + BIN);
        if view.now < ends {
            return;
        }
        // If no event occurred in a bin, the bin gives no information.
        self.ends = Some(if view.now < ends + BIN { ends + BIN } else { view.now + BIN });
        if view.now.saturating_since(self.turned) >= LATENCY_HELD {
            self.turned = view.now;
            self.latency = [None, self.latency[0]];
            self.paths.iter_mut().flatten().for_each(|known| known.ahead = [None, known.ahead[0]]);
        }
        (self.first, self.again) = (self.first * (1.0 - FORGETS), self.again * (1.0 - FORGETS));
        self.push(view);
        self.advise(view.now);
    }

    fn push(&mut self, view: &View<'_>) {
        let mut rates: SmallVec<[f64; 8]> = SmallVec::new();
        for (slot, path) in self.paths.iter_mut().zip(view.paths) {
            rates.push(slot.as_mut().map_or(0.0, |known| known.now(view.now, path)));
        }
        // If no path carries data, no rate is better than another one.
        if rates.iter().all(|rate| *rate <= 0.0) {
            return;
        }
        let quickest = self.paths.iter().flatten().filter_map(Known::delay).min();
        for (slot, rate) in self.paths.iter_mut().zip(rates) {
            let Some(known) = slot else { continue };
            known.carried.push(rate * BIN.as_secs_f64());
            let behind = known.delay().zip(quickest).map_or(0, |(delay, quickest)| delay - quickest);
            known.carried.behind = behind as f64 / BIN.as_micros() as f64;
        }
        self.bins = (self.bins + 1).min(BINS);
    }

    fn advise(&mut self, now: Instant) {
        let latency = self.latency.into_iter().flatten().max();
        let known = self.paths.iter().flatten().any(|known| known.rate.is_known());
        let Some(latency) = latency.filter(|_| self.bins >= FIRST && known) else { return };
        let slack = latency.saturating_sub(ACKNOWLEDGED).as_secs_f64();
        let all = self.paths.iter().flatten().map(|known| &known.carried);
        let largest = all.clone().map(Carried::sum).enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let largest = largest.map(|(index, _)| index);
        let others = all.clone().enumerate().filter(|(index, _)| Some(*index) != largest).map(|(_, c)| c);
        let share = 8.0 * SHARE / (1.0 + self.again / self.first.max(1.0));
        self.rate.take(now, share * bound(all, self.bins, slack));
        self.safe.take(now, share * bound(others, self.bins, slack));
    }
}

impl Policy for Encoder {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => self.sent(view, chunk),
            // A report that another report has overtaken gives no rates. A bin must not end with such a report.
            Signal::PeerArrivals(arrivals) if arrivals.paths.is_empty() => return,
            Signal::PeerArrivals(arrivals) => self.hear(view, arrivals),
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state == PathState::Closed) =>
            {
                if let Some(slot) = self.paths.get_mut(path.index()) {
                    *slot = None;
                }
            }
            _ => {}
        }
        self.pass(view);
    }

    fn moves(&self, _: &Signal<'_>) -> Moves {
        Moves::Nothing
    }

    fn hears_arrivals(&self) -> bool {
        true
    }

    fn advice(&self, _: &View<'_>) -> Option<Advice> {
        let (rate, safe) = (self.rate.said()?, self.safe.said()?);
        Some(Advice { rate_bps: rate as u64, safe_bps: safe.min(rate) as u64 })
    }
}

/// `Encoder` writes no estimates.
impl PathEstimator for Encoder {
    fn estimate(&self, _: PathId, _: &mut Estimate) {}
}
