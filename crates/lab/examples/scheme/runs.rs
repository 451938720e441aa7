//! Runs of the scheme and of a base with the same seeds.

use core::time::Duration;
use std::path::Path;

use strandcast_lab::result::{Metric, RunResult, Stat, Subject};
use strandcast_lab::scenario::{self, Scenario};
use strandcast_lab::simulation::{RunOptions, Simulation};

use strandcast_testing::lab::Presets;

/// Greatest simulated time of a run.
const LONGEST: Duration = Duration::from_secs(30);
/// Numbers that are printed for a run. Each has a metric, a title, and the factor of its number.
const TOLD: [(&str, &str, f64); 3] = [
    ("goodput_bps", "goodput kbit/s", 1e-3),
    ("message_delay_p95_ms", "message p95 ms", 1.0),
    ("loss_ratio", "lost %", 100.0),
];

fn run(scenario: &Scenario, spec: &str, seed: u64) -> Result<RunResult, String> {
    let built = Simulation::new(scenario, &Presets, seed, Some(spec));
    let mut simulation = built.map_err(|error| format!("{}: {}", error.key, error.message))?;
    simulation.run(RunOptions::default(), &mut ()).ok_or_else(|| format!("seed {seed} was broken off"))
}

/// Returns the metric of the first flow that has this metric.
fn value(result: &RunResult, name: &str) -> Option<f64> {
    let of_flow = |m: &&Metric| matches!(m.subject, Subject::Flow(_)) && m.name == name;
    result.metrics.iter().find(of_flow).map(|m| m.value)
}

fn stat(stat: Option<Stat>) -> String {
    match stat {
        Some(Stat { mean, ci95: Some(half), .. }) => format!("{mean:.1} ± {half:.1}"),
        Some(Stat { mean, .. }) => format!("{mean:.1}"),
        None => "-".into(),
    }
}

/// Returns the means of `spec` in `runs` runs from seed 1 on, and their differences from the means of `base` with the
/// same seeds.
pub fn compare(spec: &str, base: &str, file: &str, runs: u64) -> Result<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let mut scenario = scenario::load(&path, &[]).map_err(|error| error.to_string())?;
    scenario.run.time = scenario.run.time.min(LONGEST);
    scenario.run.warmup = scenario.run.warmup.min(LONGEST / 2);
    let all = |spec: &str| (1..=runs).map(|seed| run(&scenario, spec, seed)).collect::<Result<Vec<_>, _>>();
    let (own, other) = (all(spec)?, all(base)?);
    if run(&scenario, spec, 1)?.fingerprint != own[0].fingerprint {
        return Err(format!(
            "{spec}: seed 1 run again gives another fingerprint: something is not from its seeds"
        ));
    }
    let told = TOLD.map(|(name, title, by)| {
        let values = |runs: &[RunResult]| {
            runs.iter().filter_map(|r| value(r, name)).map(|v| v * by).collect::<Vec<_>>()
        };
        let (mine, theirs) = (values(&own), values(&other));
        let less: Vec<f64> = mine.iter().zip(&theirs).map(|(a, b)| a - b).collect();
        format!("{title} {} ({})", stat(Stat::of(&mine)), stat(Stat::of(&less)))
    });
    let same = own.iter().zip(&other).all(|(a, b)| a.fingerprint == b.fingerprint);
    let same = if same { "; every run went as the base's, bit for bit" } else { "" };
    let (told, fingerprint) = (told.join(", "), own[0].fingerprint);
    Ok(format!("{spec} (minus {base}), {runs} of {file}: {told}; seed 1 {fingerprint}{same}"))
}
