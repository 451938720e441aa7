//! Flows and links in the form that the network simulator uses.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::sync::Arc;

use strandcast_keys::catalog::{Catalog, SchemePlan};
use strandcast_proto::coding::{Coding, RepairCoding};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{Connect, EndpointConfig};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, PathId};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_seal::{Access, Cipher, Ciphers, Grant, Peer, SealConfig, SealedEndpoint, SecretKey, Token};
use strandcast_sim::flow::{Feed, FlowSink, FlowSource, PathPlan, SctpFlow, UdpSender, UdpSink};
use strandcast_sim::host::{ArrivalTimes, SctpHost};
use strandcast_sim::net::{AgentId, DirectedLinkId, FlowId, Network, RouteId, Step};
use strandcast_sim::traffic::Level;

use super::byte_ledger::ByteLedger;
use super::plan::{Plan, link_of};
use super::source::source;
use super::values::{frames, seconds, varying};
use super::video::video;
use super::{BuildError, Metrics};
use crate::result::meter::VideoSpec;
use crate::scenario::{App, Flow, Frames, Number, Scenario, Sctp, TraceFile, Transport, Video};

/// Length of a full packet in bytes. The serialisation time of such a packet is the upper bound of a host's delay.
const FULL_PACKET: f64 = 1500.0;
/// UDP port of the receiving side (RFC 6951).
const PORT: u16 = 9899;

/// Context from which all flows of a scenario are built.
#[derive(Clone, Copy)]
pub(super) struct FlowBuilder<'a> {
    pub scenario: &'a Scenario,
    pub catalog: &'a dyn Catalog,
    pub seeds: &'a Seeds,
    pub plan: &'a Plan,
    pub origin: Instant,
    /// True if the flow's packets come from outside.
    pub tapped: bool,
}

/// A flow that was built.
pub(super) struct BuiltFlow {
    pub sender: AgentId,
    pub receiver: AgentId,
    pub ledger: Option<ByteLedger>,
    pub video: Option<VideoSpec>,
    /// Start and end of the flow.
    pub start: Instant,
    pub end: Instant,
}

/// A path of a flow. The path has routes in both directions, the first links of both routes, and the times at which it
/// joins and leaves.
pub(super) struct BuiltPath {
    pub routes: [RouteId; 2],
    pub first: [Option<DirectedLinkId>; 2],
    pub join: Option<Instant>,
    pub leave: Option<Instant>,
}

