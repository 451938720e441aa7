//! Warnings about probable mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use strandcast_keys::text::{bits_per_s, bytes, percent};

use super::facts::{Facts, FlowFacts, LinkFacts, PathFacts};
use super::share::random_bps;
use crate::scenario::{self, Scenario};

/// A setting that is valid but probably a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Place of the mistake, for example `net.toml:12: links.b.delay`, `--set links.b.delay=300: links.b.delay`, `link
    /// b`, `flow video`.
    pub place: String,
    /// Description of the mistake and its remedy.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl From<&scenario::Warning> for Warning {
    fn from(warning: &scenario::Warning) -> Self {
        Warning { place: warning.place(), message: warning.message() }
    }
}

/// Drain time of a full queue. If it is longer, the queue is probably a mistake.
const LONG_QUEUE: Duration = Duration::from_secs(1);
/// Share of lost packets at which most schemes no longer work, less a margin for rounding.
const HEAVY_LOSS: f64 = 0.2 - 1e-9;
/// Fraction of the rate that is possible if losses are independent. If bursts of losses reduce the rate below it, they
/// count as stalling the sender.
const STALLED: f64 = 0.5;

/// Warnings about the network and its flows. Single numbers are already checked when a scenario is read.
pub(super) fn warnings(scenario: &Scenario, facts: &Facts) -> Vec<Warning> {
    let mut found = queues(&facts.flows);
    for flow in &facts.flows {
        let mut say = |message: String| found.push(Warning { place: format!("flow {}", flow.name), message });
        buffers(flow, &mut say);
        shared(flow, &mut say);
        apart(flow, &mut say);
        losses(flow, &mut say);
        stalls(flow, &mut say);
        demand(flow, &mut say);
        times(scenario, flow, &mut say);
        flow.coding.iter().for_each(|coding| coding.warnings(&flow.load(), &mut say));
    }
    found
}

/// Callback that takes a warning about a flow.
type Say<'a> = &'a mut dyn FnMut(String);

/// Warnings about queues. There is one per link, whatever the number of paths.
fn queues(flows: &[FlowFacts]) -> Vec<Warning> {
    let paths = flows.iter().flat_map(|flow| &flow.paths);
    let links: BTreeMap<&str, &LinkFacts> = paths
        .flat_map(|path| path.out.iter().chain(&path.back))
        .map(|link| (link.name.as_str(), link))
        .collect();
    let long =
        links.values().filter_map(|link| Some((link, link.queue?))).filter(|(_, queue)| *queue > LONG_QUEUE);
    let line = |(link, queue): (&&LinkFacts, Duration)| {
        let (name, seconds) = (&link.name, queue.as_secs_f64());
        let message = format!(
            "its queue holds {seconds:.1} s of packets; no packet is dropped before delays reach that"
        );
        Warning { place: format!("link {name}"), message }
    };
    long.map(line).collect()
}

fn buffers(flow: &FlowFacts, say: Say<'_>) {
    let needed: f64 = flow.used().filter_map(|path| path.bdp_bytes()).sum();
    for (what, buffer) in [("receive", flow.receive_buffer), ("send", flow.send_buffer)] {
        let Some(buffer) = buffer.filter(|buffer| (*buffer as f64) < needed) else { continue };
        let (buffer, needed) = (bytes(buffer), bytes(needed as u64));
        say(format!(
            "its {what} buffer of {buffer} is less than the bandwidth-delay product of its paths ({needed}): it cannot fill them"
        ));
    }
    if flow.receive_buffer.is_some_and(|buffer| buffer as f64 >= needed) {
        held_up(flow, say);
    }
    if let (Some(message), Some(buffer)) = (flow.message, flow.receive_buffer)
        && u64::from(message) > buffer
    {
        let (message, buffer) = (bytes(message.into()), bytes(buffer));
        say(format!(
            "messages of {message} are longer than its receive buffer of {buffer}: they arrive by window probes, \
             or their association ends"
        ));
    }
}

