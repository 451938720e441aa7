//! From what a scenario says to what the network is made of.

use core::time::Duration;
use std::collections::BTreeMap;

use strandcast_proto::time::Instant;
use strandcast_sim::net::{DirectedLinkId, Network, NodeId};

use crate::scenario::{Link, Scenario};

use super::links::link_config;
use super::{BuildError, Metrics};

/// Links by name, and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub nodes: BTreeMap<String, NodeId>,
    pub links: BTreeMap<String, PlannedLink>,
    /// By wire: nominal bit/s (`None`: infinite), and whether packets take no time at all.
    wires: Vec<(Option<f64>, bool)>,
}

/// A link in both directions.
#[derive(Debug)]
pub(super) struct PlannedLink {
    pub from: String,
    pub to: String,
    pub wires: [DirectedLinkId; 2],
}

impl Plan {
    /// Adds all nodes and links to `network`.
    pub fn build_links(
        network: &mut Network<Metrics>,
        scenario: &Scenario,
        origin: Instant,
    ) -> Result<Self, BuildError> {
        let mut plan = Plan::default();
        for name in scenario.nodes.keys() {
            plan.nodes.insert(name.clone(), network.add_node(None));
        }
        for (name, link) in &scenario.links {
            let planned = plan.lay_link(network, name, link, origin)?;
            plan.links.insert(name.clone(), planned);
        }
        Ok(plan)
    }

    fn lay_link(
        &mut self,
        network: &mut Network<Metrics>,
        name: &str,
        link: &Link,
        origin: Instant,
    ) -> Result<PlannedLink, BuildError> {
        let node = |end: &str| {
            self.nodes
                .get(end)
                .copied()
                .ok_or_else(|| BuildError::new(&format!("links.{name}"), "no such node"))
        };
        let ends = [node(&link.to)?, node(&link.from)?];
        let mut wires = Vec::new();
        for (i, (direction, label)) in
            [(&link.forward, "forward"), (&link.reverse, "reverse")].into_iter().enumerate()
        {
            let key = if i == 0 { format!("links.{name}") } else { format!("links.{name}.reverse") };
            let label = format!("link {name} {label}");
            let config = link_config(direction, origin, &key)?;
            let rate_bps = config.rate.mean_bps();
            self.wires.push((rate_bps, rate_bps.is_none() && config.delay.range().1 <= 0.0));
            let wire = network.add_wire(ends[i], config, &label);
            debug_assert_eq!(wire.index() + 1, self.wires.len(), "links are added here alone");
            if link.wireless {
                network.set_wireless(wire);
            }
            if link.spares_background {
                network.set_sparing(wire);
            }
            wires.push(wire);
        }
        let (from, to) = (link.from.clone(), link.to.clone());
        Ok(PlannedLink { from, to, wires: [wires[0], wires[1]] })
    }

    /// The links of `via` as passed from node `from`, and where they lead.
    pub fn wires(
        &self,
        from: &str,
        via: &[String],
        key: &str,
    ) -> Result<(Vec<DirectedLinkId>, String), BuildError> {
        let mut at = from.to_owned();
        let mut wires = Vec::new();
        for name in via {
            let link = self.link(name, key)?;
            let side = if link.from == at {
                at.clone_from(&link.to);
                0
            } else if link.to == at {
                at.clone_from(&link.from);
                1
            } else {
                return Err(BuildError::new(key, &format!("link {name} does not begin or end at node {at}")));
            };
            wires.push(link.wires[side]);
        }
        Ok((wires, at))
    }

    /// The node at which a way along `via` begins: the end of its first link that the second does not share.
    pub fn start(&self, via: &[String], key: &str) -> Result<String, BuildError> {
        let [first, rest @ ..] = via else { return Err(BuildError::new(key, "a way has at least one link")) };
        let first = self.link(first, key)?;
        let Some(second) = rest.first() else { return Ok(first.from.clone()) };
        let second = self.link(second, key)?;
        let shares = |node: &String| second.from == *node || second.to == *node;
        Ok(if shares(&first.to) { first.from.clone() } else { first.to.clone() })
    }

    /// Whether packets pass all of `wires` in no time.
    pub fn is_instant(&self, wires: &[DirectedLinkId]) -> bool {
        wires.iter().all(|wire| self.wires[wire.index()].1)
    }

    /// Nominal bit/s of a wire; `None`: infinite.
    pub fn rate_bps(&self, wire: DirectedLinkId) -> Option<f64> {
        self.wires[wire.index()].0
    }

    /// A link by name.
    pub fn link(&self, name: &str, key: &str) -> Result<&PlannedLink, BuildError> {
        self.links.get(name).ok_or_else(|| BuildError::new(key, &format!("no link {name}")))
    }

    /// The time the slowest of `wires` takes for `bytes`; zero if none has a rate.
    pub fn slowest(&self, wires: &[DirectedLinkId], bytes: f64) -> Duration {
        let of_route = wires.iter().filter_map(|wire| self.wires[wire.index()].0);
        let least = of_route.filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
        Duration::from_secs_f64((bytes * 8.0 / least).min(1.0))
    }
}
