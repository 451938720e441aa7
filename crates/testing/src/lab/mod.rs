//! The schemes of this repository, and scenarios that tests build in code.

pub mod contest;
pub mod generator;

use core::time::Duration;
use std::collections::BTreeMap;

use strandcast_lab::result::{RunResult, Subject};
use strandcast_lab::scenario::*;
use strandcast_lab::simulation::{RunOptions, Simulation};
pub use strandcast_schemes::Presets;

pub fn direction(rate: f64, delay: f64, queue: u64) -> Direction {
    Direction {
        rate: LinkRate::Number(Number::Constant(rate)),
        delay: Number::Constant(delay),
        keep_order: true,
        policer: None,
        queue: Queue::drop_tail(QueueLimit::Packets(queue)),
        loss: BTreeMap::new(),
        arq: None,
        reorder: None,
        duplicate: 0.0,
        corrupt: 0.0,
        down: BTreeMap::new(),
    }
}

pub fn link(from: &str, to: &str, rate: f64, delay: f64, queue: u64) -> Link {
    let d = direction(rate, delay, queue);
    let (forward, reverse) = (d.clone(), d);
    let (wireless, spares_background) = (false, false);
    Link { from: from.into(), to: to.into(), forward, reverse, wireless, spares_background }
}

pub fn flow(transport: Transport, app: App, via: &[&[&str]]) -> Flow {
    let paths = via.iter().enumerate().map(|(i, via)| {
        let via: Vec<String> = via.iter().map(|s| (*s).to_owned()).collect();
        let back = via.iter().rev().cloned().collect();
        (format!("p{i}"), Path { via, back, join: None, leave: None })
    });
    Flow {
        ends: Ends::Given,
        from: "a".into(),
        to: "b".into(),
        transport,
        app,
        fits: false,
        start: Number::Constant(0.0),
        stop: None,
        count: 1,
        compare: false,
        paths: paths.collect(),
        primary: None,
    }
}

pub fn scenario(links: &[(&str, Link)], flows: Vec<(&str, Flow)>) -> Scenario {
    let nodes = ["a", "r", "s", "b"].map(|n| (n.to_owned(), Node::default()));
    Scenario {
        title: "test".into(),
        run: Run {
            time: Duration::from_secs(60),
            warmup: Duration::from_secs(10),
            seed: 1,
            runs: 1,
            series: None,
        },
        host: Host { overhead: true },
        nodes: nodes.into_iter().collect(),
        links: links.iter().map(|(n, l)| ((*n).to_owned(), l.clone())).collect(),
        radio: BTreeMap::new(),
        flows: flows.into_iter().map(|(n, f)| (n.to_owned(), f)).collect(),
        cross: BTreeMap::new(),
    }
}

pub fn tcp(cc: &str) -> Transport {
    Transport::Tcp { cc: cc.into(), tcp: rfc_tcp() }
}

pub fn mptcp(cc: &str) -> Transport {
    Transport::Mptcp { cc: cc.into(), scheduler: "lowest-rtt".into(), tcp: rfc_tcp() }
}

pub fn rfc_tcp() -> Tcp {
    Tcp { profile: "rfc".into(), set: BTreeMap::new() }
}

/// Returns an SCTP transport without UDP. The packets of this transport have 1500 bytes.
pub fn sctp(scheme: &str) -> Transport {
    let profile = sctp_profile("rfc").expect("there is such a profile");
    let sctp = Sctp { mtu: 1500, encapsulation: 20, ..profile };
    Transport::Sctp { scheme: scheme.into(), sctp }
}

pub fn run(scenario: &Scenario, seed: u64) -> RunResult {
    let mut simulation = Simulation::new(scenario, &Presets, seed, None).unwrap();
    simulation.run(RunOptions::default(), &mut ()).expect("the run is not interrupted")
}

/// Returns a metric of a flow.
pub fn of_flow(result: &RunResult, flow: &str, name: &str) -> f64 {
    metric(result, &Subject::Flow(flow.into()), name)
}

pub fn metric(result: &RunResult, subject: &Subject, name: &str) -> f64 {
    let found = result.metrics.iter().find(|m| m.subject == *subject && m.name == name);
    found.unwrap_or_else(|| panic!("{subject:?} has no {name}: {:?}", result.metrics)).value
}

pub fn goodput(result: &RunResult, flow: &str) -> f64 {
    metric(result, &Subject::Flow(flow.into()), "goodput_bps")
}
