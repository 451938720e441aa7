//! Hosts with separate uplinks. Tests, demonstrations and measurements use these networks.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;

use strandcast_netem::engine::Fingerprint;
use strandcast_netem::link::Link;
use strandcast_netem::topology::PathNetwork;
use strandcast_proto::app::App;
use strandcast_proto::endpoint::{AssociationId, Connect, Endpoint, EndpointConfig};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_seal::{ConnectError, Peer, SealConfig, SealedEndpoint};

use super::SctpHost;
use crate::net::{AgentId, DirectedLinkId, FlowId, Network, Packet, RouteId, Step};

/// Number of bytes of the IPv4 and UDP headers.
const OVERHEAD: usize = 28;
/// UDP port on which every host listens (RFC 6951).
const PORT: u16 = 9899;

/// Identifier of a host in a [`Net`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(usize);

/// Identifier of a path in a [`Net`]: the number of paths that were added before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetPath(pub usize);

/// Identifier of an application in a [`Net`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppId(usize, usize);

/// Direction of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The direction away from the host that owns the uplink.
    Forward,
    /// The direction towards the host that owns the uplink.
    Reverse,
}

/// Hosts and the paths between them, in simulated time.
///
/// Model: a path leads from an uplink of one host to the single address of another host. The uplink has its own address
/// and its own NAT. Hosts need no processing time. Packets that arrive at one time over one link are handled together,
/// and are answered at that time. On a link, the length of a packet includes the IPv4 and UDP headers (28 bytes).
/// Limits: paths do not share links. Hosts have no queues except their send buffers. A drop in a link's queue is
/// therefore a loss for the transport. Equal seeds and equal calls give an equal [`Net::fingerprint`].
#[derive(Debug)]
pub struct Net {
    network: Network,
    seeds: Seeds,
    hosts: Vec<Host>,
    paths: Vec<Path>,
}

#[derive(Debug)]
struct Host {
    agent: AgentId,
    address: SocketAddr,
    /// Number of uplinks.
    uplinks: u32,
}

#[derive(Debug)]
struct Path {
    client: HostId,
    server: HostId,
    /// The 4-tuples of the path at the client and at the server.
    tuples: [FourTuple; 2],
    /// Number of ports that the NAT has assigned, which is also the number of addresses that the client has had.
    rebound: u16,
    wires: [DirectedLinkId; 2],
    routes: [RouteId; 2],
}

impl Net {
    /// Creates a network without hosts. The time of the new network is [`Instant::ZERO`].
    pub fn new(seeds: &Seeds) -> Self {
        let seeds = seeds.child("net");
        Net { network: Network::new(&seeds, ()), seeds, hosts: Vec::new(), paths: Vec::new() }
    }

    /// Adds a host to the network.
    ///
    /// # Panics
    /// Panics after 250 hosts, because all hosts share one /24.
    pub fn add_host(&mut self, config: EndpointConfig) -> HostId {
        self.add_host_with(config, None)
    }

    /// Adds a host with a seal.
    ///
    /// # Panics
    /// Panics as [`Net::add_host`] does.
    pub fn add_sealed_host(&mut self, config: EndpointConfig, seal: SealConfig) -> HostId {
        self.add_host_with(config, Some(seal))
    }

    fn add_host_with(&mut self, config: EndpointConfig, seal: Option<SealConfig>) -> HostId {
        let n = self.hosts.len();
        assert!(n < 250, "all hosts have addresses in one /24");
        let address = SocketAddr::new(Ipv4Addr::new(192, 0, 2, n as u8 + 1).into(), PORT);
        let endpoint = SealedEndpoint::new(config, seal, &self.seeds.child(&format!("host {n}")));
        let agent = self.network.add_agent(FlowId::default(), SctpHost::new(endpoint, OVERHEAD));
        self.hosts.push(Host { agent, address, uplinks: 0 });
        HostId(n)
    }

