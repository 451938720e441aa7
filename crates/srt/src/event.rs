//! Events of an SRT endpoint.

use core::net::SocketAddr;
use core::time::Duration;

use crate::config::KeySize;
use crate::connection::Ended;
use crate::refusal::Refusal;
use crate::stats::Stats;

/// Identifier of a connection within an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) u32);

/// An event: a change of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection was opened.
    Connected {
        /// Identifier of the connection.
        id: ConnectionId,
        /// Address of the peer.
        peer: SocketAddr,
        /// Stream id that the caller sent.
        stream_id: Option<String>,
        /// Length of the keys; `None` if the connection is not encrypted.
        key_size: Option<KeySize>,
        /// Latency that applies to the connection.
        latency: Duration,
    },
    /// The listener refused a caller.
    Refused {
        /// Address of the caller.
        peer: SocketAddr,
        /// Reason for the refusal.
        refusal: Refusal,
    },
    /// The caller could not connect.
    Failed {
        /// Reason for the failure.
        refusal: Refusal,
    },
    /// A connection has ended.
    Ended {
        /// Identifier of the connection.
        id: ConnectionId,
        /// Reason for the end.
        why: Ended,
        /// Counters of the connection.
        stats: Stats,
    },
}
