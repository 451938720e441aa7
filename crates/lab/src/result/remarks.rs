//! Remarks about results that are not conclusive. The runs may be too short or too few, or losses and outages may have
//! had no effect.

use core::time::Duration;

use super::stat::{FEWEST, Stat};
use super::summary::Summary;
use crate::scenario::{App, Flow, Hop, Link, LinkRate, Number, Scenario};

/// Least number of round trips for a conclusive result. ASSUMED, as is [`SLOW_START`].
const ROUND_TRIPS: f64 = 10.0;
/// Greatest share of the measured time that slow start may take.
const SLOW_START: f64 = 0.1;
/// Size of the first window in bytes (RFC 9260 §7.2.1).
const FIRST_WINDOW: f64 = 4404.0;
/// Half width of the confidence interval of the mean goodput, as a share of the mean. A wider interval causes a remark.
/// ASSUMED.
const WIDTH: f64 = 0.05;

/// Returns the remarks about the runs of a summary. The most important remark comes first.
pub fn remarks(scenario: &Scenario, summary: &Summary) -> Vec<String> {
    let mut all = Vec::new();
    let counted = (scenario.run.time - scenario.run.warmup).as_secs_f64();
    for (name, flow) in &scenario.flows {
        all.extend(too_short(scenario, name, flow, counted));
    }
    all.extend(nothing_failed(scenario, summary));
    all.extend(too_few(summary));
    all
}

/// Returns a remark about a flow if its slowest path has few round trips in the measured time, or if its slow start
/// takes much of this time.
fn too_short(scenario: &Scenario, name: &str, flow: &Flow, counted: f64) -> Option<String> {
    let of = |(path, way): (&String, &crate::scenario::Path)| {
        let links = scenario.way(&flow.from, &flow.to, &way.via).ok()?;
        Some((path.clone(), round_trip(scenario, &links), rate(scenario, &links)))
    };
    let paths: Vec<_> = flow.paths.iter().filter_map(of).collect();
    let (path, slowest, _) = paths.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if *slowest > 0.0 && counted < ROUND_TRIPS * slowest {
        return Some(format!(
            "flow {name}: the time that counts, {}, has {:.1} round trips of path {path} ({}); let run.time be longer",
            written(counted),
            counted / slowest,
            written(*slowest)
        ));
    }
    if !matches!(flow.app, App::Bulk { .. } | App::Finite { .. }) {
        return None;
    }
    let start =
        paths.iter().filter_map(|(_, trip, rate)| Some(slow_start(*trip, (*rate)?))).fold(0.0, f64::max);
    let inside = start - scenario.run.warmup.as_secs_f64();
    (inside > SLOW_START * counted).then(|| {
        format!(
            "flow {name}: slow start takes about {}, and run.warmup is {}: much of the counted time is not in steady state",
            written(start),
            written(scenario.run.warmup.as_secs_f64())
        )
    })
}

/// Returns a remark if the scenario declares losses or outages, but none of them occurred in the runs.
fn nothing_failed(scenario: &Scenario, summary: &Summary) -> Option<String> {
    let directions = || scenario.links.values().flat_map(|Link { forward, reverse, .. }| [forward, reverse]);
    let may_fail = directions().any(|one| !one.loss.is_empty() || !one.down.is_empty());
    let stats =
        summary.links.values().flat_map(|directions| directions.values()).flat_map(|one| one.values());
    let of =
        |name: &str, stats: &super::LinkStats| stats.metrics.get(name).is_some_and(|stat| stat.nonzero > 0);
    let failed = stats.into_iter().any(|one| of("lost_random_packets", one) || of("lost_down_packets", one));
    (may_fail && !failed && !summary.links.is_empty()).then(|| {
        "no packet was lost at random or at a link that was down within the time that counts, in any run: the \
         scenario's losses and outages had no effect"
            .to_owned()
    })
}

/// Returns a remark if the mean goodput of a flow has too wide an interval. The remark names the flow with the widest
/// interval.
fn too_few(summary: &Summary) -> Option<String> {
    let of_flow = |(flow, schemes): (&String, &super::By<super::FlowStats>)| {
        let known = |(scheme, stats): (&String, &super::FlowStats)| {
            let stat = stats.metrics.get("goodput_bps")?;
            Some((width(stat)?, flow.clone(), scheme.clone(), stat.n))
        };
        schemes.iter().filter_map(known).collect::<Vec<_>>()
    };
    // A single flow of several equal flows has no separate row.
    let shown = |(flow, _): &(&String, &super::By<super::FlowStats>)| !summary.is_one_of_several(flow);
    let all = summary.flows.iter().filter(shown).flat_map(of_flow);
    let (width, flow, scheme, n) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    if width <= WIDTH {
        return None;
    }
    // Half the width decreases with the square root of the number of runs.
    let needed = ((n as f64) * (width / WIDTH) * (width / WIDTH)).ceil().max(FEWEST as f64);
    Some(format!(
        "flow {flow}, {scheme}: {n} runs give the mean goodput within ±{:.0} %; about {needed:.0} would give it within ±{:.0} %",
        width * 100.0,
        WIDTH * 100.0
    ))
}

/// Half the width of the mean's interval as a share of the mean.
fn width(stat: &Stat) -> Option<f64> {
    stat.ci95.filter(|_| stat.mean > 0.0).map(|half| half / stat.mean)
}

