//! Building a simulation from a scenario.

use strandcast_keys::catalog::Catalog;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_sim::net::{AgentId, FlowId, Network};

use super::Metrics;
use super::endpoints::FlowBuilder;
use super::error::BuildError;
use super::metrics::Metered;
use super::outages::outages;
use super::plan::{DirectedLinkInfo, Plan, ScheduledEvent};
use super::radios::{self, Pairs, RadioInfo};
use crate::result::meter::{FlowMeter, FlowSpec, LinkReading, RadioReading, ShareMeter, Window};
use crate::scenario::{Flow, Path, Scenario};

/// A scenario, built for one seed and one scheme.
#[derive(Debug)]
pub struct Simulation {
    pub(super) network: Network<Metrics>,
    /// Three times: the flows' time 0, the time from which results count, and the end of the run.
    pub(super) origin: Instant,
    pub(super) warm: Instant,
    pub(super) end: Instant,
    pub(super) seed: u64,
    pub(super) scheme: String,
    pub(super) flows: Vec<FlowInfo>,
    pub(super) wires: Vec<DirectedLinkInfo>,
    pub(super) radios: Vec<RadioInfo>,
    pub(super) outages: Vec<(Instant, ScheduledEvent)>,
    pub(super) first_stats: Vec<LinkReading>,
    pub(super) first_radio: Vec<RadioReading>,
}

/// A flow instance.
#[derive(Debug)]
pub(super) struct FlowInfo {
    pub name: String,
    pub paths: Vec<String>,
    /// The nodes at which the flow begins and ends.
    pub ends: [String; 2],
    pub sender: AgentId,
    pub receiver: AgentId,
}

impl Simulation {
    /// Builds `scenario` for one `seed`. `scheme` replaces the scheme of the compared flows.
    ///
    /// # Errors
    /// Returns errors of the catalog about a scheme, and errors about numbers that a link cannot have.
    pub fn new(
        scenario: &Scenario,
        catalog: &dyn Catalog,
        seed: u64,
        scheme: Option<&str>,
    ) -> Result<Self, BuildError> {
        Simulation::build(scenario, catalog, seed, scheme, None)
    }

    /// Builds a simulation as [`new`](Self::new) does. If `tapped` names a flow, its first instance has no transport.
    /// The packets of this instance come from outside.
    pub(super) fn build(
        scenario: &Scenario,
        catalog: &dyn Catalog,
        seed: u64,
        scheme: Option<&str>,
        tapped: Option<&str>,
    ) -> Result<Self, BuildError> {
        let seeds = Seeds::new(seed, 0);
        let lead = scenario.cross.values().map(|cross| cross.lead).max().unwrap_or_default();
        let origin = Instant::ZERO + lead;
        let mut network = Network::new(&seeds, Metrics::default());
        let mut plan = Plan::build_links(&mut network, scenario, origin, &seeds)?;
        plan.radios = radios::build(&mut network, scenario, &seeds)?;
        let mut pairs = Pairs::new(scenario, &seeds);
        let mut simulation = Simulation {
            wires: wires(&plan),
            radios: radios::listed(&plan.radios),
            outages: outages(scenario, &plan, origin, &seeds)?,
            network,
            origin,
            warm: origin + scenario.run.warmup,
            end: origin + scenario.run.time,
            seed,
            scheme: label(scenario, scheme),
            flows: Vec::new(),
            first_stats: Vec::new(),
            first_radio: Vec::new(),
        };
        let builder = FlowBuilder { scenario, catalog, seeds: &seeds, plan: &plan, origin, tapped: false };
        for (name, flow) in &scenario.flows {
            for instance in 0..flow.count {
                let builder =
                    FlowBuilder { tapped: instance == 0 && tapped == Some(name.as_str()), ..builder };
                simulation.add_flow(&builder, &mut pairs, name, flow, instance, scheme)?;
            }
        }
        simulation.network.set_background(FlowId(simulation.flows.len() as u32));
        for (name, cross) in &scenario.cross {
            let observer = simulation.network.observer();
            let id = FlowId((observer.flows.len() + observer.background.len()) as u32);
            let meter = builder.background(&mut simulation.network, name, cross, id)?;
            simulation.network.observer_mut().background.push(meter);
        }
        simulation.measure_shares();
        Ok(simulation)
    }

    fn measure_shares(&mut self) {
        let wires = self.wires.iter().map(|wire| (wire.link.clone(), wire.direction.to_owned())).collect();
        let flows = self.flows.iter().map(|flow| flow.name.clone()).collect();
        let window = Window { from: self.warm, to: self.end };
        self.network.observer_mut().shares = Some(ShareMeter::new(wires, flows, window));
    }

    fn add_flow<'a>(
        &mut self,
        builder: &FlowBuilder<'_>,
        pairs: &mut Pairs<'a>,
        name: &str,
        flow: &'a Flow,
        instance: u32,
        scheme: Option<&str>,
    ) -> Result<(), BuildError> {
        let label = if flow.count > 1 { format!("{name}#{}", instance + 1) } else { name.to_owned() };
        let scheme = scheme.filter(|_| flow.compare);
        let index = self.flows.len() as u32;
        let ends = pairs.of(flow, name, &label)?;
        let made = builder.flow(&mut self.network, (name, &label), (flow, ends), index, scheme)?;
        let spec = FlowSpec {
            name: label.clone(),
            paths: flow.paths.keys().cloned().collect(),
            window: Window { from: self.warm.max(made.start), to: self.end.min(made.end) },
            video: made.video,
        };
        let mut meter = FlowMeter::new(spec);
        let over_radio = |path: &Path| path.via.iter().any(|name| builder.scenario.radio.contains_key(name));
        for (number, path) in (0..).zip(flow.paths.values()) {
            if over_radio(path) {
                meter.over_radio(number);
            }
        }
        self.network.observer_mut().flows.push(Metered {
            meter,
            sender: made.sender,
            ledger: made.ledger,
            delivered: 0,
            lost: vec![0; flow.paths.len()],
        });
        self.flows.push(FlowInfo {
            name: label,
            paths: flow.paths.keys().cloned().collect(),
            ends: ends.map(str::to_owned),
            sender: made.sender,
            receiver: made.receiver,
        });
        Ok(())
    }
}

/// Name of the run's scheme. The scheme is the requested scheme, otherwise the scheme of the compared flow, otherwise
/// the scheme of the first flow.
fn label(scenario: &Scenario, scheme: Option<&str>) -> String {
    let flows = || scenario.flows.values();
    let of = |flow: &Flow| flow.transport.spec();
    match scheme {
        Some(scheme) => scheme.to_owned(),
        None => flows().find(|flow| flow.compare).or_else(|| flows().next()).map_or_else(String::new, of),
    }
}

fn wires(plan: &Plan) -> Vec<DirectedLinkInfo> {
    let mut wires = Vec::new();
    for (name, link) in &plan.links {
        for (i, direction) in ["forward", "reverse"].into_iter().enumerate() {
            wires.push(DirectedLinkInfo { link: name.clone(), direction, id: link[i] });
        }
    }
    wires
}