impl FlowBuilder<'_> {
    /// Builds an instance of a flow between two nodes. `label` names the instance and its random streams.
    pub fn flow(
        &self,
        network: &mut Network<Metrics>,
        (name, label): (&str, &str),
        (flow, ends): (&Flow, [&str; 2]),
        index: u32,
        scheme: Option<&str>,
    ) -> Result<BuiltFlow, BuildError> {
        let key = format!("flows.{name}");
        if self.tapped {
            let paths = self.paths(network, (flow, ends), label, &key)?;
            return Ok(self.taps(network, FlowId(index), &paths));
        }
        let seeds = self.seeds.child(&format!("flow {label}"));
        let mut start =
            varying(&flow.start, (self.seeds, seeds.stream("start")), self.origin, &format!("{key}.start"))?;
        let start = self.origin + seconds(start.at(self.origin));
        let end = self.origin + flow.stop.unwrap_or(self.scenario.run.time);
        let app = self.app(flow, scheme, &key)?;
        let feed = self.feed(&app, &seeds, start, end, &key)?;
        let paths = self.paths(network, (flow, ends), label, &key)?;
        let id = FlowId(index);
        let common = Common { id, key: &key, seeds: &seeds, start, end, feed, paths, flow };
        // The feed was made with the same seeds, so that numbers that are drawn again are equal.
        let level = |value: &Number| self.level(&app, value, &seeds, &key).unwrap_or_else(|_| Box::new(0.0));
        let video = video(&app, level, start, end, &key)?;
        let ledger =
            matches!(common.feed, Feed::Timed { .. } | Feed::Finite { .. }).then(ByteLedger::default);
        let (sender, receiver, ledger) = match &flow.transport {
            Transport::Sctp { scheme: own, sctp } => {
                let (sender, receiver) = self.sctp(network, common, scheme.unwrap_or(own), sctp)?;
                (sender, receiver, None)
            }
            Transport::Udp { header } => {
                let route = common.paths[0].routes[0];
                let sender = network.add_agent(id, UdpSender::new(common.feed, route, *header));
                (sender, network.add_agent(id, UdpSink::default()), None)
            }
            Transport::Tcp { cc, tcp } => {
                let (sender, receiver) = self.tcp(network, common, scheme.unwrap_or(cc), tcp)?;
                (sender, receiver, ledger)
            }
            Transport::Mptcp { cc, scheduler, tcp } => {
                let (sender, receiver) = self.mptcp(network, common, (cc, scheduler), tcp, scheme)?;
                (sender, receiver, ledger)
            }
        };
        Ok(BuiltFlow { sender, receiver, ledger, video, start, end })
    }

    /// Application of the flow. If messages should fill a packet, they leave room for the bytes that the scheme inserts
    /// before DATA.
    fn app(&self, flow: &Flow, scheme: Option<&str>, key: &str) -> Result<App, BuildError> {
        let Transport::Sctp { scheme: own, sctp } = &flow.transport else { return Ok(flow.app.clone()) };
        if !flow.fits {
            return Ok(flow.app.clone());
        }
        let plan = self.scheme(scheme.unwrap_or(own), sctp, flow, key)?;
        let mut config = transport(sctp);
        (plan.tune)(&mut config);
        // Symbols of blocks are as long as packets, whatever the length of messages.
        let symbol = match config.coding {
            Some(Coding::Repair(_)) => RepairCoding::OVERHEAD,
            Some(Coding::Blocks(_)) | None => 0,
        };
        let overhead = symbol + (plan.build)(&self.seeds.child("overhead")).feedback().overhead();
        Ok(flow.app.shortened(u32::try_from(overhead).unwrap_or(u32::MAX)))
    }

    fn scheme(&self, scheme: &str, sctp: &Sctp, flow: &Flow, key: &str) -> Result<SchemePlan, BuildError> {
        let paths: Vec<&str> = flow.paths.keys().map(String::as_str).collect();
        let plan = self.catalog.scheme_over(scheme, &sctp.scheme_defaults, &paths);
        plan.map_err(|error| BuildError::new(&format!("{key}.scheme"), &error.to_string()))
    }

    /// Builds the routes of a flow's paths. The next two agents that are added are the ends of these paths.
    fn paths(
        &self,
        network: &mut Network<Metrics>,
        (flow, [from, to]): (&Flow, [&str; 2]),
        label: &str,
        key: &str,
    ) -> Result<Vec<BuiltPath>, BuildError> {
        let [sender, receiver] = network.next_agents();
        let mut made = Vec::new();
        for (index, (name, path)) in flow.paths.iter().enumerate() {
            let key = format!("{key}.paths.{name}");
            let steps = |from: &str, to: &str, via: &[String]| {
                let way = self.scenario.way(from, to, via);
                self.plan.steps(&way.map_err(|error| BuildError::new(&key, &error.to_string()))?, &key)
            };
            let (out, back) = (steps(from, to, &path.via)?, steps(to, from, &path.back)?);
            if matches!(flow.app, App::Bulk { .. })
                && self.plan.is_instant(&out)
                && self.plan.is_instant(&back)
            {
                let what = "packets there and back take no time, so that a bulk flow would send without end at one \
                            instant; give a link a rate or a delay";
                return Err(BuildError::new(&key, what));
            }
            let first = [out.first().and_then(link_of), back.first().and_then(link_of)];
            let mut route = |ends, steps: Vec<Step>, way: &str| {
                // Programs already have their own delays.
                let overhead = if self.tapped { None } else { self.overhead(&steps) };
                let label = format!("flow {label} path {name} {way}");
                network.add_route(ends, index as u8, steps, overhead.map(|most| (most, label.as_str())))
            };
            let routes = [route((sender, receiver), out, "out"), route((receiver, sender), back, "back")];
            let at = |time: Option<Duration>| time.map(|t| self.origin + t);
            made.push(BuiltPath { routes, first, join: at(path.join), leave: at(path.leave) });
        }
        Ok(made)
    }

    /// Longest time for which a packet waits in its host before it is sent over `steps`.
    pub fn overhead(&self, steps: &[Step]) -> Option<Duration> {
        let most = self.plan.slowest(steps, FULL_PACKET);
        (self.scenario.host.overhead && !most.is_zero()).then_some(most)
    }

    /// Converts a number of an application that may change, for example the spacing of a video or the rate of another
    /// application.
    fn level(
        &self,
        app: &App,
        value: &Number,
        seeds: &Seeds,
        key: &str,
    ) -> Result<Box<dyn Level>, BuildError> {
        let name = if matches!(app, App::Video(_)) { "spacing" } else { "rate" };
        let level =
            varying(value, (self.seeds, seeds.stream(name)), self.origin, &format!("{key}.app.{name}"))?;
        Ok(Box::new(level))
    }

    fn feed(
        &self,
        app: &App,
        seeds: &Seeds,
        start: Instant,
        end: Instant,
        key: &str,
    ) -> Result<Feed, BuildError> {
        let mut wrong = None;
        let level = |value: &Number| -> Box<dyn Level> {
            self.level(app, value, seeds, key).unwrap_or_else(|error| {
                wrong = Some(error);
                Box::new(0.0)
            })
        };
        let trace = match app {
            App::Video(Video { frames: Frames::Trace { file, .. }, .. }) => {
                Some(frames(file, &format!("{key}.app.trace"))?)
            }
            _ => None,
        };
        let trace = |_: &TraceFile| trace.clone().expect("the trace of this video was read just now");
        let source = source(app, level, trace, seeds.stream("app"), start, end);
        match (wrong, app, source) {
            (Some(error), ..) => Err(error),
            (None, _, Some(source)) => Ok(Feed::timed(source)),
            (None, App::Finite { size, bytes }, None) => Ok(Feed::Finite { size: *size, left: *bytes }),
            (None, App::Bulk { size }, None) => Ok(Feed::Endless { size: *size }),
            (None, _, None) => Err(BuildError::new(&format!("{key}.app"), "nothing says when it sends")),
        }
    }

    fn sctp(
        &self,
        network: &mut Network<Metrics>,
        common: Common<'_>,
        scheme: &str,
        sctp: &Sctp,
    ) -> Result<(AgentId, AgentId), BuildError> {
        let plan = self.scheme(scheme, sctp, common.flow, common.key)?;
        let mut config = TransportConfig { drop_events: true, ..transport(sctp) };
        (plan.tune)(&mut config);
        let transport = Arc::new(config);
        let headers = usize::from(sctp.encapsulation);
        let tuples: Vec<[FourTuple; 2]> = (0..common.paths.len()).map(|i| tuples(i as u8)).collect();
        let pairing = sctp.seal.then(|| Pairing::new(common.seeds));
        let config = |accept| EndpointConfig {
            transport: Arc::clone(&transport),
            accept,
            ..EndpointConfig::default()
        };
        let host = |side: usize, label: &str, accept| {
            let seal = pairing.as_ref().map(|pairing| pairing.seal(side));
            let endpoint = SealedEndpoint::new(config(accept), seal, &common.seeds.child(label));
            let mut host = SctpHost::new(endpoint, headers);
            for (i, path) in common.paths.iter().enumerate() {
                let (out, back) = (path.routes[side], path.routes[1 - side]);
                host.add_route(tuples[i][side], i as u8, out, back);
                if let Some(wire) = path.first[side] {
                    host.add_link(wire, tuples[i][side].link);
                }
            }
            host
        };
        let mut client = host(0, "sender", None);
        let mut server = host(1, "receiver", Some(Arc::clone(&plan.build)));
        if sctp.failed_after.is_some() {
            let arrivals = ArrivalTimes::new(common.paths.len());
            server.record_arrivals(arrivals.clone());
            client.count_verdicts(arrivals, sctp.rto_min_strandcast.unwrap_or(sctp.rto_min));
        }
        let scheme = (plan.build)(&common.seeds.child("scheme"));
        let at_start = common.order().filter(|i| common.paths[*i].join.is_none());
        let peer = pairing.map(|pairing| pairing.peer);
        let sealed =
            peer.and_then(|peer| client.sealed_mut().session_with(common.start, peer)).unwrap_or_default();
        let connect = Connect {
            paths: at_start.map(|i| (FourTuple { sealed, ..tuples[i][0] }, None)).collect(),
            port: 5000,
            scheme,
            transport: None,
        };
        client.add_traced_app(FlowSource::new(SctpFlow {
            connect,
            primary: common.flow.primary.as_ref().map(|_| PathId(0)),
            start: common.start,
            stop: common.flow.stop.map(|_| common.end),
            lifetime: lifetime(&common.flow.app),
            keep_alive: keep_alive(&common.flow.app),
            plan: changes(&common.paths, &tuples),
            feed: common.feed,
        }));
        server.add_traced_app(FlowSink::default());
        Ok((network.add_agent(common.id, client), network.add_agent(common.id, server)))
    }
}

