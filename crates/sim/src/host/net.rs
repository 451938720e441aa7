//! The network and its loop.

use core::any::Any;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::collections::BTreeMap;

use bytes::Bytes;
use strandcast_proto::app::App;
use strandcast_proto::association::Transmit;
use strandcast_proto::endpoint::{AssociationId, Connect, ConnectError, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::{LinkId, Scheme};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use crate::engine::{Engine, Fingerprint};
use crate::link::Link;
use crate::topology::PathNetwork;

/// IPv4 and UDP header.
const OVERHEAD: usize = 28;
/// UDP port of every host's listening address (RFC 6951).
const PORT: u16 = 9899;
/// Rounds of one host at one instant: more can only be an application that makes work for itself for ever.
const MOST_ROUNDS: usize = 100_000;

/// Names a host of a [`Net`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostId(usize);

/// Names a path of a [`Net`]: the number of paths that were there before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NetPath(pub usize);

/// Names an application of a [`Net`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppId(usize, usize);

/// A direction of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the host whose uplink the path is.
    Forward,
    /// Towards it.
    Reverse,
}

/// Hosts and the paths between them, in simulated time.
///
/// Model: a path is the uplink of one host, with an address of its own there, behind a NAT of its own, to the one
/// address of another host. Hosts take no time: what arrives at one instant over one link is handed in together and
/// answered at that instant. Packets count on links with IPv4 and UDP headers (28 bytes). Limits: paths share no
/// link; hosts have no queue but their send buffer, so that what a link drops at its tail is lost to the transport,
/// too. Same seeds and same calls give the same [`Net::fingerprint`].
#[derive(Debug)]
pub struct Net {
    engine: Engine<Due>,
    seeds: Seeds,
    hosts: Vec<Host>,
    paths: Vec<Path>,
    /// Where a host's packets with a 4-tuple go.
    routes: BTreeMap<(HostId, FourTuple), (NetPath, Direction)>,
    unroutable: u64,
    fingerprint: Fingerprint,
    buffer: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    Host(HostId),
    Link(NetPath, Direction),
}

struct Host {
    endpoint: Endpoint,
    apps: Vec<Box<dyn App>>,
    address: SocketAddr,
    /// Uplinks so far.
    uplinks: u32,
    alarm: Alarm,
}

#[derive(Debug)]
struct Path {
    client: HostId,
    server: HostId,
    /// The 4-tuple as the client knows it, and as the server does.
    tuples: [FourTuple; 2],
    /// Ports the NAT has given out, and addresses the client has had.
    rebound: u16,
    links: [Link<Bytes>; 2],
    alarms: [Alarm; 2],
}

/// The earliest of the events scheduled for one thing; later ones find nothing to do.
#[derive(Clone, Copy, Debug, Default)]
struct Alarm(Option<Instant>);

impl Alarm {
    fn set(&mut self, engine: &mut Engine<Due>, at: Option<Instant>, due: Due) {
        let Some(at) = at.filter(|at| self.0.is_none_or(|set| *at < set)) else { return };
        self.0 = Some(at);
        engine.schedule(at, due);
    }

    /// An event for this thing has come up.
    fn rang(&mut self, now: Instant) {
        if self.0.is_some_and(|at| at <= now) {
            self.0 = None;
        }
    }
}

impl Net {
    /// A network without hosts at [`Instant::ZERO`].
    pub fn new(seeds: &Seeds) -> Self {
        Net {
            engine: Engine::new(),
            seeds: seeds.child("net"),
            hosts: Vec::new(),
            paths: Vec::new(),
            routes: BTreeMap::new(),
            unroutable: 0,
            fingerprint: Fingerprint::new(),
            buffer: Vec::new(),
        }
    }

