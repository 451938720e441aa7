//! Starts a driver for a client or a server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use strandcast_proto::app::App;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::{AssociationId, Connect, EndpointConfig};
use strandcast_proto::path::{FourTuple, MAX_PATHS};
use strandcast_proto::policy::Scheme;
use strandcast_proto::time::Instant;
use strandcast_seal::{Access, ConnectError, Peer, PlainAnswers, SealConfig, SealedEndpoint, SecretKey};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::control::{Control, Driver};
use super::core::{Core, SealObserver};
use super::handle::{AssociationHandle, Listener};
use super::interfaces::InterfaceList;
use super::mux::AssociationMux;
use super::reconcile::MOST_AT_A_TIME;
use super::sockets::{PacketDirection, PacketTap, PathSockets};
use super::task::Task;
use super::uplink::Uplink;
use super::waits::Waits;
use crate::clock::Clock;
use crate::entropy;
use crate::interface::PathError;
use crate::monitor::Monitor;
use crate::socket::{BindSpec, PathSocket, SocketError};

/// Reason why a driver could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No uplink can be used now. The error is the error of the first uplink.
    #[error("{0}")]
    NoPath(PathError),
    /// No uplink was given, or no uplink has an address of the peer.
    #[error("no address to connect to")]
    NoAddress,
    /// A socket could not be opened.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The transport refused to connect.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The system provides no randomness.
    #[error("the system provides no random numbers: {0}")]
    Entropy(io::Error),
}

/// A client: one association that uses all of its uplinks.
pub struct Client {
    /// The endpoint's configuration. The driver sets `locals`.
    pub endpoint: EndpointConfig,
    /// One path per uplink. If an uplink is a pattern, it gets one path per matching interface. A path that cannot be
    /// opened now is opened once this is possible.
    pub uplinks: Vec<Uplink>,
    /// The peer's SCTP port.
    pub port: u16,
    /// The scheme for sending.
    pub scheme: Box<dyn Scheme>,
    /// Keys for encryption and authentication. `None`: packets are sent without encryption.
    pub seal: Option<ClientSeal>,
    /// Called for every packet.
    pub tap: Option<PacketTap>,
}

/// Identity of a client, and its peer.
pub struct ClientSeal {
    /// Static key of this side.
    pub identity: SecretKey,
    /// The receiver's key, and the token of the pairing.
    pub peer: Peer,
    /// Callbacks.
    pub hooks: SealHooks,
}

/// Identity of a server, and the keys that may connect.
pub struct ServerSeal {
    /// Static key of this side.
    pub identity: SecretKey,
    /// Keys that may connect; [`Driver::set_access`] replaces them.
    pub access: Access,
    /// Maximum number of sessions. `None`: the default of [`SealConfig::new`].
    pub max_sessions: Option<usize>,
    /// Callbacks.
    pub hooks: SealHooks,
}

/// Function that takes the lines of a key log.
pub type KeyLogSink = Box<dyn FnMut(&str) + Send>;

/// Callbacks, called in the driver's loop.
#[derive(Default)]
pub struct SealHooks {
    /// Called with each event of the seal.
    pub on_event: Option<SealObserver>,
    /// Called with each line of the key log, which contains the secrets of a path.
    pub keylog: Option<KeyLogSink>,
}

/// A server. The server accepts the associations that peers open.
pub struct Server {
    /// The endpoint's configuration. The driver sets `locals`.
    pub endpoint: EndpointConfig,
    /// The addresses on which to listen. The unspecified address stands for all addresses.
    pub listen: Vec<SocketAddr>,
    /// Keys for encryption and authentication. `None`: packets are accepted without encryption.
    pub seal: Option<ServerSeal>,
    /// Called for every packet.
    pub tap: Option<PacketTap>,
}

/// The parts of a task except its application.
struct Parts {
    core: Core,
    control: Arc<Control>,
    driver: Driver,
    clock: Clock,
}

