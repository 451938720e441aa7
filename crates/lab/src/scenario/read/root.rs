//! The whole file.

use std::collections::BTreeMap;

use super::{cross, flow, link};
use crate::scenario::model::{Host, Node, Run, Scenario};
use crate::scenario::route::Routes;
use crate::scenario::table::{Read, Table, named};

/// The scenario that a file's tables describe.
pub(in crate::scenario) fn scenario(root: &Table<'_>) -> Read<Scenario> {
    let given = ["nodes", "links", "flows", "cross"].into_iter().any(|name| root.has(name));
    if !given {
        let mend = "give [nodes.*], [links.*] and at least one [flows.*]";
        return Err(root.error(format!("the scenario is empty; {mend}")));
    }
    let title = root.need("title")?.text()?;
    let run = run(&root.inner("run")?)?;
    let host = Host { overhead: root.inner("host")?.need("overhead")?.switch()? };
    let nodes = root.each("nodes")?.into_iter().map(|(name, _)| (name, Node::default())).collect();
    let mut scenario = Scenario {
        title,
        run,
        host,
        nodes,
        links: BTreeMap::new(),
        flows: BTreeMap::new(),
        cross: BTreeMap::new(),
    };
    scenario.links = named(root.each("links")?, |table| link::link(&table, &scenario.nodes))?;
    let flows = root.kinds("flows")?.into_iter().map(|(name, kind, table)| (name, (kind, table))).collect();
    let routes = Routes::of(&scenario.links);
    let flows = named(flows, |(kind, table)| flow::flow(&table, kind, &scenario, &routes))?;
    let cross = named(root.each("cross")?, |table| cross::cross(&table, &scenario))?;
    if flows.is_empty() && cross.is_empty() {
        return Err(root.error("there is no traffic; give at least one [flows.*]"));
    }
    Ok(Scenario { flows, cross, ..scenario })
}

fn run(table: &Table<'_>) -> Read<Run> {
    let run = Run {
        time: table.need("time")?.time()?,
        warmup: table.need("warmup")?.time()?,
        seed: table.need("seed")?.whole()?,
        runs: table.need("runs")?.whole()? as u32,
        series: table.maybe("series").map(|item| item.time()).transpose()?,
    };
    if run.seed > i64::MAX as u64 - u64::from(run.runs - 1) {
        let message = format!(
            "the last of {} runs would have a seed above {}; take a smaller one, or fewer runs",
            run.runs,
            i64::MAX
        );
        return Err(table.error_at("seed", message));
    }
    if run.warmup >= run.time {
        let message =
            format!("warmup takes {:?} of a run of {:?}; let it be shorter than time", run.warmup, run.time);
        return Err(table.error_at("warmup", message));
    }
    Ok(run)
}
