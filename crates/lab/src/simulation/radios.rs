//! Conversion of the scenario's radios into radios of the simulator.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strandcast_proto::seeds::Seeds;
use strandcast_radio::placement::{self, Area, PlacementError};
use strandcast_radio::{Graph, Position, Radio, RadioConfig, StationId, check_density};
use strandcast_routing::{Address, Routes, Routing};
use strandcast_sim::net::{Network, Packet, RadioId};

use super::{BuildError, Metrics};
use crate::scenario::{self, Ends, Flow, Placement, Scenario};

/// Greatest number of attempts to draw random places such that all stations can reach each other.
const DRAWS: u32 = 10_000;

/// A radio that was built.
#[derive(Debug)]
pub(super) struct PlannedRadio {
    pub id: RadioId,
    /// Stations by the names of their nodes.
    pub stations: BTreeMap<String, StationId>,
    /// Range of frames, metres.
    pub range_m: f64,
    /// True if the radio's stations move.
    pub moving: bool,
}

/// Names and range of a radio, for results and recorders.
#[derive(Clone, Debug)]
pub(super) struct RadioInfo {
    pub name: String,
    pub id: RadioId,
    /// Names of the nodes of the radio's stations.
    pub stations: Vec<String>,
    /// Range of frames, metres.
    pub range_m: f64,
    /// True if the radio's stations move.
    pub moving: bool,
}

/// Returns all radios in the order of the network.
pub(super) fn listed(planned: &BTreeMap<String, PlannedRadio>) -> Vec<RadioInfo> {
    let info = |(name, radio): (&String, &PlannedRadio)| {
        let mut stations = vec![String::new(); radio.stations.len()];
        for (node, station) in &radio.stations {
            stations[station.0 as usize].clone_from(node);
        }
        RadioInfo { name: name.clone(), id: radio.id, stations, range_m: radio.range_m, moving: radio.moving }
    };
    let mut all: Vec<RadioInfo> = planned.iter().map(info).collect();
    all.sort_by_key(|radio| radio.id);
    all
}

/// Adds all radios to `network`.
pub(super) fn build(
    network: &mut Network<Metrics>,
    scenario: &Scenario,
    seeds: &Seeds,
) -> Result<BTreeMap<String, PlannedRadio>, BuildError> {
    let places = places(scenario, seeds)?;
    let mut built = BTreeMap::new();
    for (name, radio) in &scenario.radio {
        let (label, key) = (format!("radio {name}"), format!("radio.{name}"));
        let positions: Vec<Position> =
            radio.stations.iter().map(|station| places[station.as_str()]).collect();
        let config = config(radio, &positions, &key)?;
        check_density(&config.medium, &positions)
            .map_err(|error| BuildError::new(&key, &error.to_string()))?;
        let medium = Radio::new(&config, positions, seeds, &label);
        let routers = routers(radio, &medium.graph(), &seeds.child(&label), &key)?;
        let id = network.add_radio(medium, routers);
        let stations = radio.stations.iter().cloned().zip((0..).map(StationId)).collect();
        let (range_m, moving) = (config.medium.reception_range, config.mobility.speed_max > 0.0);
        built.insert(name.clone(), PlannedRadio { id, stations, range_m, moving });
    }
    Ok(built)
}

fn routers(
    radio: &scenario::Radio,
    graph: &Graph,
    seeds: &Seeds,
    key: &str,
) -> Result<Vec<Box<dyn Routing<Packet>>>, BuildError> {
    let spec = strandcast_routing::spec::parse(&radio.routing);
    let spec = spec.map_err(|error| BuildError::new(&format!("{key}.routing"), &error.to_string()))?;
    let stations = 0..graph.len();
    let reached = |station| graph.neighbours(station).iter().map(|n| Address(*n)).collect();
    let neighbours = if spec.needs_routes() { stations.clone().map(reached).collect() } else { Vec::new() };
    let routes = Arc::new(Routes::new(&neighbours));
    let router = |address: usize| spec.router(Address(address as u32), &routes, seeds);
    Ok(stations.map(router).collect())
}

/// The radio's constants. If stations move, they stay in the bounding box of their positions, unless the scenario gives
/// another area.
fn config(radio: &scenario::Radio, positions: &[Position], key: &str) -> Result<RadioConfig, BuildError> {
    let mut config = radio.config().map_err(|error| BuildError::new(key, &error.to_string()))?;
    config.check().map_err(|error| BuildError::new(key, &error.to_string()))?;
    let (x, y) = match &radio.place {
        Placement::Uniform { width, height, .. } => ((0.0, *width), (0.0, *height)),
        Placement::Nodes | Placement::Grid { .. } | Placement::File { .. } => {
            (extent(positions, |p| p.x), extent(positions, |p| p.y))
        }
    };
    let (given, area) = (|key: &str| radio.mobility.contains_key(key), &mut config.mobility);
    if !given("area_width") {
        area.area_x = if given("area_x") { area.area_x } else { x.0 };
        area.area_width = (x.1 - area.area_x).max(0.0);
    }
    if !given("area_height") {
        area.area_y = if given("area_y") { area.area_y } else { y.0 };
        area.area_height = (y.1 - area.area_y).max(0.0);
    }
    Ok(config)
}

