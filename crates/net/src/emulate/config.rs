//! What a relay stands for, and what it tells.

use crate::socket::SocketError;
use std::net::SocketAddr;
use strandcast_netem::link::{LinkConfigError, LinkStats};
use strandcast_netem::topology::PathNetwork;

/// What a relay stands for.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// Where clients send to instead of the server; port 0 lets the system choose.
    pub listen: SocketAddr,
    /// The server.
    pub server: SocketAddr,
    /// The links there (`forward`) and back (`reverse`). Its name labels their random streams.
    pub network: PathNetwork,
}

/// A direction through a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From clients to the server.
    Forward,
    /// From the server to clients.
    Reverse,
}

/// Counters of a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelayStats {
    /// The link to the server.
    pub forward: LinkStats,
    /// The link back.
    pub reverse: LinkStats,
    /// Clients known (by address and port).
    pub clients: usize,
    /// Datagrams that came out of a link and that the system did not take.
    pub unsent: u64,
}

/// Why a relay cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// No such link.
    #[error("emulated path {0}: {1}")]
    Link(String, #[source] LinkConfigError),
    /// The socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
}
