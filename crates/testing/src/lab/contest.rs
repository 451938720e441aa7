//! One network: a scheme over all its paths, compared with the same scheme and single-path SCTP on each path alone.

use std::collections::BTreeMap;

use strandcast_lab::result::Subject;
use strandcast_lab::scenario::{self, LinkRate, Number, Scenario, Transport};
use strandcast_lab::simulation::{RunOptions, Simulation};

use super::Presets;

/// The scheme that a single path is also tried with, if no other is named.
pub const SINGLE: &str = "sctp";
/// All paths, where a run names its path.
pub const ALL: &str = "all";
/// Bytes of payload in a packet of 1400 bytes at IP level: the largest part of a link's rate for data.
pub const PAYLOAD_SHARE: f64 = 1344.0 / 1400.0;
/// Factor for data that were queued before the window begins: they add to a link's data in it.
const SLACK: f64 = 1.05;

/// A run that can be made, or has been made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// [`scenario::hash`] of the network with the paths that were open.
    pub scenario: String,
    pub scheme: String,
    /// A path's name, or [`ALL`].
    pub path: String,
    pub seed: u64,
}

/// A network and its runs.
pub struct Contest<'a> {
    /// Name of the measured flow.
    pub flow: &'a str,
    pub network: &'a Scenario,
    pub scheme: &'a str,
    /// Further schemes for each path alone.
    pub alone: &'a [String],
    pub seeds: core::ops::RangeInclusive<u64>,
}

/// Goodput of a path alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    pub path: String,
    /// Goodput in bit/s of the best scheme on it, mean over the seeds; `None`: its rate is below the goodput of another
    /// path, so that it was not run.
    pub goodput_bps: Option<f64>,
    /// Name of the best scheme.
    pub scheme: String,
}

impl core::fmt::Display for Alone {
    /// The path and its goodput alone in Mbit/s, `-` if it was not run.
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
    /// The scheme over all paths, mean over the seeds, bit/s.
    pub goodput_bps: f64,
    pub alone: Vec<Alone>,
}

impl Outcome {
    /// Returns the path that carries most alone.
    pub fn best(&self) -> &Alone {
        let most = self
            .alone
            .iter()
            .max_by(|a, b| a.goodput_bps.unwrap_or(0.0).total_cmp(&b.goodput_bps.unwrap_or(0.0)));
        most.expect("a flow has paths")
    }

    /// Goodput over all paths as a share of that of the best path.
    pub fn ratio(&self) -> f64 {
        self.goodput_bps / self.best().goodput_bps.unwrap_or(f64::NAN)
    }

    /// Goodput over all paths as a share of the sum of all paths alone, if all were run.
    pub fn of_sum(&self) -> Option<f64> {
        let all: Option<Vec<f64>> = self.alone.iter().map(|alone| alone.goodput_bps).collect();
        Some(self.goodput_bps / all?.iter().sum::<f64>())
    }
}

/// Values of flows in a run, by `FLOW METRIC`: those of `METRICS`.
pub type Values = BTreeMap<String, f64>;
/// Metrics that are kept of each flow.
const METRICS: [&str; 2] = [GOODPUT, MISSED];
const GOODPUT: &str = "goodput_bps";
const MISSED: &str = "missed_ratio";

/// The goodput of a flow, bit/s.
pub fn goodput(values: &Values, flow: &str) -> Result<f64, String> {
    let goodput = values.get(&format!("{flow} {GOODPUT}"));
    goodput.copied().ok_or_else(|| format!("flow {flow} has no goodput"))
}

/// Share of a flow's messages or frames that were late or never arrived.
pub fn lost(values: &Values, flow: &str) -> Result<f64, String> {
    let missed = values.get(&format!("{flow} {MISSED}"));
    missed.copied().ok_or_else(|| format!("flow {flow} has no deadline"))
}

/// Makes runs, or returns stored ones.
pub trait Runner {
    fn run(&self, run: &Run, scenario: &Scenario) -> Result<Values, String>;
}

impl Contest<'_> {
    /// Makes all runs of the contest. `prune`: paths with a rate below the goodput of another one are not run.
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

    /// The first seed's run over a path or [`ALL`], bit/s.
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

    /// Values of the flows with all paths open, by seed.
    pub fn all(&self, runner: &impl Runner) -> Result<Vec<Values>, String> {
        let scenario = scenario::hash(self.network);
        let run = |seed| {
            let run = Run { scenario: scenario.clone(), scheme: self.scheme.into(), path: ALL.into(), seed };
            runner.run(&run, self.network)
        };
        self.seeds.clone().map(run).collect()
    }

    /// Mean over the seeds, bit/s.
    fn mean(&self, runner: &impl Runner, on: &Scenario, scheme: &str, path: &str) -> Result<f64, String> {
        let hash = scenario::hash(on);
        let mut sum = 0.0;
        for seed in self.seeds.clone() {
            let run = Run { scenario: hash.clone(), scheme: scheme.into(), path: path.into(), seed };
            sum += goodput(&runner.run(&run, on)?, self.flow)?;
        }
        Ok(sum / self.seeds.clone().count() as f64)
    }

    /// The network with one path of the flow open. Links and hosts draw what they draw with all paths.
    fn only(&self, path: &str) -> Scenario {
        let mut single = self.network.clone();
        let flow = single.flows.get_mut(self.flow).expect("the contest names a flow");
        flow.paths = BTreeMap::from([(path.to_owned(), flow.paths[path].clone())]);
        flow.primary = None;
        single
    }

    /// Maximum rate of a path, bit/s: the least constant rate of its links.
    fn bound(&self, path: &str) -> f64 {
        let via = &self.network.flows[self.flow].paths[path].via;
        let rates = via.iter().map(|link| match self.network.links[link].forward.rate {
            LinkRate::Number(Number::Constant(rate)) => rate,
            _ => f64::INFINITY,
        });
        rates.fold(f64::INFINITY, f64::min) * PAYLOAD_SHARE * SLACK
    }
}

/// Makes one run, whatever was run before.
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
