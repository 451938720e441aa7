//! Summaries of all runs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use strandcast_netem::engine::Fingerprint;
use strandcast_proto::time::Instant;

#[cfg(feature = "tables")]
use super::stat::deviation;
use super::stat::{Stat, holm, sign_test};
use super::{Diagnostic, RunResult, Subject};
use crate::scenario::Scenario;

/// Name of the layout of [`Summary`] as JSON.
pub const SCHEMA: &str = "strandcast-result-1";

/// Statistics over runs, by the name of the metric.
pub type Stats = BTreeMap<String, Stat>;
/// Values by name. The name is that of a scheme, a link or a direction.
pub type By<T> = BTreeMap<String, T>;

/// The result of all runs of a scenario. The JSON of the result is the output of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the layout, [`SCHEMA`].
    pub schema: String,
    /// Scenario of the runs.
    pub scenario: ScenarioName,
    /// Strandcast's version.
    pub version: String,
    /// Commit of the sources from which Strandcast was built, with `+` if the sources had been changed. `None` if it is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Seed of the first run.
    pub seed: u64,
    /// Every run, in order.
    pub runs: Vec<RunName>,
    /// Fingerprint over all runs, in their order.
    pub fingerprint: String,
    /// Metrics of flows, by flow and scheme.
    pub flows: By<By<FlowStats>>,
    /// Metrics of links, by link, direction and scheme.
    pub links: By<By<By<LinkStats>>>,
    /// Metrics of cross traffic, by name and scheme.
    pub cross: By<By<Stats>>,
    /// Metrics of radios, by name and scheme.
    #[serde(default, skip_serializing_if = "By::is_empty")]
    pub radios: By<By<Stats>>,
    /// Differences of two schemes with the same seed. The differences are ordered by `A-B` (A minus B), and then by
    /// flow.
    pub paired: By<By<Stats>>,
    /// Diagnostics of schemes at the end of a run. Each occurs once for all runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    /// Schemes that replaced the schemes of compared flows. Empty if the scenario's own schemes ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<String>,
    /// Warnings of [`warnings`](crate::check::warnings) about the scenario with these schemes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Remarks of [`remarks`](super::remarks()).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Speed of the machine. The speed of the machine is not a part of fingerprints, and differs each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Speed>,
}

/// Name of a scenario and the changes to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioName {
    /// Title of the scenario.
    pub title: String,
    /// SHA-256 over the complete scenario.
    pub hash: String,
    /// File of the scenario, if the scenario was read from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Changes to the file, as `key=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Name of the profile of each flow over `sctp`, `tcp` or `mptcp`. The profile contains the constants of the
    /// transport.
    #[serde(default, skip_serializing_if = "By::is_empty")]
    pub profiles: By<String>,
    /// Kind of the application of each flow: the value of its key `app.kind`.
    #[serde(default, skip_serializing_if = "By::is_empty")]
    pub apps: By<String>,
}

impl ScenarioName {
    /// Name of a scenario with this hash. The scenario was read from `file`, and `set` lists the changes. Results
    /// contain no folder names of the machine. Only the last part of an absolute path is kept.
    pub fn of(scenario: &Scenario, hash: &str, file: &Path, set: &[String]) -> Self {
        let file = if file.is_absolute() { file.file_name().map_or(file, Path::new) } else { file };
        ScenarioName {
            title: scenario.title.clone(),
            hash: hash.to_owned(),
            file: Some(file.display().to_string()),
            set: set.to_vec(),
            profiles: scenario.profiles(),
            apps: scenario.apps(),
        }
    }
}

/// Seed and scheme of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunName {
    /// Seed of the run.
    pub seed: u64,
    /// Scheme of the compared flows.
    pub scheme: String,
    /// Fingerprint of the run, 16 hexadecimal digits.
    pub fingerprint: String,
}

/// A flow, and its paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowStats {
    /// Statistics of the flow.
    #[serde(flatten)]
    pub metrics: Stats,
    /// Statistics of each path.
    pub paths: By<Stats>,
}

/// Statistics of one direction of a link, in total and by flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkStats {
    /// Statistics of the link.
    #[serde(flatten)]
    pub metrics: Stats,
    /// Statistics of each flow that the link served.
    pub flows: By<Stats>,
}

/// The build of Strandcast that made results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Version of the program.
    pub version: &'static str,
    /// Commit of the program's sources, with `+` if the sources had been changed. `None` if it is not known.
    pub commit: Option<&'static str>,
}

/// Origin of results. It consists of facts that the runs do not contain.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Name of the scenario.
    pub name: ScenarioName,
    /// The build.
    pub build: Build,
    /// Seed of the first run.
    pub seed: u64,
    /// Schemes that replaced the schemes of compared flows. Empty if the scenario's own schemes ran.
    pub schemes: Vec<String>,
    /// Warnings about the scenario with the schemes that run.
    pub warnings: Vec<String>,
}

/// Speed of runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// Number of packets that left a link, per second of real time. A packet counts once for each link.
    pub packet_hops_per_s: f64,
}

/// Values of one metric with one scheme, in all runs that have the metric.
pub(super) struct Sample<'a> {
    pub subject: &'a Subject,
    pub name: &'static str,
    pub scheme: &'a str,
    /// Seed and value, in order of the runs.
    values: Vec<(u64, f64)>,
}

impl Sample<'_> {
    fn numbers(&self) -> Vec<f64> {
        self.values.iter().map(|&(_, value)| value).collect()
    }

    pub fn stat(&self) -> Stat {
        Stat::of(&self.numbers()).expect("a sample begins with a value")
    }

    /// Standard deviation.
    #[cfg(feature = "tables")]
    pub fn deviation(&self) -> Option<f64> {
        deviation(&self.numbers())
    }
}