impl Client {
    /// Starts to connect. Call this inside a tokio runtime.
    ///
    /// # Errors
    /// [`OpenError`], a one-line diagnostic.
    pub fn connect(self) -> Result<AssociationHandle, OpenError> {
        let (parts, id) = self.open()?;
        let control = Arc::clone(&parts.control);
        let link_metadata = parts.core.sockets.link_metadata.clone();
        let mut mux = AssociationMux::new(control, parts.driver.clone(), parts.clock, link_metadata, None);
        let association = mux.open(id);
        parts.spawn(mux, Some(id));
        Ok(association)
    }

    /// Connects. The application runs inside the driver's loop. The task returns the application when the driver is
    /// stopped, or a short time after the application has released the association
    /// ([`strandcast_proto::endpoint::Endpoint::release`]).
    ///
    /// # Errors
    /// [`OpenError`], a one-line diagnostic.
    pub fn run<A: App>(
        self,
        app: impl FnOnce(AssociationId) -> A,
    ) -> Result<(Driver, JoinHandle<A>), OpenError> {
        let (parts, id) = self.open()?;
        let driver = parts.driver.clone();
        Ok((driver, parts.spawn(app(id), Some(id))))
    }

    fn open(self) -> Result<(Parts, AssociationId), OpenError> {
        let Client { endpoint, uplinks, port, scheme, seal, tap } = self;
        let (mut sockets, mut interfaces) = (PathSockets::default(), InterfaceList::now());
        let (known, routes) = interfaces.known();
        let first_reason = uplinks.iter().find_map(|uplink| uplink.hindrance(known, routes));
        for uplink in uplinks {
            sockets.add_uplink(uplink, None);
        }
        sockets.follow(known, routes);
        let clock = Clock::start();
        let opened = first_paths(&mut sockets, &mut interfaces, &endpoint.transport, clock.now());
        let (paths, failed) = opened;
        if paths.is_empty() {
            let reason = first_reason.map_or(OpenError::NoAddress, OpenError::NoPath);
            return Err(failed.map_or(reason, OpenError::Socket));
        }
        let (peer, seal) = match seal {
            Some(ClientSeal { identity, peer, hooks }) => {
                (Some(peer), Some((SealConfig::new(identity, Access::default()), hooks)))
            }
            None => (None, None),
        };
        let mut parts = Parts::new(endpoint, (sockets, interfaces), seal, tap, clock)?;
        let connect = Connect { paths, port, scheme, transport: None };
        let id = parts.core.sealed.connect(parts.clock.now(), connect, peer)?;
        parts.core.sockets.set_owner(id);
        Ok((parts, id))
    }
}

impl Server {
    /// Starts to listen. Call this inside a tokio runtime.
    ///
    /// # Errors
    /// [`OpenError`], a one-line diagnostic.
    pub fn listen(self) -> Result<Listener, OpenError> {
        let parts = self.open()?;
        let (sender, accepted) = mpsc::unbounded_channel();
        let control = Arc::clone(&parts.control);
        let driver = parts.driver.clone();
        let mux = AssociationMux::new(control, driver.clone(), parts.clock, Default::default(), Some(sender));
        parts.spawn(mux, None);
        Ok(Listener { accepted, driver })
    }

    /// Listens. The application runs inside the driver's loop. The task returns the application when the driver is
    /// stopped.
    ///
    /// # Errors
    /// [`OpenError`], a one-line diagnostic.
    pub fn run<A: App>(self, app: A) -> Result<(Driver, JoinHandle<A>), OpenError> {
        let parts = self.open()?;
        let driver = parts.driver.clone();
        Ok((driver, parts.spawn(app, None)))
    }

    fn open(self) -> Result<Parts, OpenError> {
        let mut sockets = PathSockets::default();
        for listen in &self.listen {
            let address = Some(listen.ip()).filter(|ip| !ip.is_unspecified() || ip.is_ipv4());
            let spec = BindSpec { address, scope: scope(*listen), interface: None, port: listen.port() };
            sockets.add_listening(PathSocket::bind(&spec)?, spec);
        }
        let seal = self.seal.map(|s| {
            let config = SealConfig::new(s.identity, s.access);
            let max_sessions = s.max_sessions.unwrap_or(config.max_sessions);
            (SealConfig { max_sessions, ..config }, s.hooks)
        });
        Parts::new(self.endpoint, (sockets, InterfaceList::now()), seal, self.tap, Clock::start())
    }
}