    /// Adds a host.
    ///
    /// # Panics
    /// After 250 hosts: they share one /24.
    pub fn add_host(&mut self, config: EndpointConfig) -> HostId {
        let n = self.hosts.len();
        assert!(n < 250, "hosts have addresses in one /24");
        let address = SocketAddr::new(Ipv4Addr::new(192, 0, 2, n as u8 + 1).into(), PORT);
        let endpoint = Endpoint::new(config, &self.seeds.child(&format!("host {n}")));
        self.hosts.push(Host { endpoint, apps: Vec::new(), address, uplinks: 0, alarm: Alarm::default() });
        HostId(n)
    }

    /// Gives `client` one more uplink, over which it can reach `server`.
    ///
    /// # Panics
    /// If the network is none ([`crate::link::LinkConfig::validate`]), or after 2¹⁶ paths.
    pub fn add_path(&mut self, client: HostId, server: HostId, network: PathNetwork) -> NetPath {
        let n = u16::try_from(self.paths.len()).expect("addresses are numbered with 16 bits");
        let seeds = self.seeds.child(&format!("path {n}"));
        let link = LinkId(self.hosts[client.0].uplinks);
        self.hosts[client.0].uplinks += 1;
        let remote = self.hosts[server.0].address;
        let path = Path {
            client,
            server,
            tuples: [
                FourTuple { link, local: address(10, n, 40_000), remote },
                FourTuple { link: LinkId(0), local: remote, remote: address(198, n, 50_000) },
            ],
            rebound: 0,
            links: [
                Link::new(network.forward, &seeds, "forward"),
                Link::new(network.reverse, &seeds, "reverse"),
            ],
            alarms: Default::default(),
        };
        self.paths.push(path);
        let id = NetPath(usize::from(n));
        self.route(id);
        id
    }

    fn route(&mut self, id: NetPath) {
        let p = &self.paths[id.0];
        self.routes.insert((p.client, p.tuples[0]), (id, Direction::Forward));
        self.routes.insert((p.server, p.tuples[1]), (id, Direction::Reverse));
    }

    fn unroute(&mut self, id: NetPath) {
        let p = &self.paths[id.0];
        self.routes.remove(&(p.client, p.tuples[0]));
        self.routes.remove(&(p.server, p.tuples[1]));
    }

    /// Puts an application on a host.
    pub fn add_app(&mut self, host: HostId, app: impl App) -> AppId {
        let apps = &mut self.hosts[host.0].apps;
        apps.push(Box::new(app));
        let id = AppId(host.0, apps.len() - 1);
        self.pump(host);
        id
    }

    /// An application, to look at.
    ///
    /// # Panics
    /// If it is no `A`.
    pub fn app<A: App>(&self, id: AppId) -> &A {
        let app: &dyn Any = &*self.hosts[id.0].apps[id.1];
        app.downcast_ref().expect("the application is of the type it was added with")
    }

    /// An application, to change; its host runs with the next event.
    ///
    /// # Panics
    /// If it is no `A`.
    pub fn app_mut<A: App>(&mut self, id: AppId) -> &mut A {
        let app: &mut dyn Any = &mut *self.hosts[id.0].apps[id.1];
        app.downcast_mut().expect("the application is of the type it was added with")
    }

