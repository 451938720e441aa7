//! Original data on the widest path (Guo X., Liu J., Lian S., "Real-time video streaming over multipath in multi-hop
//! wireless networks", 2010). In their scheme MPR, the path with the largest available bandwidth carries only
//! originals. Retransmissions take the path with the least delay.
//!
//! | the paper | here |
//! |---|---|
//! | §4: originals on the path of maximum bandwidth, retransmissions on that of minimum delay | [`Widest::next`]; for associations `rtx=lowest-rtt` |
//! | §5.3: available bandwidth, at first by probes | [`Bandwidth::measuring`] |
//! | §5.3: afterwards by data, through a moving average | [`Bandwidth::sample`] |
//!
//! Constants: the paper gives no constants. Two values are choices of this project. The two values are the weight of a
//! sample (`widest-gain`, 1/4), and the age after which a path is measured again (`widest-refresh`, 10 s, the life of a
//! route in AODV).
//!
//! `ASSUMED`, because a sender cannot measure channel and idle time:
//!
//! * A path's bandwidth is its delivery rate for this sender. It is the number of bytes that are acknowledged per
//!   interval of at least a round trip. A sample below the average counts only if the window was full. A source that
//!   sends little does not show the path's bandwidth.
//! * A path is measured when it becomes usable, and again if it had no sample for `widest-refresh`. The measurement
//!   uses data for which the widest path has no room. The measurement lasts for at least `widest-measure` (1 s). It
//!   ends after three consecutive samples that exceed the highest sample by less than a quarter (as BBR detects a full
//!   pipe, Cardwell et al. 2016). A loss does not end the measurement. If a loss occurs in the first round trips, the
//!   window does not yet reflect the path. If one path carries the whole source, no other path is measured.
//! * The path with the lowest round-trip time comes first. Another path takes its place only if it is wider by
//!   `widest-margin`. Two similar paths therefore do not swap places with every sample.
//! * While the widest path is full, originals wait for it (`spill=never`), because the paper's originals use only one
//!   path. With `spill=when-full`, they take the widest of the other paths.

use strandcast_keys::{keys, words};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::{
    AckInfo, Assignment, Backlog, PathId, PathState, PathView, Policy, Scheduler, Signal, View,
};
use strandcast_proto::time::{Duration, Instant};

use super::blocking::BlockingConfig;
use super::fastest::{fastest, fastest_with_room};
use crate::estimate::{DeliveryInterval, RateSample};
use crate::part::SchedulerPart;

/// Factor by which a sample must exceed the highest sample. If it does, the path was not full before.
const GROWTH: f64 = 1.25;
/// Number of consecutive samples without such growth after which a measurement ends.
const FLAT: u32 = 3;

words! {
    /// Use of other paths by originals while the widest path is full.
    #[derive(Default)]
    pub enum Spill {
        /// They wait.
        #[default]
        Never = "never",
        /// They take the widest path that has room.
        WhenFull = "when-full",
    }
}

keys! {
    /// The keys of [`Widest`].
    #[derive(Copy)]
    pub struct WidestConfig {
        /// action of original data while the widest path is full: wait, or take the next one
        spill: Spill = Spill::Never,
        /// weight of a sample in a path's bandwidth
        widest_gain: f64 [0.01, 1.0] = 0.25,
        /// margin by which a path has to be wider to become the widest
        widest_margin: f64 [0.0, 4.0] = 0.1,
        /// least time that the measurement of a path takes
        widest_measure: Duration [0, 60_000, "ms"] = Duration::from_secs(1),
        /// age of a bandwidth after which it is measured again (0: never)
        widest_refresh: Option<Duration> [0, 600_000, "ms"] = Some(Duration::from_secs(10)),
        and blocking: BlockingConfig,
    }
}

impl SchedulerPart for WidestConfig {
    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(Widest::new(*self))
    }

    fn tune(&self, config: &mut TransportConfig) {
        self.blocking.tune(config);
    }
}

/// State of a path's bandwidth.
#[derive(Clone, Debug)]
struct Bandwidth {
    interval: DeliveryInterval,
    /// Bandwidth in bytes per second.
    rate: Option<f64>,
    /// Running measurement of the path, if there is one.
    measuring: Option<Measurement>,
    /// Time of the last bandwidth sample of the path.
    learnt: Instant,
}

/// First samples of a path. Also the first samples after a long time.
#[derive(Copy, Clone, Default, Debug)]
struct Measurement {
    began: Option<Instant>,
    /// Average in bytes per second. It follows growth at once.
    rate: f64,
    /// Highest sample.
    highest: f64,
    /// Number of samples without growth since the highest sample.
    flat: u32,
}

impl Bandwidth {
    fn new(now: Instant) -> Self {
        let measuring = Some(Measurement::default());
        Bandwidth { interval: DeliveryInterval::default(), rate: None, measuring, learnt: now }
    }

    /// Bandwidth in bytes per second. 0 while it is unknown.
    fn known(&self) -> f64 {
        self.rate.or_else(|| Some(self.measuring?.rate)).unwrap_or(0.0)
    }

    /// Adds a sample. Returns whether the sample ends a measurement.
    fn sample(&mut self, now: Instant, sample: RateSample, config: &WidestConfig) -> bool {
        let Some(m) = &mut self.measuring else {
            let rate = self.rate.get_or_insert(sample.rate);
            if sample.limited || sample.rate >= *rate {
                *rate += (sample.rate - *rate) * config.widest_gain;
                self.learnt = now;
            }
            return false;
        };
        if sample.rate > m.highest * GROWTH {
            (m.rate, m.flat) = (sample.rate, 0);
        } else if sample.limited {
            m.rate += (sample.rate - m.rate) * config.widest_gain;
            m.flat += 1;
        }
        m.highest = m.highest.max(sample.rate);
        let began = *m.began.get_or_insert(now);
        let ends = m.flat >= FLAT && now.saturating_since(began) >= config.widest_measure;
        if ends {
            (self.rate, self.learnt, self.measuring) = (Some(m.rate), now, None);
        }
        ends
    }

