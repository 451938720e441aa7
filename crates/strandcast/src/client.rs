//! Connecting to a server.

use std::time::Duration;

use strandcast_net::driver::{self, AssociationHandle, ClientSeal, Uplink};
use strandcast_net::interface::PathSpec;
use strandcast_net::resolve::HostPort;
use strandcast_proto::association::CloseReason;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::EndpointConfig;

use crate::SCTP_PORT;
use crate::error::Error;
use crate::route::{self, Paths};
use crate::scheme::Scheme;
use crate::transport::{open_error, policies};

/// Default time limit for connecting. If a host does not answer, its handshake ends before this limit.
const CONNECT: Duration = Duration::from_secs(20);

/// Connects to servers over several networks at once.
///
/// ```
/// use strandcast::{Client, Scheme, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut server = Server::new(Scheme::rfc9260()).listen("127.0.0.1:0".parse()?).start()?;
/// let address = server.addresses()[0].to_string();
/// let client = Client::new(Scheme::rfc9260()).path("bind=127.0.0.2".parse()?).path("bind=127.0.0.3".parse()?);
///
/// let (connection, accepted) = tokio::join!(client.connect(&address), server.accept());
/// connection?.send("hello".into(), Default::default()).await?;
/// let accepted = accepted.ok_or("the server has ended")?;
/// assert_eq!(accepted.recv().await.ok_or("it was closed")?.payload, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    scheme: Scheme,
    transport: TransportConfig,
    sctp_port: u16,
    paths: Paths,
    timeout: Duration,
}

impl Client {
    /// Makes a client with the transport of live streams. The client uses every interface that is up and has a route to
    /// the server.
    pub fn new(scheme: Scheme) -> Client {
        let (transport, paths) = (TransportConfig::live(), Paths::default());
        Client { scheme, transport, sctp_port: SCTP_PORT, paths, timeout: CONNECT }
    }

    /// Adds a path, such as `if=wlan0` or `bind=192.0.2.7`. The client then uses only the paths that were added. While
    /// one of these paths works, it is not an error if another path cannot be used.
    /// [`Snapshot::links`](crate::Snapshot::links) lists the other path with the reason, and the path joins once it can
    /// be used.
    #[must_use]
    pub fn path(mut self, path: PathSpec) -> Client {
        self.paths.paths.push(path);
        self
    }

    /// Sets the parameters of the transport. The scheme then changes the parameters that it needs.
    #[must_use]
    pub fn transport(self, transport: TransportConfig) -> Client {
        Client { transport, ..self }
    }

    /// Sets the SCTP port of both sides.
    #[must_use]
    pub fn sctp_port(self, sctp_port: u16) -> Client {
        Client { sctp_port, ..self }
    }

    /// Sets the time that connecting may take: 20 s by default.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Client {
        Client { timeout, ..self }
    }

    /// Connects to `HOST[:PORT]`. The connection is neither encrypted nor authenticated. The caller must be inside a
    /// tokio runtime.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if `host` is not a host. Returns [`Error::Network`] if the host has no address, or no
    /// path leads there. Returns [`Error::Peer`] if the host does not answer, or refuses.
    pub async fn connect(&self, host: &str) -> Result<AssociationHandle, Error> {
        let to: HostPort = host.parse().map_err(|error| Error::Usage(format!("{error}")))?;
        self.open(&[to], host, None, None).await
    }

    /// Connects to a receiver of a store or of a pairing. The connection is encrypted. Call this method inside a tokio
    /// runtime.
    ///
    /// # Errors
    /// The errors of [`Client::connect`].
    #[cfg(feature = "seal")]
    pub async fn connect_to(&self, to: &crate::pairing::Destination) -> Result<AssociationHandle, Error> {
        let reports = crate::pairing::SealReports::default();
        let key = to.seal.as_ref().map(|(_, peer)| crate::pairing::fingerprint(&peer.key));
        let connected = self.open(&to.hosts, &to.label, reports.seal(to), key).await;
        connected.map_err(|error| match reports.refusal(to) {
            Some((words, _)) => Error::Peer(format!("{} {words}", to.label)),
            None => error,
        })
    }

    async fn open(
        &self,
        hosts: &[HostPort],
        label: &str,
        seal: Option<ClientSeal>,
        key: Option<String>,
    ) -> Result<AssociationHandle, Error> {
        let begun = tokio::time::Instant::now();
        let (remotes, uplinks) = route::routes(hosts, &self.paths).await?;
        let association = self.start(uplinks, seal)?;
        let why = match tokio::time::timeout(self.timeout, association.connected()).await {
            Ok(Ok(_)) => return Ok(association),
            Ok(Err(reason)) => reason,
            Err(_) => CloseReason::NoAnswer,
        };
        association.abort("no answer in time");
        Err(Error::Peer(match why {
            CloseReason::NoAnswer | CloseReason::Unreachable => {
                let asked: Vec<String> = remotes.iter().flatten().map(ToString::to_string).collect();
                let after = begun.elapsed().as_secs_f64();
                format!("no answer from {label} for {after:.0} s: {}", route::unanswered(&asked, key))
            }
            why => format!("{label}: {why}"),
        }))
    }

    fn start(&self, uplinks: Vec<Uplink>, seal: Option<ClientSeal>) -> Result<AssociationHandle, Error> {
        let endpoint = self.scheme.endpoint(self.transport.clone(), false);
        let endpoint = EndpointConfig { port: self.sctp_port, ..endpoint };
        let (port, scheme) = (self.sctp_port, policies(&self.scheme)?);
        let client = driver::Client { endpoint, uplinks, port, scheme, seal, tap: None };
        client.connect().map_err(|error| open_error(&error))
    }
}
