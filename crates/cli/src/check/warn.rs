//! What is probably not meant.

use super::facts::{Facts, FlowFacts, LinkFacts};
use crate::show::{bits_per_s, bytes, percent};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use strandcast_sim::scenario::Scenario;

/// A queue that holds more is rather a mistake.
const LONG_QUEUE: Duration = Duration::from_secs(1);
/// So much loss stops most schemes; a little less than said, for rounding.
const HEAVY_LOSS: f64 = 0.2 - 1e-9;

/// One line each.
pub(super) fn warnings(scenario: &Scenario, facts: &Facts) -> Vec<String> {
    let mut found = queues(&facts.flows);
    for flow in &facts.flows {
        buffer(flow, &mut found);
        shared(flow, &mut found);
        losses(flow, &mut found);
        demand(flow, &mut found);
        times(scenario, flow, &mut found);
    }
    found
}

/// Once a link, however many paths pass it.
fn queues(flows: &[FlowFacts]) -> Vec<String> {
    let paths = flows.iter().flat_map(|flow| &flow.paths);
    let links: BTreeMap<&str, &LinkFacts> = paths
        .flat_map(|path| path.out.iter().chain(&path.back))
        .map(|link| (link.name.as_str(), link))
        .collect();
    let long =
        links.values().filter_map(|link| Some((link, link.queue?))).filter(|(_, queue)| *queue > LONG_QUEUE);
    let line = |(link, queue): (&&LinkFacts, Duration)| {
        let (name, seconds) = (&link.name, queue.as_secs_f64());
        format!(
            "link {name}: its queue holds {seconds:.1} s of packets; nothing is lost before delays are that long"
        )
    };
    long.map(line).collect()
}

fn buffer(flow: &FlowFacts, found: &mut Vec<String>) {
    let Some(buffer) = flow.receive_buffer else { return };
    let needed: f64 = flow.used().filter_map(|path| path.bdp_bytes()).sum();
    if (buffer as f64) < needed {
        let (name, buffer, needed) = (&flow.name, bytes(buffer), bytes(needed as u64));
        found.push(format!(
            "flow {name}: its receive buffer of {buffer} is less than what its paths hold ({needed}): it cannot fill them"
        ));
    }
}

fn shared(flow: &FlowFacts, found: &mut Vec<String>) {
    let mut paths_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in flow.used() {
        let links: BTreeSet<&str> = path.out.iter().map(|link| link.name.as_str()).collect();
        links.into_iter().for_each(|link| paths_of.entry(link).or_default().push(&path.name));
    }
    for (link, paths) in paths_of.iter().filter(|(_, paths)| paths.len() > 1) {
        found.push(format!("flow {}: paths {} share link {link}", flow.name, paths.join(", ")));
    }
}

fn losses(flow: &FlowFacts, found: &mut Vec<String>) {
    for path in flow.paths.iter().filter(|path| path.loss >= HEAVY_LOSS) {
        let (flow, path, loss) = (&flow.name, &path.name, percent(path.loss));
        found.push(format!("flow {flow}: path {path} loses {loss} of its packets at random"));
    }
}

fn demand(flow: &FlowFacts, found: &mut Vec<String>) {
    let rates: Option<Vec<f64>> = flow.used().map(|path| path.rate_bps()).collect();
    let (Some(offered), Some(rates)) = (flow.offered_bps, rates) else { return };
    let wire = offered * f64::from(flow.packet) / f64::from(flow.payload);
    let carried: f64 = rates.iter().sum();
    if wire > carried {
        let (name, wire, carried) = (&flow.name, bits_per_s(wire), bits_per_s(carried));
        found.push(format!("flow {name}: it sends {wire} with headers, and its paths carry {carried}"));
    }
}

fn times(scenario: &Scenario, flow: &FlowFacts, found: &mut Vec<String>) {
    let (run, name) = (&scenario.run, &flow.name);
    if flow.from >= run.time {
        found.push(format!("flow {name}: it begins when the run has ended"));
    } else if flow.to <= run.warmup {
        found.push(format!("flow {name}: it ends before results count (run.warmup)"));
    }
    for (path, said) in &scenario.flows[name].paths {
        if said.join.is_some_and(|join| join >= flow.to) {
            found.push(format!("flow {name}: path {path} joins when the flow has ended"));
        }
    }
}