/// The keys of a sealed flow.
struct Pairing {
    identities: [SecretKey; 2],
    peer: Peer,
}

impl Pairing {
    fn new(seeds: &Seeds) -> Self {
        let mut random = seeds.stream("pairing");
        let identities = [SecretKey::generate(&mut random), SecretKey::generate(&mut random)];
        let peer = Peer { key: identities[1].public(), token: Token::generate(&mut random) };
        Pairing { identities, peer }
    }

    /// Configuration of the seal of one side. The receiver admits the sender. The cipher is fixed, so that results do
    /// not depend on the processor.
    fn seal(&self, side: usize) -> SealConfig {
        let senders = [self.identities[0].public()].into();
        let grant = Grant { token: self.peer.token.clone(), senders, open: false, once: false };
        let grants = if side == 0 { Vec::new() } else { vec![grant] };
        let access = Access { grants, ..Access::default() };
        let ciphers = Ciphers::only(Cipher::Aes128Gcm);
        SealConfig { ciphers, ..SealConfig::new(self.identities[side].clone(), access) }
    }
}

/// Input that the builders of all transports need.
pub(super) struct Common<'a> {
    pub id: FlowId,
    pub key: &'a str,
    pub seeds: &'a Seeds,
    pub start: Instant,
    pub end: Instant,
    pub feed: Feed,
    pub paths: Vec<BuiltPath>,
    pub flow: &'a Flow,
}