impl Parts {
    fn new(
        config: EndpointConfig,
        (sockets, interfaces): (PathSockets, InterfaceList),
        seal: Option<(SealConfig, SealHooks)>,
        tap: Option<PacketTap>,
        clock: Clock,
    ) -> Result<Parts, OpenError> {
        let seeds = entropy::seeds().map_err(OpenError::Entropy)?;
        let locals = sockets.locals();
        let driver_locals = locals.iter().map(|(_, address)| *address).collect();
        let named = locals.into_iter().filter(|(_, address)| !address.ip().is_unspecified());
        let config = EndpointConfig { locals: named.collect(), ..config };
        let control = Arc::new(Control::default());
        let driver = Driver::new(Arc::clone(&control), driver_locals);
        let mtu = config.transport.mtu;
        let monitor = Monitor::new();
        let (seal, hooks) = seal.unzip();
        let SealHooks { on_event: observer, keylog } = hooks.unwrap_or_default();
        let mut sealed = SealedEndpoint::new(config, seal, &seeds);
        if let Some(keylog) = keylog {
            sealed.set_keylog(keylog);
        }
        sealed.set_tap(tap.map(of_endpoint));
        let core = Core {
            sealed,
            plain: PlainAnswers::default(),
            observer,
            sockets,
            interfaces,
            links_listed: (0, Instant::ZERO),
            links_changed: false,
            monitor,
            waits: Waits::default(),
            mtu,
        };
        Ok(Parts { core, control, driver, clock })
    }

    fn spawn<A: App>(mut self, app: A, client: Option<AssociationId>) -> JoinHandle<A> {
        self.core.waits.of = client;
        let task = Task::new(self.core, app, self.control, client, self.clock);
        tokio::spawn(task.run())
    }
}

/// Opens a client's first sockets, up to the maximum number of paths. The function begins with the best route of each
/// uplink to the peer. Then it continues with the next best routes. An INIT is sent over all of these paths. The path
/// whose INIT is answered first is used. The result also has the error of a socket that could not be opened.
fn first_paths(
    sockets: &mut PathSockets,
    interfaces: &mut InterfaceList,
    transport: &TransportConfig,
    now: Instant,
) -> (Vec<(FourTuple, Option<u16>)>, Option<SocketError>) {
    let (mut paths, mut failed) = (Vec::new(), None);
    // A stack has one local UDP port (RFC 6951 §5.1). Peers expect this port at each announced address, but choose the
    // destination address themselves.
    let (one_port, mut udp_port) = (transport.announce, 0);
    let (known, routes) = interfaces.known();
    let ways: Vec<_> = sockets.uplinks.iter().map(|u| u.uplink.candidates(known, routes)).collect();
    for round in 0..if one_port { 1 } else { MOST_AT_A_TIME } {
        for (at, way) in ways.iter().enumerate().filter_map(|(at, ways)| Some((at, ways.get(round)?))) {
            if paths.len() == MAX_PATHS {
                return (paths, failed);
            }
            let slot = sockets.slot_for(at, way.remote);
            let slot = sockets.slot_mut(slot);
            slot.port = udp_port;
            if let Some(error) = slot.refresh(way, known) {
                failed = failed.or(Some(error));
                continue;
            }
            let Some(tuple) = slot.tuple() else { continue };
            (slot.tried, slot.last_tried, slot.placed) = (Some(now), now, Some(tuple.local));
            paths.push((tuple, slot.mtu(transport.mtu)));
            udp_port = if one_port { tuple.local.port() } else { 0 };
        }
    }
    (paths, failed)
}

/// The zone of an IPv6 address.
fn scope(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V6(v6) => v6.scope_id(),
        SocketAddr::V4(_) => 0,
    }
}

/// Converts a driver's tap to a tap of an endpoint.
fn of_endpoint(mut tap: PacketTap) -> strandcast_seal::PacketTap {
    Box::new(move |now, tuple, sent, packet| {
        let direction = if sent { PacketDirection::Sent } else { PacketDirection::Received };
        tap(now, tuple, direction, packet);
    })
}