/// Returns the duration of slow start in seconds. The window doubles in each round trip, from the first window to the
/// number of bytes that the path holds.
fn slow_start(round_trip: f64, rate_bps: f64) -> f64 {
    round_trip * libm::log2((rate_bps * round_trip / 8.0 / FIRST_WINDOW).max(1.0))
}

/// Longest round-trip time in seconds if all queues are empty. The return path is assumed to have the same delay.
fn round_trip(scenario: &Scenario, way: &[Hop]) -> f64 {
    let delay = |hop: &Hop| {
        link(scenario, hop).map_or(0.0, |link| longest(&link.forward.delay).max(longest(&link.reverse.delay)))
    };
    2.0 * way.iter().map(delay).sum::<f64>()
}

/// Least constant rate of the links of a route.
fn rate(scenario: &Scenario, way: &[Hop]) -> Option<f64> {
    let of = |hop: &Hop| match (hop, link(scenario, hop)) {
        (Hop::Link { reverse, .. }, Some(link)) => {
            match if *reverse { &link.reverse.rate } else { &link.forward.rate } {
                LinkRate::Number(Number::Constant(rate)) => Some(*rate),
                _ => None,
            }
        }
        _ => None,
    };
    way.iter().filter_map(of).min_by(f64::total_cmp)
}

fn link<'a>(scenario: &'a Scenario, hop: &Hop) -> Option<&'a Link> {
    match hop {
        Hop::Link { link, .. } => scenario.links.get(link),
        Hop::Radio { .. } => None,
    }
}

/// Returns the greatest value of a delay. For a distribution, returns the mean. Traces are not examined.
fn longest(delay: &Number) -> f64 {
    match delay {
        Number::Constant(value) => *value,
        Number::Uniform { high, .. } => *high,
        Number::Steps(steps) => steps.iter().map(|(_, value)| *value).fold(0.0, f64::max),
        Number::Drawn { law, within, .. } => law.within(*within, 0.0).mean(),
        Number::Caused { number, .. } => longest(number),
        Number::Trace { .. } | Number::Traces { .. } => 0.0,
    }
}

fn written(seconds: f64) -> String {
    format!("{:?}", Duration::from_millis((seconds * 1e3).round() as u64))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::result::tests::{flow, run, scenario as name};
    use crate::result::{RunResult, Subject};

    fn told(run_keys: &str, app: &str, link: &str, runs: &[RunResult]) -> Vec<String> {
        let text = format!(
            "run = {{ {run_keys} }}\nnodes = {{ a = {{}}, b = {{}} }}\n\
             links.x = {{ from = \"a\", to = \"b\", rate = \"10 Mbit/s\", delay = \"100 ms\"{link} }}\n\
             [flows.f]\nfrom = \"a\"\nto = \"b\"\napp = {{ {app} }}\npaths.p = {{ via = [\"x\"] }}\n"
        );
        let scenario = crate::scenario::parse(&text, "test.toml", Path::new(""), &[]).unwrap();
        remarks(&scenario, &Summary::of(name(), "1", 1, runs))
    }

    const VIDEO: &str = "kind = \"video\", rate = \"1 Mbit/s\"";

    #[test]
    fn few_round_trips_and_slow_start_are_told() {
        let short = told("time = \"2.2 s\", warmup = \"1 s\"", VIDEO, "", &[]);
        assert_eq!(short.len(), 1, "{short:?}");
        assert!(short[0].contains("1.2s, has 6.0 round trips of path p (200ms)"), "{short:?}");
        assert!(told("time = \"3 s\", warmup = \"1 s\"", VIDEO, "", &[]).is_empty());
        // At 10 Mbit/s, 200 ms correspond to 57 first windows. This takes 5.8 doublings of 200 ms each.
        let start = told("time = \"10 s\"", "kind = \"bulk\"", "", &[]);
        assert!(start.len() == 1 && start[0].contains("slow start takes about 1.165"), "{start:?}");
        assert!(told("time = \"10 s\", warmup = \"1 s\"", "kind = \"bulk\"", "", &[]).is_empty());
    }

    #[test]
    fn losses_and_outages_that_had_no_effect_are_told() {
        let of = |lost: f64| {
            let link = Subject::Link { link: "x".into(), direction: "forward".into() };
            let runs = [run("a", 1, &[(link, "lost_random_packets", lost)])];
            told("time = \"10 s\"", VIDEO, ", loss.uniform.rate = 0.001", &runs).len()
        };
        assert_eq!([of(0.0), of(1.0)], [1, 0]);
    }

    /// The goodputs are 1 and 3, and their mean is 2. The half width of its interval is t(1) · √2 / √2 = 12.7, which is
    /// 635 % of the mean. The required number of runs is 2 · (6.353 / 0.05)².
    #[test]
    fn the_runs_that_a_mean_needs_are_told() {
        let of = |values: &[f64]| {
            let runs =
                values.iter().zip(1..).map(|(&v, seed)| run("a", seed, &[(flow("f"), "goodput_bps", v)]));
            told("time = \"10 s\"", VIDEO, "", &runs.collect::<Vec<_>>())
        };
        let few = of(&[1.0, 3.0]);
        assert_eq!(
            few,
            ["flow f, a: 2 runs give the mean goodput within ±635 %; about 32290 would give it within ±5 %"]
        );
        assert!(of(&[1.0, 1.0, 1.0]).is_empty() && of(&[1.0]).is_empty());
    }
}
