//! Rate that a path carries. It is measured only with packets of the stream itself.
//!
//! A *train* is a group of packets that leave at the same time. The slowest link of the path determines the intervals
//! between their arrivals. A report of arrivals names the last packet that arrived by its TSN. The report also has the
//! arrival time of this packet, and the number of bytes that have arrived so far. If two reports name packets of the
//! same train, the link's rate can be computed. It is the difference of their bytes, divided by the difference of their
//! times. The result depends neither on round-trip times nor on the return path. The rate of the path is computed from
//! the last [`SAMPLES`] samples, so that jitter of arrivals averages out. The rate is the sum of their bytes divided by
//! the sum of their times.
//!
//! A path is busy in two cases: if it has a queue and a full window, or if the queue is more than half of the round
//! trip. A busy path has no room for trains and does not need them, because the rate of arriving bytes is its rate.
//! Earlier trains are dropped. The bytes that arrived in each half of the last second are always samples, whether or
//! not the path is busy.
//!
//! `ASSUMED`, because no paper gives them: all constants. If a link delivers packets in batches, trains show a rate
//! that is higher than the link's rate.

use std::collections::VecDeque;

use smallvec::SmallVec;
use strandcast_proto::policy::{ChunkInfo, PathArrivals, PathView, PeerTime};
use strandcast_proto::time::{Duration, Instant};
use strandcast_proto::wire::serial::Tsn;

/// Longest time between two packets of one train.
pub const BACK_TO_BACK: Duration = Duration::from_micros(200);
/// Number of packets of the shortest train.
pub const MIN_TRAIN: usize = 4;
/// Least number of packets between the two reports of a sample.
const APART: u64 = 2;
/// Number of samples that are used, and their greatest age.
const SAMPLES: usize = 3;
const KNOWN: Duration = Duration::from_secs(10);
/// Length of an interval in which arrivals are counted. The smaller of the last two counts gives a lower bound of the
/// path's rate.
const COUNTED: Duration = Duration::from_millis(500);
/// Shortest queueing delay that counts as a queue, in seconds.
const STANDING: f64 = 0.015;
/// Share of the round trip. A path with a longer queue is busy, whether or not its window is full.
const LONG: f64 = 0.5;
/// Share of the time and of the reports. If the path was busy for this share, the rate of its arrivals is its rate.
const BUSY: f64 = 0.8;
/// Number of packets. A window with room for fewer packets is full.
const FULL: u64 = 4;
/// Number of trains that may wait for reports.
const UNDER_WAY: usize = 8;

/// State of a path in a report: the bytes and packets that have arrived, and the arrival time of the last packet.
#[derive(Copy, Clone, Debug)]
struct Mark {
    at: PeerTime,
    bytes: u64,
    packets: u64,
}

impl Mark {
    /// Bytes and seconds since `earlier`.
    fn since(&self, earlier: &Mark) -> (f64, f64) {
        let bytes = self.bytes.saturating_sub(earlier.bytes) as f64;
        (bytes, self.at.since(earlier.at).as_secs_f64())
    }
}

/// Packets that left back to back.
#[derive(Copy, Clone, Debug)]
struct Train {
    first: Tsn,
    last: Tsn,
    packets: usize,
    /// First and last reports that name a packet of the train.
    begins: Option<Mark>,
    ends: Option<Mark>,
}

/// Arrivals in the running interval of [`COUNTED`].
#[derive(Copy, Clone, Debug)]
struct Counting {
    from: Mark,
    last: PeerTime,
    reports: u32,
    /// Number of reports while the path was busy, and the time in seconds for which it was busy.
    busy: (u32, f64),
}

impl Counting {
    fn new(from: Mark) -> Self {
        Counting { from, last: from.at, reports: 0, busy: (0, 0.0) }
    }
}

/// The rate of one path.
#[derive(Debug, Default)]
pub struct PathRate {
    /// The train that leaves now, and the time of its last packet.
    leaving: Option<(Train, Instant)>,
    under_way: VecDeque<Train>,
    /// Samples of the rate. Each has its time, its bytes and its seconds.
    samples: SmallVec<[(Instant, f64, f64); SAMPLES]>,
    packets: u64,
    counting: Option<Counting>,
    /// Bytes per second in each of the last two intervals of [`COUNTED`], the newer first.
    arrived: [f64; 2],
}