/// Samples of all runs, by subject, metric and scheme. Schemes are in the order in which they first appear. Values that
/// are not numbers count as absent.
pub(super) fn samples(runs: &[RunResult]) -> Vec<Sample<'_>> {
    let schemes = schemes(runs);
    let mut samples: BTreeMap<(&Subject, &'static str, usize), Sample<'_>> = BTreeMap::new();
    for run in runs {
        let number = schemes.iter().position(|&s| s == run.scheme).expect("the list is made of the runs");
        for metric in run.metrics.iter().filter(|metric| metric.value.is_finite()) {
            let (subject, name, scheme) = (&metric.subject, metric.name, schemes[number]);
            samples
                .entry((subject, name, number))
                .or_insert_with(|| Sample { subject, name, scheme, values: Vec::new() })
                .values
                .push((run.seed, metric.value));
        }
    }
    samples.into_values().collect()
}

fn schemes(runs: &[RunResult]) -> Vec<&str> {
    let mut schemes: Vec<&str> = Vec::new();
    for run in runs {
        if !schemes.contains(&run.scheme.as_str()) {
            schemes.push(&run.scheme);
        }
    }
    schemes
}

impl Summary {
    /// Summarises runs. The order of the runs must not depend on which of them ended first. `version` is the version of
    /// Strandcast, and `seed` is the seed of the first run.
    pub fn of(scenario: ScenarioName, version: &str, seed: u64, runs: &[RunResult]) -> Self {
        let mut all = Fingerprint::new();
        for run in runs {
            all.record(Instant::ZERO, &format!("{} {}", run.scheme, run.fingerprint), &[run.seed]);
        }
        let name = |run: &RunResult| RunName {
            seed: run.seed,
            scheme: run.scheme.clone(),
            fingerprint: run.fingerprint.to_string(),
        };
        let mut summary = Summary {
            schema: SCHEMA.into(),
            scenario,
            version: version.into(),
            commit: None,
            seed,
            runs: runs.iter().map(name).collect(),
            fingerprint: all.to_string(),
            flows: By::new(),
            links: By::new(),
            cross: By::new(),
            radios: By::new(),
            paired: By::new(),
            diagnostics: Vec::new(),
            schemes: Vec::new(),
            warnings: Vec::new(),
            remarks: Vec::new(),
            speed: None,
        };
        let samples = samples(runs);
        for sample in &samples {
            summary.add(sample);
        }
        summary.pair(&samples);
        for diagnostic in runs.iter().flat_map(|run| &run.diagnostics) {
            if !summary.diagnostics.contains(diagnostic) {
                summary.diagnostics.push(diagnostic.clone());
            }
        }
        summary
    }

    /// Returns whether a flow is an instance such as `tcp#1`. `tcp` then stands for all instances.
    pub(super) fn is_one_of_several(&self, flow: &str) -> bool {
        flow.rsplit_once('#').is_some_and(|(base, _)| self.flows.contains_key(base))
    }

    /// The summary as JSON, with a line break at its end. Equal summaries give equal text.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect(
            "a summary has no maps with keys other than strings, and writing to memory does not fail",
        );
        text.push('\n');
        text
    }

    fn add(&mut self, sample: &Sample<'_>) {
        let scheme = sample.scheme.to_owned();
        let stats = match sample.subject {
            Subject::Flow(flow) => {
                &mut self.flows.entry(flow.clone()).or_default().entry(scheme).or_default().metrics
            }
            Subject::Path { flow, path } => {
                let flow = self.flows.entry(flow.clone()).or_default().entry(scheme).or_default();
                flow.paths.entry(path.clone()).or_default()
            }
            Subject::Link { link, direction } => &mut self.link(link, direction, scheme).metrics,
            Subject::Share { link, direction, flow } => {
                self.link(link, direction, scheme).flows.entry(flow.clone()).or_default()
            }
            Subject::Radio(name) => self.radios.entry(name.clone()).or_default().entry(scheme).or_default(),
            Subject::Cross(name) => self.cross.entry(name.clone()).or_default().entry(scheme).or_default(),
        };
        stats.insert(sample.name.to_owned(), sample.stat());
    }

    fn link(&mut self, link: &str, direction: &str, scheme: String) -> &mut LinkStats {
        let link = self.links.entry(link.to_owned()).or_default();
        link.entry(direction.to_owned()).or_default().entry(scheme).or_default()
    }

    /// Adds differences of schemes. Samples of a metric of a flow are adjacent, in the order of schemes.
    fn pair(&mut self, samples: &[Sample<'_>]) {
        for same in samples.chunk_by(|a, b| (a.subject, a.name) == (b.subject, b.name)) {
            let Subject::Flow(flow) = same[0].subject else { continue };
            let mut found: Vec<(String, Stat, f64)> = Vec::new();
            for (i, a) in same.iter().enumerate() {
                for b in &same[i + 1..] {
                    let of_b: BTreeMap<u64, f64> = b.values.iter().copied().collect();
                    let differences: Vec<f64> =
                        a.values.iter().filter_map(|(seed, x)| of_b.get(seed).map(|y| x - y)).collect();
                    let Some(stat) = Stat::of(&differences) else { continue };
                    found.push((format!("{}-{}", a.scheme, b.scheme), stat, sign_test(&differences)));
                }
            }
            let corrected = holm(&found.iter().map(|(_, _, p)| *p).collect::<Vec<_>>());
            for ((pair, stat, _), p) in found.into_iter().zip(corrected) {
                let pair = self.paired.entry(pair).or_default();
                pair.entry(flow.clone())
                    .or_default()
                    .insert(same[0].name.to_owned(), Stat { p: Some(p), ..stat });
            }
        }
    }
}
