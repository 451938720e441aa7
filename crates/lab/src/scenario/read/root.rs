//! Reads the whole file.

use std::collections::BTreeMap;

use super::{cross, flow, link, radio};
use crate::scenario::keys::root::{HOST, ROOT, RUN};
use crate::scenario::model::{Host, Run, Scenario};
use crate::scenario::route::Routes;
use crate::scenario::table::{Read, Table, named};

/// Builds the scenario that a file's tables describe.
pub(in crate::scenario) fn scenario(root: &Table<'_>) -> Read<Scenario> {
    let given = root.has(&ROOT.nodes)
        || root.has(&ROOT.links)
        || root.has(&ROOT.radio)
        || root.has(&ROOT.flows)
        || root.has(&ROOT.cross);
    if !given {
        let mend = "give [nodes.*], [links.*] and at least one [flows.*]";
        return Err(root.error(format!("the scenario is empty; {mend}")));
    }
    let title = root.get(&ROOT.title)?;
    let run = run(&root.inner(&ROOT.run)?)?;
    let host = Host { overhead: root.inner(&ROOT.host)?.get(&HOST.overhead)? };
    let nodes = named(root.each(&ROOT.nodes)?, |table| radio::node(&table))?;
    let mut scenario = Scenario {
        title,
        run,
        host,
        nodes,
        links: BTreeMap::new(),
        radio: BTreeMap::new(),
        flows: BTreeMap::new(),
        cross: BTreeMap::new(),
    };
    scenario.radio = radio::radios(root, &mut scenario.nodes)?;
    scenario.links = named(root.each(&ROOT.links)?, |table| link::link(&table, &scenario.nodes))?;
    radio::names_differ(root, &scenario)?;
    let routes = Routes::of(&scenario);
    let flows =
        named(root.kinds(&ROOT.flows)?, |(kind, table)| flow::flow(&table, kind, &scenario, &routes))?;
    let cross = named(root.each(&ROOT.cross)?, |table| cross::cross(&table, &scenario))?;
    if flows.is_empty() && cross.is_empty() {
        return Err(root.error("there is no traffic; give at least one [flows.*]"));
    }
    Ok(Scenario { flows, cross, ..scenario })
}

fn run(table: &Table<'_>) -> Read<Run> {
    let run = Run {
        time: table.get(&RUN.time)?,
        warmup: table.get(&RUN.warmup)?,
        seed: table.get(&RUN.seed)?,
        runs: table.get(&RUN.runs)?,
        series: table.maybe(&RUN.series)?,
    };
    if run.seed > i64::MAX as u64 - u64::from(run.runs - 1) {
        let message = format!(
            "the last of {} runs would have a seed above {}; take a smaller one, or fewer runs",
            run.runs,
            i64::MAX
        );
        return Err(table.error_at(&RUN.seed.key, message));
    }
    if run.warmup >= run.time {
        let message = format!(
            "`warmup` is {:?} and `time` is {:?}; `warmup` must be shorter than `time`",
            run.warmup, run.time
        );
        return Err(table.error_at(&RUN.warmup.key, message));
    }
    Ok(run)
}