    /// Adds an uplink of `client` that leads to `server`.
    ///
    /// # Panics
    /// Panics if the network is invalid ([`strandcast_netem::link::LinkConfig::validate`]), or after 2¹⁶ paths.
    pub fn add_path(&mut self, client: HostId, server: HostId, network: PathNetwork) -> NetPath {
        let n = u16::try_from(self.paths.len()).expect("addresses are numbered with 16 bits");
        let link = LinkId(self.hosts[client.0].uplinks);
        self.hosts[client.0].uplinks += 1;
        let (near, far) = (&self.hosts[client.0], &self.hosts[server.0]);
        let remote = far.address;
        let wires = [
            self.network.add_wire(network.forward, &format!("path {n} forward")),
            self.network.add_wire(network.reverse, &format!("path {n} reverse")),
        ];
        let (a, b) = (near.agent, far.agent);
        let routes = [
            self.network.add_route((a, b), 0, vec![Step::Link(wires[0])], None),
            self.network.add_route((b, a), 0, vec![Step::Link(wires[1])], None),
        ];
        let tuples = [
            FourTuple::new(link, address(10, n, 40_000), remote),
            FourTuple::new(LinkId(0), remote, address(198, n, 50_000)),
        ];
        self.paths.push(Path { client, server, tuples, rebound: 0, wires, routes });
        let id = NetPath(usize::from(n));
        self.route(id);
        id
    }

    fn route(&mut self, id: NetPath) {
        let p = &self.paths[id.0];
        let [out, back] = p.routes;
        let (client, server, [near, far]) = (p.client, p.server, p.tuples);
        self.host_mut(client).add_route(near, 0, out, back);
        self.host_mut(server).add_route(far, 0, back, out);
    }

    fn unroute(&mut self, id: NetPath) {
        let p = &self.paths[id.0];
        let (client, server, [near, far]) = (p.client, p.server, p.tuples);
        self.host_mut(client).remove_way(&near);
        self.host_mut(server).remove_way(&far);
    }

    fn host(&self, host: HostId) -> &SctpHost {
        self.network.agent(self.hosts[host.0].agent)
    }

    fn host_mut(&mut self, host: HostId) -> &mut SctpHost {
        self.network.agent_mut(self.hosts[host.0].agent)
    }

    /// Adds an application to a host.
    pub fn add_app(&mut self, host: HostId, app: impl App) -> AppId {
        let index = self.host_mut(host).add_app(app);
        self.network.wake(self.hosts[host.0].agent);
        AppId(host.0, index)
    }

    /// Returns an application.
    ///
    /// # Panics
    /// Panics if the application's type is not `A`.
    pub fn app<A: App>(&self, id: AppId) -> &A {
        self.host(HostId(id.0)).app(id.1)
    }

    /// Returns an application, to be changed. The host of the application runs with the next event.
    ///
    /// # Panics
    /// Panics if the application's type is not `A`.
    pub fn app_mut<A: App>(&mut self, id: AppId) -> &mut A {
        self.host_mut(HostId(id.0)).app_mut(id.1)
    }

    /// Opens an association over `paths`, which all begin at `client`. The association connects to the SCTP port on
    /// which the other host listens.
    ///
    /// # Errors
    /// Returns a [`ConnectError`] if the association cannot be opened.
    pub fn connect(
        &mut self,
        client: HostId,
        paths: &[NetPath],
        scheme: Box<dyn Scheme>,
    ) -> Result<AssociationId, ConnectError> {
        self.connect_to(client, paths, scheme, None)
    }

    /// Opens an association between a sealed host and `peer`.
    ///
    /// # Errors
    /// Returns a [`ConnectError`] if the association cannot be opened.
    pub fn connect_to(
        &mut self,
        client: HostId,
        paths: &[NetPath],
        scheme: Box<dyn Scheme>,
        peer: Option<Peer>,
    ) -> Result<AssociationId, ConnectError> {
        let tuples = paths.iter().map(|p| (self.tuple(*p, Direction::Forward), None)).collect();
        let connect = Connect { paths: tuples, port: 5000, scheme, transport: None };
        self.with_sealed(client, |now, endpoint| endpoint.connect(now, connect, peer))
    }

    /// Returns the 4-tuple of a path at the side that sends in `direction`.
    pub fn tuple(&self, path: NetPath, direction: Direction) -> FourTuple {
        self.paths[path.0].tuples[direction as usize]
    }

