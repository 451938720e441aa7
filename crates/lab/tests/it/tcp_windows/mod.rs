//! Congestion windows in whole TCP and MPTCP connections, held to the closed forms of their RFCs and papers.

mod both_paths;
mod curve;
mod fairness;
mod multipath;
mod utilisation;

use std::path::Path;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::{self, Scenario};
use strandcast_testing::lab;

/// A scenario between the hosts `a` and `b`.
fn between_two_hosts(text: &str) -> Scenario {
    let text = format!("[nodes.a]\n[nodes.b]\n{text}");
    scenario::parse(&text, "test", Path::new("."), &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A link from `a` to `b` with a round trip of `rtt_ms` for packets of 1500 bytes when nothing waits.
fn link(name: &str, mbps: f64, rtt_ms: f64, queue: u32) -> String {
    let delay_ms = (rtt_ms - 1500.0 * 8.0 / (mbps * 1e3)) / 2.0;
    format!(
        "[links.{name}]\nfrom = 'a'\nto = 'b'\nrate = '{mbps} Mbit/s'\ndelay = '{delay_ms} ms'\n\
         queue.limit = '{queue} packets'\n"
    )
}

/// A metric of forward direction of a link.
fn of_link(result: &RunResult, link: &str, name: &str) -> f64 {
    let subject = Subject::Link { link: link.into(), direction: "forward".into() };
    lab::metric(result, &subject, name)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
