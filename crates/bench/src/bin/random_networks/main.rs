//! Results of a scheme in networks for which it was not made: goodput over all paths of random networks, compared
//! with the best path alone. The path alone has the same scheme or single-path SCTP, the same buffers and the same
//! seeds.
//!
//! `cargo run --release -p strandcast-bench --bin random_networks -- --scheme cmt --jobs 2 --out runs.jsonl`

mod arguments;
mod harm;
mod judge;
mod ledger;
mod sets;
mod work;

use core::ops::RangeInclusive;
use std::path::Path;
use std::process::ExitCode;

use strandcast_lab::scenario::{self, Scenario};
use strandcast_testing::lab::contest::{Contest, Outcome};
use strandcast_testing::lab::generator;
use strandcast_testing::lab::generator::FLOW;

use arguments::{Arguments, USAGE};
use ledger::{Entry, Ledger};

/// The least ratio to the best path of all but [`EXCEPTIONS`], and of these.
const GOOD: f64 = 0.95;
const LEAST: f64 = 0.85;
/// The share of networks that may be below [`GOOD`].
const EXCEPTIONS: f64 = 0.03;

/// A network by its name, with the command that makes it again.
struct Network {
    name: String,
    replay: String,
    scenario: Scenario,
}

impl Network {
    fn contest<'a>(&'a self, asked: &'a Arguments, seeds: RangeInclusive<u64>) -> Contest<'a> {
        Contest { flow: FLOW, network: &self.scenario, scheme: asked.scheme(), alone: &asked.alone, seeds }
    }
}

fn network(asked: &Arguments, number: u64) -> Result<Network, String> {
    let (seed, time_s, warmup_s) = (asked.seed, asked.time_s, asked.warmup_s);
    let name = format!("{seed}/{number}");
    let text = generator::network(seed, number, time_s, warmup_s);
    let scenario = scenario::parse(&text, &name, Path::new(""), &[]).map_err(|error| error.to_string())?;
    let replay = format!("random_networks --seed {seed} --only {number} --time {time_s} --warmup {warmup_s}");
    Ok(Network { name, replay, scenario })
}

/// A line of the table.
fn told(name: &str, outcome: &Outcome, ideal_bps: f64) -> String {
    let best = outcome.best();
    let paths: Vec<String> = outcome.alone.iter().map(ToString::to_string).collect();
    let of_sum = outcome.of_sum().map_or("-".into(), |share| format!("{share:.3}"));
    format!(
        "{name:8} {:7.3} {:7.3} {:3} {:14} {:6.3} {of_sum:>6} {:6.3}   {}",
        outcome.goodput_bps / 1e6,
        best.goodput_bps.unwrap_or(f64::NAN) / 1e6,
        best.path,
        best.scheme,
        outcome.ratio(),
        outcome.goodput_bps / ideal_bps,
        paths.join(", ")
    )
}

/// Runs the contests of all networks, `asked.jobs` at once, and prints each outcome when it is there: the shares of
/// the best path alone and of the ideal.
fn hold(asked: &Arguments, networks: &[Network]) -> Result<Vec<(f64, f64)>, String> {
    let ledger = Ledger::open(asked.out.as_ref(), &asked.keep)?;
    eprintln!("{} networks, {} seeds each; {} runs are done", networks.len(), asked.runs, ledger.len());
    println!("network  goodput    best of                 ratio of sum  ideal   alone, Mbit/s");
    work::each(networks, asked.jobs, |network| {
        let (name, replay) = (&network.name, &network.replay);
        let entry = Entry { ledger: &ledger, network: name, flow: FLOW, replay };
        let contest = network.contest(asked, 1..=asked.runs);
        let outcome = contest.hold(&entry, !asked.all_paths).map_err(|e| format!("{name}: {e}"))?;
        let ideal_bps = harm::ideal_bps(&network.scenario, FLOW);
        println!("{}", told(name, &outcome, ideal_bps));
        Ok((outcome.ratio(), outcome.goodput_bps / ideal_bps))
    })
}

/// Returns whether the ratios reach their bounds, and prints them.
fn verdict(mut ratios: Vec<f64>) -> bool {
    ratios.sort_by(f64::total_cmp);
    let of = |share: f64| ratios[((ratios.len() - 1) as f64 * share).round() as usize];
    let below = |limit: f64| ratios.iter().filter(|ratio| **ratio < limit).count();
    let good = below(GOOD) as f64 <= ratios.len() as f64 * EXCEPTIONS && below(LEAST) == 0;
    println!(
        "{} networks: least {:.3}, 5 % {:.3}, median {:.3}; {} below {GOOD}, {} below {LEAST}: {}",
        ratios.len(),
        of(0.0),
        of(0.05),
        of(0.5),
        below(GOOD),
        below(LEAST),
        if good { "good" } else { "NOT GOOD" }
    );
    good
}

/// Writes the networks as scenario files.
fn write(asked: &Arguments, folder: &Path) -> Result<(), String> {
    for number in asked.numbers(asked.networks) {
        let path = folder.join(format!("network-{}-{number}.toml", asked.seed));
        let text = generator::network(asked.seed, number, asked.time_s, asked.warmup_s);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Repeats one run of each network of a set, or of each random one.
fn repeat(asked: &Arguments, path: &str) -> Result<(), String> {
    let tell = |contest: Contest<'_>, name: &str| -> Result<(), String> {
        println!(
            "{name}, {} on {path}, seed {}: {:.0} bit/s",
            contest.scheme,
            asked.run,
            contest.once(path)?
        );
        Ok(())
    };
    let seeds = asked.run..=asked.run;
    if let Some(entries) = asked.set.as_deref().and_then(sets::set) {
        for number in asked.numbers(entries.len() as u64) {
            let entry = entries.get(number as usize).ok_or("the set has no such network")?;
            let (network, scheme) = (entry.load()?, asked.scheme());
            let alone = &asked.alone;
            tell(
                Contest { flow: entry.flow, network: &network, scheme, alone, seeds: seeds.clone() },
                &entry.name,
            )?;
        }
        return Ok(());
    }
    for number in asked.numbers(asked.networks) {
        let network = network(asked, number)?;
        tell(network.contest(asked, seeds.clone()), &network.name)?;
    }
    Ok(())
}

fn run(asked: &Arguments) -> Result<bool, String> {
    if let Some(path) = &asked.path {
        return repeat(asked, path).map(|()| true);
    }
    if let Some(entries) = asked.set.as_deref().and_then(sets::set) {
        return judge::set(asked, &entries);
    }
    if let Some(folder) = &asked.write {
        return write(asked, folder).map(|()| true);
    }
    let numbers = asked.numbers(asked.networks);
    let networks = numbers.iter().map(|n| network(asked, *n)).collect::<Result<Vec<_>, _>>()?;
    let (of_best, of_ideal) = hold(asked, &networks)?.into_iter().unzip();
    Ok(if asked.harm { harm::verdict(of_best, of_ideal) } else { verdict(of_best) })
}

fn main() -> ExitCode {
    let asked = match Arguments::read(std::env::args().skip(1)) {
        Ok(asked) => asked,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&asked) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