/// Least and greatest value of a coordinate.
fn extent(positions: &[Position], of: fn(&Position) -> f64) -> (f64, f64) {
    let least = positions.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = positions.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    if least <= most { (least, most) } else { (0.0, 0.0) }
}

/// Places of the nodes that have a place.
fn places<'a>(scenario: &'a Scenario, seeds: &Seeds) -> Result<BTreeMap<&'a str, Position>, BuildError> {
    let mut places = BTreeMap::new();
    for (name, node) in &scenario.nodes {
        places.extend(node.place.map(|[x, y]| (name.as_str(), Position { x, y })));
    }
    for (name, radio) in &scenario.radio {
        let Some(prefix) = radio.place.prefix() else { continue };
        let made = made(radio, &seeds.child(&format!("radio {name}")), name)?;
        for (number, position) in made.into_iter().enumerate() {
            let node = format!("{prefix}{number}");
            let (node, _) =
                scenario.nodes.get_key_value(&node).expect("a radio's nodes are nodes of the scenario");
            places.insert(node, position);
        }
    }
    Ok(places)
}

/// Positions that a radio's placement creates, in order.
fn made(radio: &scenario::Radio, seeds: &Seeds, name: &str) -> Result<Vec<Position>, BuildError> {
    let key = format!("radio.{name}");
    let wrong = |error: PlacementError| BuildError::new(&format!("{key}.place"), &error.to_string());
    Ok(match &radio.place {
        Placement::Nodes => Vec::new(),
        Placement::Grid { columns, rows, spacing, .. } => {
            placement::grid(*columns as usize, *rows as usize, *spacing)
        }
        Placement::Uniform { count, width, height, .. } => {
            let config = radio.config().map_err(|error| BuildError::new(&key, &error.to_string()))?;
            let (area, range) =
                (Area { width: *width, height: *height }, Some(config.medium.reception_range));
            placement::random(*count as usize, area, range, DRAWS, &mut seeds.stream("places"))
                .map_err(wrong)?
        }
        Placement::File { file, .. } => placement::parse_csv(&file.text).map_err(wrong)?,
    })
}

/// Random ends of flows.
pub(super) struct Pairs<'a> {
    scenario: &'a Scenario,
    seeds: &'a Seeds,
    /// Pairs drawn so far.
    drawn: BTreeSet<[&'a str; 2]>,
}

impl<'a> Pairs<'a> {
    pub fn new(scenario: &'a Scenario, seeds: &'a Seeds) -> Self {
        Pairs { scenario, seeds, drawn: BTreeSet::new() }
    }

    /// Returns the two ends of an instance of a flow. If the scenario does not name the ends, two stations are drawn at
    /// random. Both are stations of all radios of the flow. All pairs that no flow has drawn before are equally likely.
    pub fn of(&mut self, flow: &'a Flow, name: &str, label: &str) -> Result<[&'a str; 2], BuildError> {
        if flow.ends == Ends::Given {
            return Ok([&flow.from, &flow.to]);
        }
        let common = self.common(flow);
        let taken = self.drawn.iter().filter(|pair| pair.iter().all(|end| common.contains(end))).count();
        if common.len() * common.len().saturating_sub(1) <= taken {
            let message =
                format!("no two of {} stations are left without a flow; lower `count`", common.len());
            return Err(BuildError::new(&format!("flows.{name}.ends"), &message));
        }
        let mut random = self.seeds.child(&format!("flow {label}")).stream("ends");
        loop {
            let mut draw = || common[random.below(common.len() as u64) as usize];
            let pair = [draw(), draw()];
            if pair[0] != pair[1] && self.drawn.insert(pair) {
                return Ok(pair);
            }
        }
    }

    /// Returns the nodes that are stations of all radios of the flow.
    fn common(&self, flow: &Flow) -> Vec<&'a str> {
        let radios =
            flow.paths.values().flat_map(|path| &path.via).filter_map(|name| self.scenario.radio.get(name));
        let mut common: Option<Vec<&'a str>> = None;
        for radio in radios {
            let stations = radio.stations.iter().map(String::as_str);
            common = Some(match common {
                None => stations.collect(),
                Some(common) => stations.filter(|station| common.contains(station)).collect(),
            });
        }
        common.unwrap_or_default()
    }
}
