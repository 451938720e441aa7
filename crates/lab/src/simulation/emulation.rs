//! A scenario's network for packets of real programs. The caller controls the clock.

use core::time::Duration;
use std::collections::VecDeque;

use bytes::Bytes;
use strandcast_keys::catalog::Catalog;
use strandcast_netem::link::LinkStats;
use strandcast_proto::time::Instant;
use strandcast_sim::flow::{Arrival, Tap};
use strandcast_sim::net::{AgentId, FlowId, Network, RouteId};

use super::endpoints::{BuiltFlow, BuiltPath, FlowBuilder};
use super::plan::ScheduledEvent;
use super::{BuildError, Metrics, Simulation};
use crate::scenario::Scenario;

/// A scenario whose network carries IP packets from outside instead of one of its flows. Links, radios, outages,
/// background load and the other flows are simulated.
///
/// The caller calls [`advance`](Self::advance) with the present time, [`send`](Self::send) for each packet that a
/// program has written, and [`receive`](Self::receive) at both ends until it returns `None`. The caller repeats these
/// calls at each [`next_time`](Self::next_time). Times count from the flows' time 0 and must not decrease. If the
/// caller is late, packets are delivered late. The behaviour of links does not change.
///
/// Model: the links and random draws equal those of a simulation with the same seed. The hosts of programs have no
/// simulated delay. Programs get no notice of an outage, and all paths exist from the start to the end. `notify`,
/// `join` and `leave` therefore have no effect.
#[derive(Debug)]
pub struct Emulation {
    simulation: Simulation,
    outages: VecDeque<(Instant, ScheduledEvent)>,
    /// The sender and the receiver of the flow.
    ends: [AgentId; 2],
    paths: Vec<String>,
}

/// An end of the flow. Real programs replace it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The flow's sender.
    Near,
    /// The flow's receiver.
    Far,
}

impl End {
    /// Both ends.
    pub const BOTH: [End; 2] = [End::Near, End::Far];
}

impl Emulation {
    /// Builds `scenario` for one seed, with programs instead of `flow`. Simulates the scenario up to time 0.
    ///
    /// # Errors
    /// There is no such flow, or the scenario cannot be built.
    pub fn new(
        scenario: &Scenario,
        catalog: &dyn Catalog,
        seed: u64,
        flow: &str,
    ) -> Result<Self, BuildError> {
        let Some(flow) = scenario.flows.get_key_value(flow) else {
            let names: Vec<&str> = scenario.flows.keys().map(String::as_str).collect();
            let message = format!("there is no such flow; the scenario has {}", names.join(", "));
            return Err(BuildError::new(&format!("flows.{flow}"), &message));
        };
        let paths: Vec<String> = flow.1.paths.keys().cloned().collect();
        let simulation = Simulation::build(scenario, catalog, seed, None, Some(flow.0))?;
        let info = simulation.flows.iter().find(|info| info.paths == paths && of_flow(&info.name, flow.0));
        let info = info.expect("every flow of a scenario is built");
        let mut outages = simulation.outages.clone();
        outages.sort();
        let ends = [info.sender, info.receiver];
        let mut emulation = Emulation { outages: outages.into(), ends, paths, simulation };
        emulation.simulation.network.wake_all();
        emulation.advance(Duration::ZERO);
        Ok(emulation)
    }

    /// Names of the flow's paths, in the order of their numbers.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Sends an IP packet from an end over the path with this number. The time is [`now`](Self::now).
    pub fn send(&mut self, end: End, path: u8, packet: Bytes) {
        let id = self.ends[end as usize];
        self.simulation.network.with_agent(id, |_, tap: &mut Tap| tap.send(path, packet));
    }

    /// Time up to which the network has been simulated.
    pub fn now(&self) -> Duration {
        self.simulation.network.now().saturating_since(self.simulation.origin)
    }

    /// Time of the next event. [`advance`](Self::advance) should be called at this time.
    pub fn next_time(&self) -> Option<Duration> {
        let outage = self.outages.front().map(|(at, _)| *at);
        let next = self.simulation.network.next_time().into_iter().chain(outage).min()?;
        Some(next.saturating_since(self.simulation.origin))
    }

    /// Simulates the network up to and including `to`.
    pub fn advance(&mut self, to: Duration) {
        while !self.advance_within(to, usize::MAX) {}
    }

    /// Simulates up to and including `to`, but at most about `events` events. Returns whether all events up to that
    /// time have been simulated.
    pub fn advance_within(&mut self, to: Duration, events: usize) -> bool {
        let to = self.simulation.origin + to;
        let network = &mut self.simulation.network;
        loop {
            let due = self.outages.pop_front_if(|(at, _)| *at <= to);
            if !network.run_within(due.map_or(to, |(at, _)| at), events) {
                due.into_iter().for_each(|due| self.outages.push_front(due));
                return false;
            }
            match due {
                Some((_, ScheduledEvent::Outage { wire, down, notify })) => {
                    network.set_down(wire, down, notify);
                }
                Some(_) => {}
                None => return true,
            }
        }
    }

    /// Returns the oldest packet that has arrived at an end, with the time of its arrival.
    pub fn receive(&mut self, end: End) -> Option<(Duration, Arrival)> {
        let arrival = self.simulation.network.agent_mut::<Tap>(self.ends[end as usize]).receive()?;
        Some((arrival.at.saturating_since(self.simulation.origin), arrival))
    }

    /// Counters of every link. They have its name, `forward` or `reverse`, and the packets of all flows together.
    pub fn links(&self) -> impl Iterator<Item = (&str, &'static str, LinkStats)> {
        let network = &self.simulation.network;
        let stats = |id| network.wire(id).link.stats_at(network.now());
        self.simulation.wires.iter().map(move |wire| (wire.link.as_str(), wire.direction, stats(wire.id)))
    }
}

/// Returns whether an instance belongs to a flow.
fn of_flow(instance: &str, flow: &str) -> bool {
    instance.strip_prefix(flow).is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

impl FlowBuilder<'_> {
    /// Returns the ends of a flow whose packets come from outside.
    pub(super) fn taps(&self, network: &mut Network<Metrics>, id: FlowId, paths: &[BuiltPath]) -> BuiltFlow {
        let routes = |side: usize| -> Vec<RouteId> { paths.iter().map(|path| path.routes[side]).collect() };
        let [sender, receiver] = [0, 1].map(|side| network.add_agent(id, Tap::new(routes(side))));
        let end = self.origin + self.scenario.run.time;
        BuiltFlow { sender, receiver, ledger: None, video: None, start: self.origin, end }
    }
}
