//! Starting a driver, as a client or as a server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use strandcast_proto::app::App;
use strandcast_proto::endpoint::{AssociationId, Connect, ConnectError, Endpoint, EndpointConfig};
use strandcast_proto::path::FourTuple;
use strandcast_proto::policy::Scheme;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::control::{Control, Driver};
use super::core::Core;
use super::handle::{Association, Listener};
use super::links::{Links, Tap, Uplink, look};
use super::mailroom::Mailroom;
use super::task::Task;
use crate::clock::Clock;
use crate::entropy;
use crate::interface::PathError;
use crate::monitor::Monitor;
use crate::socket::{BindSpec, PathSocket, SocketError};

/// Why a driver could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// None of the uplinks can be used now; the first one's reason.
    #[error("{0}")]
    NoPath(PathError),
    /// No uplink was given, or none has an address of the peer.
    #[error("there is no address to connect to")]
    NoAddress,
    /// A socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The transport refuses.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The system gives no randomness.
    #[error("the system gives no random numbers: {0}")]
    Entropy(io::Error),
}

/// A client: one association over its uplinks.
pub struct Client {
    /// Its endpoint; `locals` is filled in.
    pub endpoint: EndpointConfig,
    /// Its paths. Those that can't be opened now are tried again every second.
    pub uplinks: Vec<Uplink>,
    /// The peer's SCTP port.
    pub port: u16,
    /// The scheme it sends by.
    pub scheme: Box<dyn Scheme>,
    /// Sees every datagram.
    pub tap: Option<Tap>,
}

/// A server: associations that peers open.
pub struct Server {
    /// Its endpoint; `locals` is filled in.
    pub endpoint: EndpointConfig,
    /// Where to listen; an unspecified address means all.
    pub listen: Vec<SocketAddr>,
    /// Sees every datagram.
    pub tap: Option<Tap>,
}

/// All that a task needs but its application.
struct Parts {
    core: Core,
    control: Arc<Control>,
    driver: Driver,
    clock: Clock,
}

impl Client {
    /// Begins to connect; call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`OpenError`], one line.
    pub fn connect(self) -> Result<Association, OpenError> {
        let (parts, id) = self.open()?;
        let control = Arc::clone(&parts.control);
        let notes = parts.core.links.notes.clone();
        let mut mailroom = Mailroom::new(control, parts.driver.clone(), parts.clock, notes, None);
        let association = mailroom.open(id);
        parts.spawn(mailroom, Some(id));
        Ok(association)
    }

    /// Connects with an application that runs inside the driver's loop. The task gives it back some time after it has
    /// released the association ([`Endpoint::release`]), or when the driver was stopped.
    ///
    /// # Errors
    /// [`OpenError`], one line.
    pub fn run<A: App>(
        self,
        app: impl FnOnce(AssociationId) -> A,
    ) -> Result<(Driver, JoinHandle<A>), OpenError> {
        let (parts, id) = self.open()?;
        let driver = parts.driver.clone();
        Ok((driver, parts.spawn(app(id), Some(id))))
    }

    fn open(self) -> Result<(Parts, AssociationId), OpenError> {
        let Client { endpoint, uplinks, port, scheme, tap } = self;
        let mut links = Links::default();
        let interfaces = look();
        let reasons =
            uplinks.iter().flat_map(|u| u.remotes.iter().map(|r| u.spec.bind_spec(&interfaces, r.ip())));
        let first_reason = reasons.filter_map(Result::err).next();
        for uplink in uplinks {
            links.add_uplink(uplink, None);
        }
        let mut paths: Vec<(FourTuple, Option<u16>)> = Vec::new();
        // A stack has one local UDP port (RFC 6951 §5.1): others look for it at each address that they are told of.
        let (one_port, mut udp_port) = (endpoint.transport.announce, 0);
        for link in links.iter_mut() {
            link.port = udp_port;
            if let Some(error) = link.refresh(&interfaces) {
                return Err(error.into());
            }
            paths.extend(link.tuple().map(|tuple| (tuple, link.mtu(endpoint.transport.mtu))));
            udp_port = link.tuple().filter(|_| one_port).map_or(udp_port, |tuple| tuple.local.port());
        }
        if paths.is_empty() {
            return Err(first_reason.map_or(OpenError::NoAddress, OpenError::NoPath));
        }
        let mut parts = Parts::new(endpoint, links, tap)?;
        let connect = Connect { paths, port, scheme, transport: None };
        let id = parts.core.endpoint.connect(parts.clock.now(), connect)?;
        parts.core.links.set_owner(id);
        Ok((parts, id))
    }
}

impl Server {
    /// Begins to listen; call it inside a tokio runtime.
    ///
    /// # Errors
    /// [`OpenError`], one line.
    pub fn listen(self) -> Result<Listener, OpenError> {
        let parts = self.open()?;
        let (sender, accepted) = mpsc::unbounded_channel();
        let control = Arc::clone(&parts.control);
        let driver = parts.driver.clone();
        let mailroom = Mailroom::new(control, driver.clone(), parts.clock, Default::default(), Some(sender));
        parts.spawn(mailroom, None);
        Ok(Listener { accepted, driver })
    }

    /// Listens with an application that runs inside the driver's loop. The task gives it back when the driver was
    /// stopped.
    ///
    /// # Errors
    /// [`OpenError`], one line.
    pub fn run<A: App>(self, app: A) -> Result<(Driver, JoinHandle<A>), OpenError> {
        let parts = self.open()?;
        let driver = parts.driver.clone();
        Ok((driver, parts.spawn(app, None)))
    }

    fn open(self) -> Result<Parts, OpenError> {
        let mut links = Links::default();
        for listen in &self.listen {
            let address = Some(listen.ip()).filter(|ip| !ip.is_unspecified() || ip.is_ipv4());
            let spec = BindSpec { address, interface: None, port: listen.port() };
            links.add_listening(PathSocket::bind(&spec)?);
        }
        Parts::new(self.endpoint, links, self.tap)
    }
}

impl Parts {
    fn new(config: EndpointConfig, mut links: Links, tap: Option<Tap>) -> Result<Parts, OpenError> {
        let seeds = entropy::seeds().map_err(OpenError::Entropy)?;
        let locals = links.locals();
        let driver_locals = locals.iter().map(|(_, address)| *address).collect();
        let named = locals.into_iter().filter(|(_, address)| !address.ip().is_unspecified());
        let config = EndpointConfig { locals: named.collect(), ..config };
        links.tap = tap;
        let control = Arc::new(Control::default());
        let driver = Driver::new(Arc::clone(&control), driver_locals);
        let mtu = config.transport.mtu;
        let monitor = Monitor::new();
        let core = Core { endpoint: Endpoint::new(config, &seeds), links, monitor, mtu };
        Ok(Parts { core, control, driver, clock: Clock::start() })
    }

    fn spawn<A: App>(self, app: A, client: Option<AssociationId>) -> JoinHandle<A> {
        let task = Task::new(self.core, app, self.control, client, self.clock);
        tokio::spawn(task.run())
    }
}