    /// Opens an association over `paths`, which all begin at `client`, to the SCTP port that the other host listens on.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect(
        &mut self,
        client: HostId,
        paths: &[NetPath],
        scheme: Box<dyn Scheme>,
    ) -> Result<AssociationId, ConnectError> {
        let tuples = paths.iter().map(|p| (self.tuple(*p, Direction::Forward), None)).collect();
        let connect = Connect { paths: tuples, port: 5000, scheme, transport: None };
        self.with_endpoint(client, |now, endpoint| endpoint.connect(now, connect))
    }

    /// The 4-tuple of a path as the side knows it that sends in `direction`.
    pub fn tuple(&self, path: NetPath, direction: Direction) -> FourTuple {
        self.paths[path.0].tuples[direction as usize]
    }

    /// A host's endpoint, to look at.
    pub fn endpoint(&self, host: HostId) -> &Endpoint {
        &self.hosts[host.0].endpoint
    }

    /// Calls `f` on a host's endpoint and sends what comes of it.
    pub fn with_endpoint<T>(&mut self, host: HostId, f: impl FnOnce(Instant, &mut Endpoint) -> T) -> T {
        let result = f(self.engine.now(), &mut self.hosts[host.0].endpoint);
        self.pump(host);
        result
    }

    /// A direction of a path, to look at.
    pub fn link(&self, path: NetPath, direction: Direction) -> &Link<Bytes> {
        &self.paths[path.0].links[direction as usize]
    }

    /// While on, the direction swallows everything, also what is under way.
    pub fn set_black_hole(&mut self, path: NetPath, direction: Direction, on: bool) {
        self.paths[path.0].links[direction as usize].set_black_hole(on);
        self.record("black hole", path, direction, u64::from(on));
    }

    /// Takes the direction down, with all that is under way, or up again.
    pub fn set_down(&mut self, path: NetPath, direction: Direction, down: bool) {
        let now = self.engine.now();
        self.paths[path.0].links[direction as usize].set_down(now, down);
        self.record("down", path, direction, u64::from(down));
    }

    /// The NAT of a path forgets it: the server sees another port from now on, and what it sends to the old one is lost.
    pub fn rebind(&mut self, path: NetPath) {
        self.unroute(path);
        let p = &mut self.paths[path.0];
        p.rebound += 1;
        p.tuples[1].remote.set_port(50_000 + p.rebound);
        self.route(path);
    }

    /// The client's address on the path changes: its new 4-tuple, for
    /// [`move_path`](strandcast_proto::association::Association::move_path). What it sends from the old one is lost.
    pub fn readdress(&mut self, path: NetPath) -> FourTuple {
        self.rebind(path);
        self.unroute(path);
        let p = &mut self.paths[path.0];
        p.tuples[0].local.set_port(40_000 + p.rebound);
        self.route(path);
        self.tuple(path, Direction::Forward)
    }

    /// Simulated time.
    pub fn now(&self) -> Instant {
        self.engine.now()
    }

    /// Lets everything happen up to and including `end`.
    pub fn run_until(&mut self, end: Instant) {
        while self.step(end) {}
    }

    /// Lets `time` pass.
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(self.now() + time);
    }

    /// Runs as long as `going` says so, asked before each event, but not longer than `limit`; whether it said no.
    pub fn run_while(&mut self, limit: Duration, mut going: impl FnMut(&Net) -> bool) -> bool {
        let end = self.now() + limit;
        while going(self) {
            if !self.step(end) {
                return !going(self);
            }
        }
        true
    }

    /// The next thing that happens up to and including `end`; false, with time moved there, if nothing does.
    pub fn step(&mut self, end: Instant) -> bool {
        let Some(due) = self.engine.pop_until(end) else { return false };
        let now = self.engine.now();
        match due {
            Due::Host(host) => {
                self.hosts[host.0].alarm.rang(now);
                let endpoint = &mut self.hosts[host.0].endpoint;
                if endpoint.poll_timeout().is_some_and(|at| at <= now) {
                    endpoint.handle_timeout(now);
                }
                self.pump(host);
            }
            Due::Link(path, direction) => self.deliver(path, direction),
        }
        true
    }

    /// Packets that had no path to go (any more).
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// The trajectory so far: every packet sent, delivered and refused, with its checksum, and every intervention.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    fn record(&mut self, kind: &str, path: NetPath, direction: Direction, what: u64) {
        self.fingerprint.record(self.engine.now(), kind, &[path.0 as u64, direction as u64, what]);
    }

    /// Hands over what has arrived.
    fn deliver(&mut self, path: NetPath, direction: Direction) {
        let now = self.engine.now();
        let (to, tuple) = {
            let p = &mut self.paths[path.0];
            p.alarms[direction as usize].rang(now);
            match direction {
                Direction::Forward => (p.server, p.tuples[1]),
                Direction::Reverse => (p.client, p.tuples[0]),
            }
        };
        let mut arrived = false;
        while let Some(data) = self.paths[path.0].links[direction as usize].poll(now) {
            self.record("arrived", path, direction, digest(&data));
            let segment_size = data.len();
            self.hosts[to.0].endpoint.handle_input(now, Input::Datagrams { tuple, data, segment_size });
            arrived = true;
        }
        self.watch(path, direction);
        if arrived {
            self.pump(to);
        }
    }

    fn watch(&mut self, path: NetPath, direction: Direction) {
        let p = &mut self.paths[path.0];
        let next = p.links[direction as usize].poll_timeout();
        p.alarms[direction as usize].set(&mut self.engine, next, Due::Link(path, direction));
    }

    /// Runs a host until it has nothing more to say at this instant.
    fn pump(&mut self, host: HostId) {
        let now = self.engine.now();
        // Something happened since the applications were last polled.
        let mut news = true;
        for round in 0.. {
            assert!(round < MOST_ROUNDS, "host {} is never done at {now:?}", host.0);
            news |= self.send(host);
            let Host { endpoint, apps, .. } = &mut self.hosts[host.0];
            if let Some((id, event)) = endpoint.poll_event() {
                apps.iter_mut().for_each(|app| app.on_event(now, endpoint, id, &event));
                news = true;
            } else if news {
                apps.iter_mut().for_each(|app| app.poll(now, endpoint));
                news = false;
            } else {
                break;
            }
        }
        let Host { endpoint, apps, alarm, .. } = &mut self.hosts[host.0];
        let next = apps.iter().filter_map(|app| app.poll_timeout()).chain(endpoint.poll_timeout()).min();
        alarm.set(&mut self.engine, next, Due::Host(host));
    }

    /// Sends all that a host's endpoint has; whether it had anything.
    fn send(&mut self, host: HostId) -> bool {
        let now = self.engine.now();
        let mut buffer = core::mem::take(&mut self.buffer);
        let mut any = false;
        while let Some(transmit) = self.hosts[host.0].endpoint.poll_output(now, &mut buffer) {
            any = true;
            self.launch(host, &transmit, &Bytes::copy_from_slice(&buffer));
            buffer.clear();
        }
        self.buffer = buffer;
        any
    }

    fn launch(&mut self, host: HostId, transmit: &Transmit, batch: &Bytes) {
        let now = self.engine.now();
        let Some(&(path, direction)) = self.routes.get(&(host, transmit.tuple)) else {
            self.unroutable += 1;
            return;
        };
        let headers = OVERHEAD + if transmit.tuple.remote.is_ipv6() { 20 } else { 0 };
        for start in (0..batch.len()).step_by(transmit.segment_size) {
            let datagram = batch.slice(start..batch.len().min(start + transmit.segment_size));
            let (len, sum) = (datagram.len() + headers, digest(&datagram));
            let link = &mut self.paths[path.0].links[direction as usize];
            let taken = link.enqueue(now, datagram, len);
            self.record(if taken { "sent" } else { "refused" }, path, direction, sum);
        }
        self.watch(path, direction);
    }
}

/// SCTP's own checksum and the length tell packets apart.
fn digest(datagram: &[u8]) -> u64 {
    let sum = datagram.get(8..12).map_or(0, |b| u64::from(u32::from_be_bytes([b[0], b[1], b[2], b[3]])));
    (datagram.len() as u64) << 32 | sum
}

fn address(first: u8, n: u16, port: u16) -> SocketAddr {
    let [high, low] = n.to_be_bytes();
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(first, high, low, 2)), port)
}

impl core::fmt::Debug for Host {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Host").field("address", &self.address).field("apps", &self.apps.len()).finish()
    }
}