/// Returns whether the path is busy. It is busy if it has a queue and a full window, or a queue of more than half of
/// the round trip. The second condition is needed after a fall of the path's rate, because the window is then too large
/// to be full for seconds. Jitter alone never reaches half of a round trip.
fn is_busy(path: &PathView) -> bool {
    let queue = path.est.queue.unwrap_or(0.0);
    let window = path.in_flight + FULL * path.mtu > path.limit.cwnd;
    let long = path.srtt.is_some_and(|srtt| queue > LONG * srtt.as_secs_f64());
    queue > STANDING && (window || long)
}

impl PathRate {
    /// Records that a chunk left on the path.
    pub fn sent(&mut self, now: Instant, chunk: &ChunkInfo) {
        match &mut self.leaving {
            Some((train, last)) if now.saturating_since(*last) <= BACK_TO_BACK => {
                (train.last, train.packets, *last) = (chunk.tsn, train.packets + 1, now);
            }
            leaving => {
                let train = Train { first: chunk.tsn, last: chunk.tsn, packets: 1, begins: None, ends: None };
                *leaving = Some((train, now));
            }
        }
        let Some((train, _)) = self.leaving.filter(|(train, _)| train.packets >= MIN_TRAIN) else { return };
        match self.under_way.back_mut().filter(|last| last.first == train.first) {
            Some(last) => (last.last, last.packets) = (train.last, train.packets),
            None => {
                if self.under_way.len() == UNDER_WAY {
                    self.under_way.pop_front();
                }
                self.under_way.push_back(train);
            }
        }
    }

    /// Receives the peer's report of arrivals. Returns whether the rate may have changed.
    pub fn hear(&mut self, now: Instant, path: &PathView, news: &PathArrivals) -> bool {
        if news.packets <= self.packets {
            return false;
        }
        self.packets = news.packets;
        let mark = Mark { at: news.at, bytes: news.bytes, packets: news.packets };
        self.time_trains(now, news.tsn, mark);
        self.count(now, path, mark);
        true
    }

    fn time_trains(&mut self, now: Instant, tsn: Tsn, mark: Mark) {
        while let Some(train) = self.under_way.front_mut().filter(|train| !tsn.is_before(train.first)) {
            let within = !train.last.is_before(tsn);
            if within {
                train.begins.get_or_insert(mark);
                train.ends = Some(mark);
            }
            if within && tsn != train.last {
                return;
            }
            let train = self.under_way.pop_front();
            if let Some((from, to)) = train.and_then(|train| train.begins.zip(train.ends))
                && to.packets >= from.packets + APART
            {
                self.sample(now, to.since(&from));
            }
        }
    }

    fn sample(&mut self, now: Instant, (bytes, seconds): (f64, f64)) {
        if self.samples.len() == SAMPLES {
            self.samples.remove(0);
        }
        self.samples.push((now, bytes, seconds));
    }

    /// Counts arrivals, and decides whether they show the largest rate that the path can carry.
    fn count(&mut self, now: Instant, path: &PathView, mark: Mark) {
        let counting = self.counting.get_or_insert_with(|| Counting::new(mark));
        counting.reports += 1;
        // The share of time is also needed, because most reports arrive with trains, which cause queues themselves.
        if is_busy(path) {
            counting.busy.0 += 1;
            counting.busy.1 += mark.at.since(counting.last).as_secs_f64();
        }
        counting.last = mark.at;
        let (bytes, seconds) = mark.since(&counting.from);
        if seconds < COUNTED.as_secs_f64() {
            return;
        }
        let (reports, time) = counting.busy;
        let busy = f64::from(reports) >= BUSY * f64::from(counting.reports) && time >= BUSY * seconds;
        *counting = Counting::new(mark);
        // Two reports far apart indicate a pause.
        self.arrived =
            [if seconds < 2.0 * COUNTED.as_secs_f64() { bytes / seconds } else { 0.0 }, self.arrived[0]];
        if busy {
            // This sample replaces all earlier ones.
            self.samples.clear();
            self.sample(now, (bytes, seconds));
        }
    }

    /// Bytes per second that the path carries; 0 before a rate is known.
    pub fn get(&self, now: Instant) -> f64 {
        let young = self.samples.iter().filter(|s| now.saturating_since(s.0) <= KNOWN);
        let (bytes, seconds) = young.fold((0.0, 0.0), |sum, s| (sum.0 + s.1, sum.1 + s.2));
        let found = if seconds > 0.0 { bytes / seconds } else { 0.0 };
        found.max(self.arrived[0].min(self.arrived[1]))
    }

    /// Returns whether a train was measured.
    pub fn is_known(&self) -> bool {
        !self.samples.is_empty()
    }

    /// Drops the samples of a path that fell silent, because its rate may be different after the silence.
    pub fn forget(&mut self) {
        let packets = self.packets;
        *self = PathRate { packets, ..PathRate::default() };
    }
}