    /// Begins a measurement if there was no sample for the time `refresh`.
    fn refresh(&mut self, now: Instant, refresh: Option<Duration>) {
        let old = refresh.is_some_and(|age| now.saturating_since(self.learnt) >= age);
        if old && self.measuring.is_none() {
            self.measuring = Some(Measurement::default());
        }
    }
}

/// Scheduler that sends originals on the widest path, and retransmissions on the fastest path.
#[derive(Clone, Debug)]
pub struct Widest {
    config: WidestConfig,
    /// Bandwidths by path slot. `None` if the slot is closed, the path is not usable, or the path is new.
    paths: Vec<Option<Bandwidth>>,
    widest: Option<PathId>,
    changes: u64,
    measurements: u64,
}

impl Widest {
    /// Makes a scheduler without measurements.
    pub fn new(config: WidestConfig) -> Self {
        Widest { config, paths: Vec::new(), widest: None, changes: 0, measurements: 0 }
    }

    fn of(&mut self, now: Instant, path: PathId) -> &mut Bandwidth {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, || None);
        }
        self.paths[path.index()].get_or_insert_with(|| Bandwidth::new(now))
    }

    /// Bandwidth of a path that [`Widest::look`] has examined.
    fn known(&self, path: PathId) -> f64 {
        self.paths.get(path.index()).and_then(Option::as_ref).map_or(0.0, Bandwidth::known)
    }

    fn measuring(&self, path: PathId) -> bool {
        let known = self.paths.get(path.index()).and_then(Option::as_ref);
        known.is_none_or(|bandwidth| bandwidth.measuring.is_some())
    }

    /// Adds new paths, and paths without a recent measurement.
    fn look(&mut self, view: &View<'_>) {
        let refresh = self.config.widest_refresh;
        for path in view.usable().iter() {
            self.of(view.now, path).refresh(view.now, refresh);
        }
    }

    /// Returns the path for originals. A path whose measurement has not ended is not considered.
    fn choose<'a>(&mut self, view: &View<'a>) -> Option<&'a PathView> {
        let usable = view.usable();
        let current = match self.widest.filter(|path| usable.contains(*path)) {
            Some(path) => path,
            None => fastest(view)?.id,
        };
        let least = self.known(current) * (1.0 + self.config.widest_margin);
        let wider = usable.iter().filter(|p| !self.measuring(*p) && self.known(*p) > least);
        let widest = wider.max_by(|a, b| self.known(*a).total_cmp(&self.known(*b)).then(b.cmp(a)));
        let widest = widest.unwrap_or(current);
        self.changes += u64::from(self.widest.is_some_and(|before| before != widest));
        self.widest = Some(widest);
        view.paths.get(widest.index())
    }

    /// Returns the path to use while the widest path is full. It is a path that is being measured, or else the path
    /// that `spill` selects.
    fn other<'a>(&self, view: &View<'a>) -> Option<&'a PathView> {
        let with_room = || view.usable_paths().filter(|p| p.has_room());
        let rtt = |p: &&PathView| (p.srtt.unwrap_or(Duration::MAX), p.id);
        let measured = with_room().filter(|p| self.measuring(p.id)).min_by_key(rtt);
        let spilt = with_room().filter(|_| self.config.spill == Spill::WhenFull);
        measured.or_else(|| {
            spilt.max_by(|a, b| self.known(a.id).total_cmp(&self.known(b.id)).then(b.id.cmp(&a.id)))
        })
    }

    fn acked(&mut self, view: &View<'_>, ack: &AckInfo) {
        let Some(path) = view.paths.get(ack.path.index()) else { return };
        let config = self.config;
        let bandwidth = self.of(view.now, ack.path);
        if let Some(sample) = bandwidth.interval.acked(view.now, path, ack) {
            let ended = bandwidth.sample(view.now, sample, &config);
            self.measurements += u64::from(ended);
        }
    }
}

impl Policy for Widest {
    fn on_signal(&mut self, view: &View<'_>, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(chunk) => {
                let path = chunk.path();
                let alone = view.paths.get(path.index()).is_some_and(|p| p.in_flight <= chunk.len);
                if alone {
                    self.of(view.now, path).interval.sent_alone(view.now);
                }
            }
            Signal::Acked(ack) => self.acked(view, ack),
            Signal::PathChanged(path)
                if view.paths.get(path.index()).is_none_or(|p| p.state != PathState::Active) =>
            {
                // When the path returns, it may lead through another network.
                if let Some(slot) = self.paths.get_mut(path.index()) {
                    *slot = None;
                }
            }
            _ => {}
        }
    }

    fn counters(&self, out: &mut Vec<(&'static str, u64)>) {
        out.push(("widest_changes", self.changes));
        out.push(("bandwidths_measured", self.measurements));
    }
}

impl Scheduler for Widest {
    fn next(&mut self, view: &View<'_>, backlog: &Backlog) -> Option<Assignment> {
        if backlog.retransmission {
            return fastest_with_room(view, backlog).map(|p| Assignment::on(p.id, 1));
        }
        self.look(view);
        let widest = self.choose(view)?;
        let path = if widest.has_room() { Some(widest) } else { self.other(view) };
        path.map(|p| Assignment::on(p.id, 1))
    }
}

#[cfg(test)]
mod tests;
