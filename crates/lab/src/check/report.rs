//! The output of `check`.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use strandcast_keys::catalog::Catalog;
use strandcast_keys::text::printable;
use strandcast_keys::text::{bits_per_s, bytes, percent};

use super::cost::{Cost, cost};
use super::facts::{Facts, FlowFacts, LinkFacts, PathFacts, RadioFacts, RadioHops, facts};
use super::share::rates;
use super::warn::Warning;
use crate::scenario::{self, Scenario, hash};
use crate::simulation::BuildError;

/// Name of the JSON schema.
const SCHEMA: &str = "strandcast-check-1";

/// The analysis of a scenario before a run.
#[derive(Clone, Debug)]
pub struct Check {
    title: String,
    hash: String,
    runs: u32,
    facts: Facts,
    /// Rates by flow and path, bit/s at IP level.
    rates: Vec<Vec<f64>>,
    /// Estimated cost of one run.
    cost: Cost,
    /// Warnings. Warnings about single numbers come first, in the order in which the numbers were read. Warnings about
    /// the network and its flows follow.
    pub warnings: Vec<Warning>,
}

/// Analyses a scenario. `noted` are the warnings of [`Document::read`]. `scheme` replaces the scheme of the compared
/// flows.
///
/// # Errors
/// The scenario cannot be built.
///
/// [`Document::read`]: crate::scenario::Document::read
pub fn check(
    scenario: &Scenario,
    noted: &[scenario::Warning],
    catalog: &dyn Catalog,
    scheme: Option<&str>,
) -> Result<Check, BuildError> {
    let facts = facts(scenario, catalog, scheme)?;
    let rates = rates(&facts);
    let mut warnings: Vec<Warning> = noted.iter().map(Warning::from).collect();
    warnings.extend(super::warn::warnings(scenario, &facts));
    Ok(Check {
        title: scenario.title.clone(),
        hash: hash(scenario),
        runs: scenario.run.runs,
        cost: cost(&facts, &rates),
        facts,
        rates,
        warnings,
    })
}

/// Returns the warnings of [`check`] for a scenario that runs with each of `schemes`. If `schemes` is empty, the
/// scenario runs with its own schemes. If only some of the schemes cause a warning, the warning names them.
///
/// # Errors
/// The scenario cannot be built with a scheme. The error names the scheme.
pub fn warnings(
    scenario: &Scenario,
    noted: &[scenario::Warning],
    catalog: &dyn Catalog,
    schemes: &[String],
) -> Result<Vec<Warning>, (Option<String>, BuildError)> {
    let of = |scheme: Option<&str>| {
        let checked = check(scenario, noted, catalog, scheme);
        checked.map(|checked| checked.warnings).map_err(|error| (scheme.map(str::to_owned), error))
    };
    if schemes.is_empty() {
        return of(None);
    }
    let mut found: Vec<(Warning, Vec<&str>)> = Vec::new();
    for scheme in schemes {
        for warning in of(Some(scheme))? {
            match found.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, of)) => of.push(scheme),
                None => found.push((warning, vec![scheme])),
            }
        }
    }
    let named = |(mut warning, of): (Warning, Vec<&str>)| {
        if of.len() < schemes.len() {
            warning.place = format!("{} with {}", warning.place, of.join(", "));
        }
        warning
    };
    Ok(found.into_iter().map(named).collect())
}

