//! Reports of an endpoint.

use core::net::SocketAddr;
use core::time::Duration;

use crate::config::KeySize;
use crate::connection::Ended;
use crate::refusal::Refusal;
use crate::stats::Stats;

/// A connection of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) u32);

/// A change of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection is open.
    Connected {
        /// The connection.
        id: ConnectionId,
        /// Address of the peer.
        peer: SocketAddr,
        /// Stream id that a caller sent.
        stream_id: Option<String>,
        /// Length of the keys, if the connection is encrypted.
        key_size: Option<KeySize>,
        /// Latency that applies.
        latency: Duration,
    },
    /// A listener refused a caller.
    Refused {
        /// Address of the caller.
        peer: SocketAddr,
        /// Reason.
        refusal: Refusal,
    },
    /// A caller could not connect.
    Failed {
        /// Reason.
        refusal: Refusal,
    },
    /// A connection has ended.
    Ended {
        /// The connection.
        id: ConnectionId,
        /// Reason.
        why: Ended,
        /// Figures of the connection.
        stats: Stats,
    },
}
