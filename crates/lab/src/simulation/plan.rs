//! Plan of a scenario's network.

use core::time::Duration;
use std::collections::BTreeMap;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_sim::net::{DirectedLinkId, Network, Step};

use crate::scenario::{Hop, Link, Scenario};

use super::links::link_config;
use super::radios::PlannedRadio;
use super::{BuildError, Metrics};

/// A direction of a link.
#[derive(Debug)]
pub(super) struct DirectedLinkInfo {
    pub link: String,
    pub direction: &'static str,
    pub id: DirectedLinkId,
}

/// A planned event of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ScheduledEvent {
    /// Results count from this time on.
    Warm,
    /// A direction of a link goes down or comes up.
    Outage { wire: DirectedLinkId, down: bool, notify: bool },
    /// A sample of all time series is due.
    Point,
    /// A call of [`Control::progress`](super::Control::progress).
    ProgressCheck,
}

/// Links by name, with their properties.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Both directions of each link, by its name.
    pub links: BTreeMap<String, [DirectedLinkId; 2]>,
    pub radios: BTreeMap<String, PlannedRadio>,
    /// Nominal rate in bit/s of each direction of a link (`None`: infinite). The flag is true if packets take no time
    /// at all.
    wires: Vec<(Option<f64>, bool)>,
}

impl Plan {
    /// Adds all links to `network`.
    pub fn build_links(
        network: &mut Network<Metrics>,
        scenario: &Scenario,
        origin: Instant,
        seeds: &Seeds,
    ) -> Result<Self, BuildError> {
        let mut plan = Plan::default();
        for (name, link) in &scenario.links {
            let planned = plan.lay_link(network, (name, link), origin, seeds)?;
            plan.links.insert(name.clone(), planned);
        }
        Ok(plan)
    }

    fn lay_link(
        &mut self,
        network: &mut Network<Metrics>,
        (name, link): (&str, &Link),
        origin: Instant,
        seeds: &Seeds,
    ) -> Result<[DirectedLinkId; 2], BuildError> {
        let mut wires = Vec::new();
        for (i, (direction, label)) in
            [(&link.forward, "forward"), (&link.reverse, "reverse")].into_iter().enumerate()
        {
            let key = if i == 0 { format!("links.{name}") } else { format!("links.{name}.reverse") };
            let label = format!("link {name} {label}");
            let config = link_config(direction, origin, seeds, &key)?;
            let rate_bps = config.rate.mean_bps();
            self.wires.push((rate_bps, rate_bps.is_none() && config.delay.range().1 <= 0.0));
            let wire = network.add_wire(config, &label);
            debug_assert_eq!(wire.index() + 1, self.wires.len(), "links are added here alone");
            if link.wireless {
                network.set_wireless(wire);
            }
            if link.spares_background {
                network.set_sparing(wire);
            }
            wires.push(wire);
        }
        Ok([wires[0], wires[1]])
    }

    /// Steps of a route.
    pub fn steps(&self, way: &[Hop], key: &str) -> Result<Vec<Step>, BuildError> {
        let step = |hop: &Hop| match hop {
            Hop::Link { link, reverse } => {
                let wires =
                    self.links.get(link).ok_or_else(|| BuildError::new(key, &format!("no link {link}")))?;
                Ok(Step::Link(wires[usize::from(*reverse)]))
            }
            Hop::Radio { radio, from, to } => {
                let planned = self.radios.get(radio);
                let planned = planned.ok_or_else(|| BuildError::new(key, &format!("no radio {radio}")))?;
                Ok(Step::Radio { radio: planned.id, from: planned.stations[from], to: planned.stations[to] })
            }
        };
        way.iter().map(step).collect()
    }

    /// Returns whether packets pass all of `steps` without any delay.
    pub fn is_instant(&self, steps: &[Step]) -> bool {
        steps.iter().all(|step| link_of(step).is_some_and(|wire| self.wires[wire.index()].1))
    }

    /// Nominal rate of a direction of a link in bit/s. `None`: the rate is infinite.
    pub fn rate_bps(&self, wire: DirectedLinkId) -> Option<f64> {
        self.wires[wire.index()].0
    }

    /// Returns the time in which the slowest link of `steps` sends `bytes` bytes. Returns zero if no link has a finite
    /// rate.
    pub fn slowest(&self, steps: &[Step], bytes: f64) -> Duration {
        let of_route = steps.iter().filter_map(link_of).filter_map(|wire| self.wires[wire.index()].0);
        let least = of_route.filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
        Duration::from_secs_f64((bytes * 8.0 / least).min(1.0))
    }
}

/// Link of a step. `None`: the step is a radio.
pub(super) fn link_of(step: &Step) -> Option<DirectedLinkId> {
    match step {
        Step::Link(wire) => Some(*wire),
        Step::Radio { .. } => None,
    }
}
