//! Contest on one network: a scheme over all paths is compared with single paths. Each single path is tried with the
//! same scheme and with single-path SCTP.

use std::collections::BTreeMap;

use strandcast_lab::result::Subject;
use strandcast_lab::scenario::{self, LinkRate, Number, Scenario, Transport};
use strandcast_lab::simulation::{RunOptions, Simulation};

use super::Presets;

/// Scheme with which single paths are also tried if no other is named.
pub const SINGLE: &str = "sctp";
/// Name that stands for all paths, in place of the name of a path.
pub const ALL: &str = "all";
/// Part of a link's rate that data can use at most: the payload bytes in a packet of 1400 bytes at IP level.
pub const PAYLOAD_SHARE: f64 = 1344.0 / 1400.0;
/// Factor that allows for data that were queued before the measured time. Data that were queued before add to the data
/// that a link carries in the measured time.
const SLACK: f64 = 1.05;

/// A run that can be carried out, or was carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// [`scenario::hash`] of the network, with the open paths.
    pub scenario: String,
    pub scheme: String,
    /// Name of a path, or [`ALL`].
    pub path: String,
    pub seed: u64,
}

/// A network and the runs on it.
pub struct Contest<'a> {
    /// Name of the measured flow.
    pub flow: &'a str,
    pub network: &'a Scenario,
    pub scheme: &'a str,
    /// Further schemes with which each single path is tried.
    pub alone: &'a [String],
    pub seeds: core::ops::RangeInclusive<u64>,
}

/// Result of a single path.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    pub path: String,
    /// Mean goodput in bit/s over the seeds, with the best scheme on this path. `None` if the path was not simulated
    /// alone: its rate is below the goodput of another path.
    pub goodput_bps: Option<f64>,
    /// Name of the best scheme on this path.
    pub scheme: String,
}

impl core::fmt::Display for Alone {
    /// Writes the name of the path and its goodput in Mbit/s, or `-` if the path was not simulated alone.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.goodput_bps {
            Some(bps) => write!(f, "{} {:.3}", self.path, bps / 1e6),
            None => write!(f, "{} -", self.path),
        }
    }
}

/// Result of a contest.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Mean goodput in bit/s over the seeds, with the scheme over all paths.
    pub goodput_bps: f64,
    pub alone: Vec<Alone>,
}

impl Outcome {
    /// Returns the single path with the largest goodput.
    pub fn best(&self) -> &Alone {
        let most = self
            .alone
            .iter()
            .max_by(|a, b| a.goodput_bps.unwrap_or(0.0).total_cmp(&b.goodput_bps.unwrap_or(0.0)));
        most.expect("a flow has paths")
    }

    /// Returns the goodput over all paths, divided by the goodput of the best single path.
    pub fn ratio(&self) -> f64 {
        self.goodput_bps / self.best().goodput_bps.unwrap_or(f64::NAN)
    }

    /// Returns the goodput over all paths, divided by the sum of the goodputs of all single paths. The result is `None`
    /// if a path was not simulated alone.
    pub fn of_sum(&self) -> Option<f64> {
        let all: Option<Vec<f64>> = self.alone.iter().map(|alone| alone.goodput_bps).collect();
        Some(self.goodput_bps / all?.iter().sum::<f64>())
    }
}

/// Values of the flows in a run, by `FLOW METRIC`. The values are the metrics in `METRICS`.
pub type Values = BTreeMap<String, f64>;
/// Metrics of each flow that are kept.
const METRICS: [&str; 2] = [GOODPUT, MISSED];
const GOODPUT: &str = "goodput_bps";
const MISSED: &str = "missed_ratio";

/// Returns the goodput of a flow in bit/s.
pub fn goodput(values: &Values, flow: &str) -> Result<f64, String> {
    let goodput = values.get(&format!("{flow} {GOODPUT}"));
    goodput.copied().ok_or_else(|| format!("flow {flow} has no goodput"))
}

/// Returns the fraction of a flow's messages or frames that were late or never arrived.
pub fn lost(values: &Values, flow: &str) -> Result<f64, String> {
    let missed = values.get(&format!("{flow} {MISSED}"));
    missed.copied().ok_or_else(|| format!("flow {flow} has no deadline"))
}

/// Runner that carries out runs, or returns stored results.
pub trait Runner {
    fn run(&self, run: &Run, scenario: &Scenario) -> Result<Values, String>;
}

