//! Names for the numbers of a network.

use strandcast_netem::link::LinkConfig;
use strandcast_proto::time::Instant;
use strandcast_radio::{Destination, StationId};
use strandcast_sim::net::{DirectedLinkId, FlowId, RadioId};

use super::Simulation;
use super::plan::ScheduledEvent;

/// Names of a simulation's flows, paths and links, and its times.
#[derive(Clone, Debug)]
pub struct Names {
    /// The flows' time 0.
    pub origin: Instant,
    /// End of the run.
    pub end: Instant,
    /// Each flow by its number, with its paths. Background loads follow the flows, and have no paths.
    flows: Vec<(String, Vec<String>)>,
    /// Each direction of a link by its number: `b`, or `b.reverse`.
    links: Vec<String>,
    /// Each radio by its number, with its stations.
    radios: Vec<(String, Vec<String>)>,
    /// Times at which links go down (true) and come up, ascending.
    outages: Vec<(Instant, DirectedLinkId, bool)>,
}

impl Simulation {
    /// Scheme of the compared flows, or of the first flow if no flow is compared.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Configuration of a direction of a link. `None`: the link does not exist.
    pub fn link(&self, name: &str, reverse: bool) -> Option<&LinkConfig> {
        let direction = if reverse { "reverse" } else { "forward" };
        let wire = self.wires.iter().find(|wire| wire.link == name && wire.direction == direction)?;
        Some(self.network.wire(wire.id).link.config())
    }

    /// Names for the numbers of the simulation's network.
    pub fn names(&self) -> Names {
        let flows = self.flows.iter().map(|flow| (flow.name.clone(), flow.paths.clone()));
        let background = self
            .network
            .observer()
            .background
            .iter()
            .map(|background| (background.name().to_owned(), Vec::new()));
        let mut links = vec![String::new(); self.wires.len()];
        for wire in &self.wires {
            links[wire.id.index()] = match wire.direction {
                "forward" => wire.link.clone(),
                direction => format!("{}.{direction}", wire.link),
            };
        }
        let radios = self.radios.iter().map(|radio| (radio.name.clone(), radio.stations.clone())).collect();
        let outage = |(at, due): &(Instant, ScheduledEvent)| match due {
            ScheduledEvent::Outage { wire, down, .. } => Some((*at, *wire, *down)),
            _ => None,
        };
        let mut outages: Vec<_> = self.outages.iter().filter_map(outage).collect();
        outages.sort();
        Names {
            origin: self.origin,
            end: self.end,
            flows: flows.chain(background).collect(),
            links,
            radios,
            outages,
        }
    }
}

impl Names {
    /// Name of a flow.
    pub fn flow(&self, flow: FlowId) -> &str {
        self.flows.get(flow.0 as usize).map_or("", |(name, _)| name)
    }

    /// Name of a path of a flow. Empty for background load.
    pub fn path(&self, flow: FlowId, path: u8) -> &str {
        let paths = self.flows.get(flow.0 as usize).map(|(_, paths)| paths);
        paths.and_then(|paths| paths.get(usize::from(path))).map_or("", String::as_str)
    }

    /// Name of a link, followed by `.reverse` for the reverse direction.
    pub fn link(&self, wire: DirectedLinkId) -> &str {
        self.links.get(wire.index()).map_or("", String::as_str)
    }

    /// Name of a radio.
    pub fn radio(&self, radio: RadioId) -> &str {
        self.radios.get(radio.index()).map_or("", |(name, _)| name)
    }

    /// Name of a radio's station.
    pub fn station(&self, radio: RadioId, station: StationId) -> &str {
        let stations = self.radios.get(radio.index()).map(|(_, stations)| stations);
        stations.and_then(|stations| stations.get(station.0 as usize)).map_or("", String::as_str)
    }

    /// Name of the station that receives a transmission, or `all`.
    pub fn destination(&self, radio: RadioId, to: Destination) -> &str {
        match to {
            Destination::Station(station) => self.station(radio, station),
            Destination::All => "all",
        }
    }

    /// Converts the names to cells of a line of CSV (RFC 4180).
    pub(super) fn escaped(mut self) -> Self {
        let paths = self.flows.iter_mut().flat_map(|(name, paths)| core::iter::once(name).chain(paths));
        let radios =
            self.radios.iter_mut().flat_map(|(name, stations)| core::iter::once(name).chain(stations));
        for name in paths.chain(&mut self.links).chain(radios) {
            if name.contains([',', '"', '\n', '\r']) {
                *name = format!("\"{}\"", name.replace('"', "\"\""));
            }
        }
        self
    }

    /// Returns whether the link is down at `from`, or goes down later in the run.
    pub(super) fn is_down_after(&self, wire: DirectedLinkId, from: Instant) -> bool {
        let of_link = || self.outages.iter().filter(|(at, of, _)| *of == wire && *at <= self.end);
        let before = of_link().take_while(|(at, ..)| *at <= from).last();
        before.is_some_and(|(.., down)| *down) || of_link().any(|(at, _, down)| *at > from && *down)
    }
}
