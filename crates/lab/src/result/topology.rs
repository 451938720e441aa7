//! Positions of stations, and routes of flows.

use std::collections::BTreeMap;

use serde::Serialize;

/// Data for a picture of a run's radios: `topology.json` in a folder of results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Topology {
    /// Radios by name.
    pub radios: BTreeMap<String, RadioMap>,
    /// Routes that flows took, in order of time.
    pub routes: Vec<RouteTaken>,
}

/// A radio's stations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RadioMap {
    /// Range of frames, metres.
    pub range_m: f64,
    /// True if the nodes of the radio move.
    pub moving: bool,
    /// Positions of the nodes at the end of the run, in metres.
    pub nodes: BTreeMap<String, [f64; 2]>,
}

/// A route that packets of a flow took from a certain time on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RouteTaken {
    /// The flow.
    pub flow: String,
    /// Time of the first packet that arrived by this route. The time is in seconds since the flows' time 0.
    pub time_s: f64,
    /// Kind of the packets that took the route.
    pub kind: RouteKind,
    /// Nodes of the route, from the source to the destination.
    pub nodes: Vec<String>,
}

/// Kind of packets that take a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RouteKind {
    /// All packets.
    Any,
    /// Packets that carry data for the first time.
    Original,
    /// Retransmissions.
    Retransmission,
}