impl Contest<'_> {
    /// Carries out all runs of the contest. If `prune` is true, paths whose rate is below the goodput of another path
    /// are not run.
    pub fn hold(&self, runner: &impl Runner, prune: bool) -> Result<Outcome, String> {
        let paths = &self.network.flows[self.flow].paths;
        let mut order: Vec<(&String, f64)> = paths.keys().map(|path| (path, self.bound(path))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (mut best, mut alone) = (0.0_f64, Vec::new());
        for (path, bound) in order {
            let mut of = Alone { path: path.clone(), goodput_bps: None, scheme: self.scheme.into() };
            if !prune || bound >= best {
                let single = self.only(path);
                let others = self.alone.iter().map(String::as_str).filter(|other| *other != self.scheme);
                for scheme in others.chain([self.scheme]) {
                    let mean = self.mean(runner, &single, scheme, path)?;
                    if of.goodput_bps.is_none_or(|most| mean > most) {
                        (of.goodput_bps, of.scheme) = (Some(mean), scheme.into());
                    }
                }
                best = best.max(of.goodput_bps.unwrap_or(0.0));
            }
            alone.push(of);
        }
        alone.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Outcome { goodput_bps: self.mean(runner, self.network, self.scheme, ALL)?, alone })
    }

    /// Returns the goodput in bit/s of the first seed's run over a path or [`ALL`].
    pub fn once(&self, path: &str) -> Result<f64, String> {
        let paths = &self.network.flows[self.flow].paths;
        let on = match path {
            ALL => self.network.clone(),
            path if paths.contains_key(path) => self.only(path),
            path => return Err(format!("no path is called {path}")),
        };
        let hash = scenario::hash(&on);
        let (scheme, path) = (self.scheme.into(), path.into());
        let run = Run { scenario: hash, scheme, path, seed: *self.seeds.start() };
        goodput(&simulate(self.flow, &run, &on)?, self.flow)
    }

    /// Returns the values of the flows with all paths open, by seed.
    pub fn all(&self, runner: &impl Runner) -> Result<Vec<Values>, String> {
        let scenario = scenario::hash(self.network);
        let run = |seed| {
            let run = Run { scenario: scenario.clone(), scheme: self.scheme.into(), path: ALL.into(), seed };
            runner.run(&run, self.network)
        };
        self.seeds.clone().map(run).collect()
    }

    /// Returns the mean goodput in bit/s over the seeds.
    fn mean(&self, runner: &impl Runner, on: &Scenario, scheme: &str, path: &str) -> Result<f64, String> {
        let hash = scenario::hash(on);
        let mut sum = 0.0;
        for seed in self.seeds.clone() {
            let run = Run { scenario: hash.clone(), scheme: scheme.into(), path: path.into(), seed };
            sum += goodput(&runner.run(&run, on)?, self.flow)?;
        }
        Ok(sum / self.seeds.clone().count() as f64)
    }

    /// Returns the network with only one path of the flow open. Links and hosts draw the random numbers that they draw
    /// with all paths open.
    fn only(&self, path: &str) -> Scenario {
        let mut single = self.network.clone();
        let flow = single.flows.get_mut(self.flow).expect("the contest names a flow");
        flow.paths = BTreeMap::from([(path.to_owned(), flow.paths[path].clone())]);
        flow.primary = None;
        single
    }

    /// Returns the maximum rate of a path in bit/s: the smallest constant rate of its links.
    fn bound(&self, path: &str) -> f64 {
        let via = &self.network.flows[self.flow].paths[path].via;
        let rates = via.iter().map(|link| match self.network.links[link].forward.rate {
            LinkRate::Number(Number::Constant(rate)) => rate,
            _ => f64::INFINITY,
        });
        rates.fold(f64::INFINITY, f64::min) * PAYLOAD_SHARE * SLACK
    }
}

/// Carries out one run, independent of earlier runs.
pub fn simulate(flow: &str, run: &Run, scenario: &Scenario) -> Result<Values, String> {
    let mut built = scenario.clone();
    let own = built.flows.get_mut(flow).ok_or_else(|| format!("no flow is called {flow}"))?;
    if let Transport::Sctp { scheme, .. } = &mut own.transport {
        scheme.clone_from(&run.scheme);
    }
    let simulation = Simulation::new(&built, &Presets, run.seed, None);
    let mut simulation = simulation.map_err(|error| format!("{}: {}", error.key, error.message))?;
    let result = simulation.run(RunOptions::default(), &mut ()).ok_or("a run was broken off")?;
    let kept = result.metrics.iter().filter(|metric| METRICS.contains(&metric.name));
    Ok(kept
        .filter_map(|metric| match &metric.subject {
            Subject::Flow(flow) => Some((format!("{flow} {}", metric.name), metric.value)),
            _ => None,
        })
        .collect())
}
