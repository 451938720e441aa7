//! Configuration and statistics of a relay.

use std::net::SocketAddr;

use strandcast_netem::link::{LinkConfigError, LinkStats};
use strandcast_netem::topology::PathNetwork;

use crate::socket::SocketError;

/// Configuration of a relay.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// Address that clients use instead of the server's address. With port 0, the system chooses the port.
    pub listen: SocketAddr,
    /// The server's address.
    pub server: SocketAddr,
    /// The links to the server (`forward`) and to the clients (`reverse`). The name of the network selects their random
    /// streams.
    pub network: PathNetwork,
}

/// A direction through a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Traffic from clients to the server.
    Forward,
    /// Traffic from the server to clients.
    Reverse,
}

/// Counters of a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayStats {
    /// The link to the server.
    pub forward: LinkStats,
    /// The link to the clients.
    pub reverse: LinkStats,
    /// Number of known clients. A client is identified by its address and port.
    pub clients: usize,
    /// Datagrams that a link delivered but that the system did not accept.
    pub unsent: u64,
}

/// Reason why a relay cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// The link's configuration is invalid.
    #[error("emulated path {0}: {1}")]
    Link(String, #[source] LinkConfigError),
    /// The socket could not be opened.
    #[error(transparent)]
    Socket(#[from] SocketError),
}