    /// Returns the endpoint of a host.
    pub fn endpoint(&self, host: HostId) -> &Endpoint {
        self.host(host).endpoint()
    }

    /// Calls the function `f` with the endpoint of a host, and sends the resulting packets.
    pub fn with_endpoint<T>(&mut self, host: HostId, f: impl FnOnce(Instant, &mut Endpoint) -> T) -> T {
        self.with_sealed(host, |now, sealed| f(now, sealed.endpoint_mut()))
    }

    /// Returns the endpoint of a host with its seal.
    pub fn sealed(&self, host: HostId) -> &SealedEndpoint {
        self.host(host).sealed()
    }

    /// Calls the function `f` as [`Net::with_endpoint`] does. The argument of `f` is the endpoint with its seal.
    pub fn with_sealed<T>(&mut self, host: HostId, f: impl FnOnce(Instant, &mut SealedEndpoint) -> T) -> T {
        let agent = self.hosts[host.0].agent;
        self.network.with_agent(agent, |now, host: &mut SctpHost| f(now, host.sealed_mut()))
    }

    /// Returns the link of a path in one direction.
    pub fn link(&self, path: NetPath, direction: Direction) -> &Link<Box<Packet>> {
        &self.network.wire(self.wire(path, direction)).link
    }

    fn wire(&self, path: NetPath, direction: Direction) -> DirectedLinkId {
        self.paths[path.0].wires[direction as usize]
    }

    /// Turns a black hole in one direction of a path on or off. A black hole drops all packets, including packets in
    /// transit.
    pub fn set_black_hole(&mut self, path: NetPath, direction: Direction, on: bool) {
        self.network.set_black_hole(self.wire(path, direction), on);
    }

    /// Takes one direction of a path down, or brings it up again. The hosts are not notified. Taking it down drops all
    /// packets in transit.
    pub fn set_down(&mut self, path: NetPath, direction: Direction, down: bool) {
        self.network.set_down(self.wire(path, direction), down, false);
    }

    /// Makes the NAT of a path drop its mapping. From now on the server receives from another port, and packets to the
    /// old port are lost.
    pub fn rebind(&mut self, path: NetPath) {
        self.unroute(path);
        let p = &mut self.paths[path.0];
        p.rebound += 1;
        p.tuples[1].remote.set_port(50_000 + p.rebound);
        self.route(path);
    }

    /// Changes the client's address on a path. Returns the new 4-tuple, for
    /// [`move_path`](strandcast_proto::association::Association::move_path). Packets from the old address are lost.
    pub fn readdress(&mut self, path: NetPath) -> FourTuple {
        self.rebind(path);
        self.unroute(path);
        let p = &mut self.paths[path.0];
        p.tuples[0].local.set_port(40_000 + p.rebound);
        self.route(path);
        self.tuple(path, Direction::Forward)
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Instant {
        self.network.now()
    }

    /// Runs all events up to and including the time `end`.
    pub fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
    }

    /// Runs all events for the duration `time`.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now() + time);
    }

    /// Runs events while the function `going` returns true before each event, for at most `limit`. Returns whether
    /// `going` returned false.
    pub fn run_while(&mut self, limit: Duration, mut going: impl FnMut(&Net) -> bool) -> bool {
        let end = self.now() + limit;
        while going(self) {
            if !self.step(end) {
                return !going(self);
            }
        }
        true
    }

    /// Runs the next event, if its time is at most `end`. If there is no such event, advances time to `end` and returns
    /// false.
    pub fn step(&mut self, end: Instant) -> bool {
        self.network.step(end)
    }

    /// Returns the number of packets that have no path.
    pub fn unroutable(&self) -> u64 {
        self.hosts.iter().map(|host| self.network.agent::<SctpHost>(host.agent).unroutable()).sum()
    }

    /// Returns the fingerprint of the run so far. The fingerprint covers every packet that left a link, with its
    /// checksum, and every intervention.
    pub fn fingerprint(&self) -> Fingerprint {
        self.network.fingerprint()
    }
}

fn address(first: u8, n: u16, port: u16) -> SocketAddr {
    let [high, low] = n.to_be_bytes();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(first, high, low, 2)), port)
}
