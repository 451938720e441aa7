//! Goodput of flows against the capacity of their links.

use std::collections::BTreeMap;
use std::path::Path;

use strandcast_lab::result::{Metric, RunResult, Subject};
use strandcast_lab::scenario::{self, Hop, Scenario};
use strandcast_testing::lab::{metric, run};

use crate::golden::{scenarios, short};

/// Upper bound of the rate of a radio's station, bit/s, because radios have no configured rate.
const RADIO_BPS: f64 = 54e6;

/// Mean capacity of each link in its better direction, bit/s. Links of infinite rate are left out.
fn capacities(result: &RunResult) -> BTreeMap<&str, f64> {
    let of = |wanted: &str| -> BTreeMap<(&str, &str), f64> {
        let named = result.metrics.iter().filter(|metric| metric.name == wanted);
        let of_link = named.filter_map(|metric| match &metric.subject {
            Subject::Link { link, direction } => Some(((link.as_str(), direction.as_str()), metric.value)),
            _ => None,
        });
        of_link.collect()
    };
    let (served, used) = (of("served_bps"), of("utilisation"));
    let mut all = BTreeMap::new();
    for ((link, direction), used) in used {
        let capacity = if used > 0.0 { served[&(link, direction)] / used } else { 0.0 };
        let most = all.entry(link).or_insert(0.0_f64);
        *most = most.max(capacity);
    }
    all
}

/// Each flow with its goodput and with the capacity of the links of its paths. Equal flows also appear together.
fn against_capacity<'a>(scenario: &'a Scenario, result: &RunResult) -> Vec<(&'a str, f64, f64)> {
    let capacities = capacities(result);
    let of = |name: &str| match scenario.radio.contains_key(name) {
        true => RADIO_BPS,
        false => capacities.get(name).copied().unwrap_or(f64::INFINITY),
    };
    let mut all = Vec::new();
    for (name, flow) in &scenario.flows {
        let path = |via: &[String]| via.iter().map(|link| of(link)).fold(f64::INFINITY, f64::min);
        let capacity = flow.paths.values().map(|way| path(&way.via)).sum();
        let goodput = |m: &&Metric| m.name == "goodput_bps" && m.subject == Subject::Flow(name.clone());
        if let Some(metric) = result.metrics.iter().find(goodput) {
            all.push((name.as_str(), metric.value, capacity));
        }
    }
    all
}

/// Each direction of a link, with the goodput of all flows over it and with its capacity.
fn over_links(scenario: &Scenario, result: &RunResult) -> Vec<(String, f64, f64)> {
    let goodput = |subject: Subject| {
        let found = result.metrics.iter().find(|m| m.name == "goodput_bps" && m.subject == subject);
        found.map(|metric| metric.value)
    };
    let mut sums: BTreeMap<(String, bool), f64> = BTreeMap::new();
    for (name, flow) in &scenario.flows {
        for (path, way) in &flow.paths {
            let of_path = goodput(Subject::Path { flow: name.clone(), path: path.clone() });
            let of_flow = || goodput(Subject::Flow(name.clone())).filter(|_| flow.paths.len() == 1);
            let (Some(value), Ok(hops)) =
                (of_path.or_else(of_flow), scenario.way(&flow.from, &flow.to, &way.via))
            else {
                continue;
            };
            for hop in hops {
                if let Hop::Link { link, reverse } = hop {
                    *sums.entry((link, reverse)).or_default() += value;
                }
            }
        }
    }
    let of_direction = |wanted: &str, link: &str, direction: &str| {
        let subject = Subject::Link { link: link.into(), direction: direction.into() };
        let found = result.metrics.iter().find(|m| m.name == wanted && m.subject == subject);
        found.map(|metric| metric.value)
    };
    let judged = sums.into_iter().filter_map(|((link, reverse), sum)| {
        let direction = if reverse { "reverse" } else { "forward" };
        let used = of_direction("utilisation", &link, direction).filter(|used| *used > 0.0)?;
        let served = of_direction("served_bps", &link, direction)?;
        Some((format!("{link} {direction}"), sum, served / used))
    });
    judged.collect()
}

#[test]
fn no_flow_of_any_scenario_gets_more_than_its_links_carry() {
    let (mut judged, mut links) = (0, 0);
    for (name, path) in scenarios() {
        let scenario = short(&path);
        let result = run(&scenario, 1);
        for (flow, goodput, capacity) in against_capacity(&scenario, &result) {
            assert!(goodput <= capacity, "{name}, {flow}: {goodput} of {capacity} bit/s");
            judged += usize::from(goodput > 0.0 && capacity.is_finite());
        }
        for (link, sum, capacity) in over_links(&scenario, &result) {
            assert!(sum <= capacity, "{name}, link {link}: {sum} of {capacity} bit/s");
            links += usize::from(sum > 0.0);
        }
    }
    assert!(judged > 20 && links > 20, "{judged} flows over links with a rate, {links} directions");
}

/// 20 flows begin within the first 18 s of a run of 20 s. At times a flow has the link for itself.
#[test]
fn flows_that_begin_one_after_the_other_get_no_more_than_the_link_carries() {
    let text = r#"
        run = { time = "20 s" }
        nodes = { a = {}, b = {} }
        links.x = { from = "a", to = "b", rate = "10 Mbit/s", delay = "10 ms" }
        [flows.f]
        from = "a"
        to = "b"
        transport = "tcp"
        count = 20
        start = { uniform = ["0 s", "18 s"], every = "run" }
        paths.x = { via = ["x"] }
    "#;
    let scenario = scenario::parse(text, "test.toml", Path::new(""), &[]).expect("it is a scenario");
    let result = run(&scenario, 1);
    let [(_, goodput, capacity)] = against_capacity(&scenario, &result)[..] else { panic!("one flow") };
    assert!((9e6..=capacity).contains(&goodput), "{goodput} of {capacity} bit/s");
    let bytes = metric(&result, &Subject::Flow("f".into()), "delivered_bytes");
    assert!(bytes * 8.0 / 20.0 <= goodput, "the flows together began after the run did");
}