/// Warns of a path that holds up the other paths. The repair of its losses takes longer than the receive buffer takes
/// to fill. If a path has an infinite rate, there is no warning.
fn held_up(flow: &FlowFacts, say: Say<'_>) {
    let used = || flow.used().filter(|path| !path.is_cut());
    let (Some(buffer), Some(slowest)) = (flow.receive_buffer, used().max_by_key(|path| path.base_rtt)) else {
        return;
    };
    let Some(carried) = used().map(PathFacts::rate_bps).sum::<Option<f64>>() else { return };
    if used().count() < 2 {
        return;
    }
    let rate = flow.offered_bps.map_or(carried, |offered| offered.min(carried));
    // A loss is detected after one round trip, and the retransmission takes another half round trip.
    let repaired = slowest.base_rtt * 3 / 2;
    let needed = rate / 8.0 * repaired.as_secs_f64();
    if needed > buffer as f64 {
        let (path, ms) = (&slowest.name, repaired.as_secs_f64() * 1e3);
        let (buffer, needed) = (bytes(buffer), bytes(needed as u64));
        say(format!(
            "its receive buffer of {buffer} holds less than what arrives until a loss on path {path} is repaired ({needed} \
             in {ms:.0} ms): each such loss stops all paths; unordered messages are delivered meanwhile, but fill it as well"
        ));
    }
}

fn shared(flow: &FlowFacts, say: Say<'_>) {
    let mut paths_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in flow.used() {
        let links: BTreeSet<&str> = path.out.iter().map(|link| link.name.as_str()).collect();
        links.into_iter().for_each(|link| paths_of.entry(link).or_default().push(&path.name));
    }
    for (link, paths) in paths_of.iter().filter(|(_, paths)| paths.len() > 1) {
        say(format!("paths {} share link {link}", paths.join(", ")));
    }
}

/// Warns if a source and a destination have no route over a radio at the start of the run. The reverse route needs no
/// check, because it uses the same stations.
fn apart(flow: &FlowFacts, say: Say<'_>) {
    let mut told = BTreeSet::new();
    for link in flow.paths.iter().flat_map(|path| &path.out) {
        let Some((radio, [from, to])) =
            link.radio.as_ref().and_then(|radio| Some((radio, radio.apart.first()?)))
        else {
            continue;
        };
        if !told.insert(&link.name) {
            continue;
        }
        let name = &link.name;
        let others = match radio.apart.len() - 1 {
            0 => String::new(),
            more => format!(" (and so for {more} more of its instances)"),
        };
        say(format!(
            "{from} cannot reach {to} at the start over radio {name}{others}; place its stations closer together, add some \
             between, or raise radio.{name}.medium.reception_range"
        ));
    }
}

fn losses(flow: &FlowFacts, say: Say<'_>) {
    for path in flow.paths.iter().filter(|path| path.loss >= HEAVY_LOSS) {
        let (path, loss) = (&path.name, percent(path.loss));
        say(format!("path {path} loses {loss} of its packets at random"));
    }
}

/// Warns of loss models whose state changes only with packets. Each timeout sends only one packet, and the next timeout
/// is twice as long.
fn stalls(flow: &FlowFacts, say: Say<'_>) {
    for path in flow.used().filter(|path| path.losses.by_packet()) {
        let independent = PathFacts { losses: path.losses.uncorrelated(), ..path.clone() };
        let (stalled, otherwise) = (random_bps(flow, path), random_bps(flow, &independent));
        if stalled < otherwise * STALLED {
            let (path, again) = (&path.name, percent(path.losses.after_loss(0.0)));
            say(format!(
                "path {path}: {again} of the packets after a lost one are lost as well, and only packets change that state: \
                 retransmission timeouts double meanwhile and stall the path at about {}; `by = \"time\"` lets a burst pass",
                bits_per_s(stalled)
            ));
        }
    }
}

fn demand(flow: &FlowFacts, say: Say<'_>) {
    if flow.used().all(PathFacts::is_cut) {
        return;
    }
    let rates: Option<Vec<f64>> = flow.used().map(|path| path.rate_bps()).collect();
    let (Some(offered), Some(rates)) = (flow.offered_bps, rates) else { return };
    let wire = offered * f64::from(flow.packet) / f64::from(flow.payload);
    let carried: f64 = rates.iter().sum();
    if wire > carried {
        let (wire, carried) = (bits_per_s(wire), bits_per_s(carried));
        say(format!("it sends {wire} with headers, and its paths carry {carried}"));
    }
}

fn times(scenario: &Scenario, flow: &FlowFacts, say: Say<'_>) {
    let (run, name) = (&scenario.run, &flow.name);
    if flow.from >= run.time {
        say("it starts after the end of the run".to_owned());
    } else if flow.to <= run.warmup {
        say("it ends before results are counted (run.warmup)".to_owned());
    }
    for (path, said) in &scenario.flows[name].paths {
        if said.join.is_some_and(|join| join >= flow.to) {
            say(format!("path {path} joins after the end of the flow"));
        }
    }
}
