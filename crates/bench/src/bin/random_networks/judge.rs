//! Sets of networks that are files, each scheme against its bar.

use strandcast_lab::scenario::Scenario;
use strandcast_testing::lab::contest::{Contest, goodput, lost};

use super::arguments::Arguments;
use super::ledger::{self, Ledger};
use super::sets::{Bar, Entry, Measure};
use super::work;

/// A scheme on a network of a set.
struct Task {
    entry: usize,
    scheme: String,
    measure: Measure,
}

/// A line of the table, and whether the bar was met.
struct Verdict {
    text: String,
    met: Option<bool>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Runs a set and prints its table; whether all bars were met.
pub fn set(asked: &Arguments, entries: &[Entry]) -> Result<bool, String> {
    let ledger = Ledger::open(asked.out.as_ref(), &asked.keep)?;
    let networks = entries.iter().map(Entry::load).collect::<Result<Vec<_>, _>>()?;
    let mut tasks = Vec::new();
    for number in asked.numbers(entries.len() as u64) {
        let entry = entries.get(number as usize).ok_or_else(|| format!("the set has no network {number}"))?;
        let wanted = |bar: &&Bar| asked.scheme.as_ref().is_none_or(|scheme| *scheme == bar.0);
        let task = |(scheme, measure): &Bar| Task {
            entry: number as usize,
            scheme: (*scheme).into(),
            measure: *measure,
        };
        let before = tasks.len();
        tasks.extend(entry.bars.iter().filter(wanted).map(task));
        if let (Some(scheme), true) = (&asked.scheme, tasks.len() == before) {
            // A scheme without a bar is reported all the same.
            let measure = entry.bars[0].1.unbarred();
            tasks.push(Task { entry: number as usize, scheme: scheme.clone(), measure });
        }
    }
    let verdicts = work::each(&tasks, asked.jobs, |task| {
        let (entry, network) = (&entries[task.entry], &networks[task.entry]);
        let verdict = judge(asked, &ledger, (task, entry, network));
        verdict.map_err(|error| format!("{}, {}: {error}", entry.name, task.scheme))
    })?;
    println!("| network | scheme | measured | asked | |\n|---|---|---|---|---|");
    verdicts.iter().for_each(|verdict| println!("{}", verdict.text));
    Ok(verdicts.iter().all(|verdict| verdict.met != Some(false)))
}

fn judge(
    asked: &Arguments,
    ledger: &Ledger,
    (task, entry, network): (&Task, &Entry, &Scenario),
) -> Result<Verdict, String> {
    let name = asked.set.as_deref().unwrap_or_default();
    let replay = format!("random_networks --set {name} --only {}", task.entry);
    let runner = ledger::Entry { ledger, network: &entry.name, flow: entry.flow, replay: &replay };
    let (scheme, alone) = (&*task.scheme, &*asked.alone);
    let contest = Contest { flow: entry.flow, network, scheme, alone, seeds: 1..=asked.runs };
    let (measured, bar, met) = match task.measure {
        Measure::Bulk { of_best, of_sum } => {
            let outcome = contest.hold(&runner, false)?;
            let (ratio, share) = (outcome.ratio(), outcome.of_sum().unwrap_or(f64::NAN));
            let paths: Vec<String> = outcome.alone.iter().map(ToString::to_string).collect();
            let goodput = outcome.goodput_bps / 1e6;
            let measured = format!(
                "{goodput:.2} Mbit/s: {ratio:.3} of the best, {share:.3} of the sum of {}",
                paths.join(", ")
            );
            let bars = [("of the best", of_best, ratio), ("of the sum", of_sum, share)];
            let bars = bars.into_iter().filter_map(|(of, least, value)| Some((of, least?, value)));
            let words: Vec<String> = bars.clone().map(|(of, least, _)| format!("≥ {least} {of}")).collect();
            let met = bars.map(|(_, least, value)| value >= least).reduce(|a, b| a && b);
            (measured, words.join(", "), met)
        }
        Measure::Beside { most } => {
            let all = contest.all(&runner)?;
            let of = |flow| all.iter().map(|values| goodput(values, flow)).collect::<Result<Vec<_>, _>>();
            let (own, other) = (mean(&of(entry.flow)?) / 1e6, mean(&of("tcp")?) / 1e6);
            let measured = format!("{own:.2} Mbit/s, TCP {other:.2}: {:.2} times", own / other);
            (measured, asked_at_most(most, ""), most.is_finite().then_some(own / other <= most))
        }
        Measure::Live { most: limit } => {
            let all = contest.all(&runner)?;
            let lost = all.iter().map(|values| lost(values, entry.flow)).collect::<Result<Vec<_>, _>>()?;
            let (mean, worst) = (mean(&lost) * 100.0, most(&lost) * 100.0);
            let measured = format!("{mean:.3} % lost, at most {worst:.3} %");
            (
                measured,
                limit.map_or(String::new(), |most| asked_at_most(most * 100.0, " %")),
                limit.map(|most| mean <= most * 100.0),
            )
        }
    };
    let word = met.map_or("", |met| if met { "met" } else { "MISSED" });
    let text = format!("| {} | `{}` | {measured} | {bar} | {word} |", entry.name, task.scheme);
    eprintln!("{text}");
    Ok(Verdict { text, met })
}

fn asked_at_most(most: f64, unit: &str) -> String {
    if most.is_finite() { format!("≤ {most}{unit}") } else { String::new() }
}