impl Check {
    /// The analysis as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |words: String| {
            text.push_str(&words);
            text.push('\n');
        };
        line(printable(&self.title).into_owned());
        for radio in &self.facts.radios {
            line(String::new());
            line(printable(&radio_line(radio)).into_owned());
        }
        for (flow, rates) in self.facts.flows.iter().zip(&self.rates) {
            line(String::new());
            line(printable(&head(flow)).into_owned());
            flow.coding.iter().for_each(|coding| line(coding.line(&flow.load())));
            for (path, rate) in flow.paths.iter().zip(rates) {
                path_lines(path, *rate).into_iter().for_each(&mut line);
            }
        }
        let (runs, cost) = (self.runs, self.cost);
        let each = if runs == 1 { String::new() } else { format!(" for each of {runs} runs") };
        let frames =
            if cost.frames > 0.0 { format!(", {} frames", round(cost.frames)) } else { String::new() };
        line(format!(
            "\nabout {} data packets, {} packet-hops{frames}, {} of processor time{each}",
            round(cost.packets),
            round(cost.packet_hops),
            about(cost.time)
        ));
        for warning in &self.warnings {
            line(printable(&format!("warning: {warning}")).into_owned());
        }
        text
    }

    /// The analysis as JSON, schema `strandcast-check-1`.
    pub fn json(&self) -> Value {
        let flows = self.facts.flows.iter().zip(&self.rates);
        let flows = flows.map(|(flow, rates)| (flow.name.clone(), flow_json(flow, rates)));
        let cost = self.cost;
        json!({
            // Version of this format: `strandcast-check-1`.
            "schema": SCHEMA,
            // `title` and `hash` of the scenario.
            "scenario": { "title": self.title, "hash": self.hash },
            // Flows by name.
            "flows": flows.collect::<serde_json::Map<_, _>>(),
            // Radios by name.
            "radios": self.facts.radios.iter().map(radio_json).collect::<serde_json::Map<_, _>>(),
            // Number of packets of a run.
            "packets": cost.packets.round(),
            // Number of frames of a run.
            "frames": cost.frames.round(),
            // Number of packets times hops.
            "packet_hops": cost.packet_hops.round(),
            // Processor time of a run.
            "run_time_s": cost.time.as_secs_f64(),
            // The warnings.
            "warnings": self.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

fn head(flow: &FlowFacts) -> String {
    let mut words = format!("flow {}", flow.name);
    if flow.count > 1 {
        let _ = write!(words, " ({} identical)", flow.count);
    }
    let _ = write!(words, ": {}", flow.transport);
    if !flow.scheme.is_empty() {
        let _ = write!(words, " {}", flow.scheme);
    }
    match (flow.offered_bps, flow.total_bytes) {
        (Some(rate), _) => write!(words, ", {} offered", bits_per_s(rate)),
        (None, Some(all)) => write!(words, ", {} in total", bytes(all)),
        (None, None) => write!(words, ", unlimited"),
    }
    .expect("memory takes any text");
    if let Some(buffer) = flow.receive_buffer {
        let _ = write!(words, ", receive buffer {}", bytes(buffer));
    }
    words
}

fn radio_line(radio: &RadioFacts) -> String {
    let RadioFacts { name, routing, stations, connected, mean_degree, .. } = radio;
    let connected = if *connected { "all connected" } else { "not all connected" };
    format!(
        "radio {name}: {routing}, {stations} stations, {connected}, {mean_degree:.1} neighbours on average"
    )
}

fn radio_json(radio: &RadioFacts) -> (String, Value) {
    let RadioFacts { name, routing, stations, connected, mean_degree, reuse } = radio;
    let value = json!({
        // Routing protocol.
        "routing": routing,
        // Number of stations.
        "stations": stations,
        // True if all stations can reach each other at the start.
        "connected": connected,
        // Number of neighbours of a station, on average.
        "mean_degree": mean_degree,
        // Number of stations that can transmit at once.
        "reuse": reuse,
    });
    (name.clone(), value)
}

/// Name of a link. For a radio, the name includes the number of hops: `air (4 hops)`.
fn link_name(link: &LinkFacts) -> String {
    match &link.radio {
        None => link.name.clone(),
        Some(RadioHops { range: (_, 0), .. }) => format!("{} (no way)", link.name),
        Some(RadioHops { range: (least, most), .. }) if least == most => {
            format!("{} ({least} hop{})", link.name, if *least == 1 { "" } else { "s" })
        }
        Some(RadioHops { hops, range: (least, most), .. }) => {
            format!("{} ({least} to {most} hops, {hops:.1} on average)", link.name)
        }
    }
}

fn path_lines(path: &PathFacts, rate: f64) -> Vec<String> {
    let names = |links: &[LinkFacts]| links.iter().map(link_name).collect::<Vec<_>>().join(" > ");
    let mut lines = vec![format!("  path {}: {}, back {}", path.name, names(&path.out), names(&path.back))];
    if path.is_cut() {
        lines.push("    no estimate: its ends cannot reach each other at the start".to_owned());
        return lines;
    }
    let mut words = format!("    RTT {}", ms(path.base_rtt));
    if let (Some(link), Some(bdp)) = (path.bottleneck(), path.bdp_bytes()) {
        let bottleneck = bits_per_s(link.rate_bps.unwrap_or_default());
        let _ = write!(words, ", bottleneck {} {bottleneck}, BDP {}", link.name, bytes(bdp as u64));
        match (link.queue, link.queue_packets) {
            (Some(queue), Some(packets)) => {
                let _ = write!(words, ", queue {} ({packets:.0} full packets)", ms(queue));
            }
            _ if link.radio.is_some() => words.push_str(" (an estimate, without other flows and collisions)"),
            _ => words.push_str(", unbounded queue"),
        }
    } else {
        words.push_str(", no link has a finite rate");
    }
    lines.push(format!("{words}, random loss {}", percent(path.loss)));
    lines.push(match path.spare {
        true => "    used when the primary path fails".to_owned(),
        false => format!("    about {} if all links are shared fairly", bits_per_s(rate)),
    });
    lines
}

fn link_json(link: &LinkFacts) -> Value {
    json!({
        // Name of the link.
        "link": link.name,
        // Its rate; null: unbounded.
        "rate_bps": link.rate_bps,
        // Length of its full queue in full packets.
        "queue_packets": link.queue_packets,
        // Time in its full queue.
        "queue_ms": link.queue.map(|d| d.as_secs_f64() * 1e3),
        // Hops on a radio; null on a link.
        "hops": link.radio.as_ref().map(|radio| radio.hops),
    })
}

fn path_json(path: &PathFacts, rate: f64) -> Value {
    json!({
        // Links from the sender to the receiver.
        "via": path.out.iter().map(link_json).collect::<Vec<_>>(),
        // Links of the return path, with the keys of a link of `via`.
        "back": path.back.iter().map(link_json).collect::<Vec<_>>(),
        // Round-trip time without queues.
        "base_rtt_ms": path.base_rtt.as_secs_f64() * 1e3,
        // Name of the slowest link.
        "bottleneck": path.bottleneck().map(|link| link.name.as_str()),
        // Its rate.
        "bottleneck_bps": path.rate_bps(),
        // Bandwidth-delay product.
        "bdp_bytes": path.bdp_bytes(),
        // Share of packets lost to loss models.
        "loss_ratio": path.loss,
        // Approximate rate if all links are shared fairly, at most the rate that the flow offers.
        "fair_bps": rate,
        // True if the path is used only when the primary path fails.
        "spare": path.spare,
    })
}

fn flow_json(flow: &FlowFacts, rates: &[f64]) -> Value {
    let paths = flow.paths.iter().zip(rates).map(|(path, rate)| (path.name.clone(), path_json(path, *rate)));
    json!({
        // Transport of the flow.
        "transport": flow.transport,
        // Its scheme.
        "scheme": flow.scheme,
        // Number of identical flows.
        "count": flow.count,
        // Length of a full packet.
        "packet_bytes": flow.packet,
        // Length of an acknowledgement.
        "ack_bytes": flow.ack,
        // Offered rate; null: unbounded.
        "offered_bps": flow.offered_bps,
        // Bytes in total; null: unbounded.
        "total_bytes": flow.total_bytes,
        // Size of the receive buffer.
        "receive_buffer_bytes": flow.receive_buffer,
        // Size of the send buffer.
        "send_buffer_bytes": flow.send_buffer,
        // Paths of the flow by name.
        "paths": paths.collect::<serde_json::Map<_, _>>(),
    })
}

/// Formats a time: `43.2 ms`.
fn ms(d: Duration) -> String {
    format!("{:.1} ms", d.as_secs_f64() * 1e3)
}

/// Rounds a number to two significant figures, which is the precision of the estimate.
fn round(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.1} billion", n / 1e9),
        n if n >= 1e6 => format!("{:.1} million", n / 1e6),
        n if n >= 1e3 => format!("{:.0} thousand", n / 1e3),
        n => format!("{n:.0}"),
    }
}

fn about(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 0.1 => "less than 0.1 s".to_owned(),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 600.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}
