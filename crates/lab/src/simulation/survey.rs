//! Facts about radios that are known before a run.

use core::time::Duration;

use strandcast_radio::{DcfConfig, Graph, Position, RadioConfig, StationId};

use super::Simulation;
use super::radios::RadioInfo;
use super::routes::Taken;
use crate::result::{RadioMap, RouteTaken, Topology};
use crate::scenario::Scenario;

/// Length in bytes of an RTS frame, and of CTS and ACK frames (IEEE 802.11-2007, 7.2.1).
const RTS: u32 = 20;
const CTS: u32 = 14;

/// Facts about a radio that are known before a run. They are the stations that reach each other at the start, and the
/// durations of frames.
#[derive(Clone, Debug)]
pub struct RadioSurvey {
    stations: Vec<String>,
    graph: Graph,
    config: RadioConfig,
    /// Mean number of stations that sense a station's frames.
    sensed: f64,
}

impl Simulation {
    /// The nodes at which the instances of a flow begin and end.
    pub fn ends(&self, flow: &str) -> Vec<[&str; 2]> {
        let base = |name: &str| name.split_once('#').map_or(name == flow, |(base, _)| base == flow);
        let of_flow = self.flows.iter().filter(|info| base(&info.name));
        of_flow.map(|info| [info.ends[0].as_str(), info.ends[1].as_str()]).collect()
    }

    /// Facts about a radio of the scenario. `None`: there is no such radio.
    pub fn survey(&self, scenario: &Scenario, radio: &str) -> Option<RadioSurvey> {
        let RadioInfo { id, stations, .. } = self.radios.iter().find(|info| info.name == radio)?;
        let medium = self.network.air(*id).radio();
        let config = scenario.radio.get(radio)?.config().ok()?;
        let positions: Vec<_> =
            (0..stations.len() as u32).map(|station| medium.position(StationId(station))).collect();
        let sensed = Graph::unit_disk(&positions, config.medium.sense_range).mean_degree();
        Some(RadioSurvey { stations: stations.clone(), graph: medium.graph(), config, sensed })
    }
}

impl Simulation {
    /// Returns the present positions of stations, and the routes that flows have taken. Returns `None` if there are no
    /// radios.
    pub(super) fn topology(&self) -> Option<Topology> {
        if self.radios.is_empty() {
            return None;
        }
        let map = |info: &RadioInfo| {
            let radio = self.network.air(info.id).radio();
            let place = |(node, station): (&String, u32)| {
                let Position { x, y } = radio.position(StationId(station));
                (node.clone(), [x, y])
            };
            let nodes = info.stations.iter().zip(0..).map(place).collect();
            (info.name.clone(), RadioMap { range_m: info.range_m, moving: info.moving, nodes })
        };
        let flow = |flow: u32| self.flows.get(flow as usize).map_or("", |flow| flow.name.as_str());
        let route = |taken: &Taken| RouteTaken {
            flow: flow(taken.flow).to_owned(),
            time_s: (taken.at - self.origin).as_secs_f64(),
            kind: taken.kind,
            nodes: {
                let stations = &self.radios[taken.radio.index()].stations;
                taken.stations.iter().map(|station| stations[station.0 as usize].clone()).collect()
            },
        };
        let routes = self.network.observer().routes.taken.iter().map(route).collect();
        Some(Topology { radios: self.radios.iter().map(map).collect(), routes })
    }
}

impl RadioSurvey {
    /// Number of stations.
    pub fn stations(&self) -> usize {
        self.graph.len()
    }

    /// Returns whether any two stations can reach each other over one or more hops.
    pub fn is_connected(&self) -> bool {
        self.graph.is_connected()
    }

    /// Mean number of stations that a station reaches in one hop.
    pub fn mean_degree(&self) -> f64 {
        self.graph.mean_degree()
    }

    /// Returns the least number of hops between two nodes. Returns `None` if no route exists.
    pub fn hops(&self, from: &str, to: &str) -> Option<u32> {
        let station = |node: &str| self.stations.iter().position(|station| station == node);
        self.graph.hops(station(from)?)[station(to)?]
    }

    /// Time of one hop of a packet of `bytes` at IP level on an idle channel. The time of one hop lasts from the first
    /// slot of the backoff to the ACK. The time of one hop includes DIFS, mean backoff, RTS and CTS above the
    /// threshold, data, ACK, and the SIFS between them.
    pub fn hop_time(&self, bytes: u32) -> Duration {
        let DcfConfig { slot, sifs, cw_min, inclusive_draw, .. } = self.config.dcf;
        let dcf = &self.config.dcf;
        let frame = bytes + dcf.data_header;
        let announced = frame > dcf.rts_threshold;
        let us = |n: u32| f64::from(n);
        let most = us(cw_min) - if inclusive_draw { 0.0 } else { 1.0 };
        let waits = us(sifs) + 2.0 * us(slot) + most / 2.0 * us(slot);
        let data =
            self.airtime(frame, dcf.data_rate.bps()) + us(sifs) + self.airtime(CTS, dcf.basic_rate.bps());
        let handshake = self.airtime(RTS, dcf.basic_rate.bps()) + self.airtime(CTS, dcf.basic_rate.bps());
        let handshake = if announced { handshake + 2.0 * us(sifs) } else { 0.0 };
        Duration::from_secs_f64((waits + handshake + data) / 1e6)
    }

    /// Number of frames for one hop of a packet without losses.
    pub fn frames(&self, bytes: u32) -> u32 {
        if bytes + self.config.dcf.data_header > self.config.dcf.rts_threshold { 4 } else { 2 }
    }

    /// Mean number of stations that transmit at the same time without sensing each other. It is the number of stations
    /// divided by the number that each transmission blocks, including its sender.
    pub fn reuse(&self) -> f64 {
        (self.stations() as f64 / (1.0 + self.sensed)).max(1.0)
    }

    /// Duration of a frame in microseconds, including its preamble.
    fn airtime(&self, bytes: u32, bps: u64) -> f64 {
        f64::from(self.config.dcf.preamble) + f64::from(bytes) * 8e6 / bps as f64
    }
}