impl Common<'_> {
    /// Paths by position. The primary path comes first.
    pub fn order(&self) -> impl Iterator<Item = usize> + use<> {
        let primary =
            self.flow.primary.as_ref().and_then(|name| self.flow.paths.keys().position(|path| path == name));
        let first = primary.unwrap_or(0);
        core::iter::once(first).chain((0..self.paths.len()).filter(move |i| *i != first))
    }
}

fn lifetime(app: &App) -> Option<Duration> {
    match app {
        App::Video(video) if video.expire => Some(video.deadline),
        _ => None,
    }
}

fn keep_alive(app: &App) -> Option<Duration> {
    match app {
        App::Video(video) => video.keep_alive,
        _ => None,
    }
}

fn changes(paths: &[BuiltPath], tuples: &[[FourTuple; 2]]) -> Vec<PathPlan> {
    let mut plan = Vec::new();
    for (path, tuples) in paths.iter().zip(tuples) {
        let mut add = |at: Option<Instant>, joins| {
            plan.extend(at.map(|at| PathPlan { tuple: tuples[0], at, joins }));
        };
        add(path.join, true);
        add(path.leave, false);
    }
    plan.sort_by_key(|change| change.at);
    plan
}

/// 4-tuples of a path at the sender and at the receiver. Each path is an uplink of the sender.
fn tuples(path: u8) -> [FourTuple; 2] {
    let ip = |last| IpAddr::V4(Ipv4Addr::new(10, 0, path, last));
    let near = SocketAddr::new(ip(2), 40_000);
    let far = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), PORT);
    let link = LinkId(u32::from(path));
    [FourTuple::new(link, near, far), FourTuple::new(link, far, near)]
}

/// The transport configuration of a flow with these constants. The flow's scheme has not adjusted it yet.
pub fn transport(sctp: &Sctp) -> TransportConfig {
    sctp.transport()
}
