//! What an association tells the application.

use super::dropped::Dropped;
use crate::policy::{Advice, PathId, PathState};

/// Something the application may want to know.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is done; `peer_is_strandcast`: the peer announced REPORT, so paths may join and leave.
    Connected {
        /// The peer is another Strandcast.
        peer_is_strandcast: bool,
    },
    /// The peer lost its state and began anew (RFC 9260 §5.2): whatever was in flight is gone.
    Restarted,
    /// A message can be read.
    Readable,
    /// The send buffer has room again after it was full.
    Writable,
    /// What an encoder should choose from now on, as the scheme says: at most every 100 ms, and when it changed by 2 % or more.
    Advice(Advice),
    /// A message goes no further ([`TransportConfig::drop_events`](crate::config::TransportConfig::drop_events)).
    Dropped(Dropped),
    /// A path changed.
    Path(PathId, PathChange),
    /// The peer closes: what is queued is still sent, nothing new is taken.
    PeerShutdown,
    /// The end; no event follows.
    Closed(CloseReason),
}

/// What changed on a path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PathChange {
    /// It is there (opened by either side), not yet confirmed.
    Opened,
    /// Its state.
    State(PathState),
    /// Its peer's address or port moved.
    Moved,
    /// Its IP-level MTU: the driver reported that packets of its size don't fit, or path MTU discovery found another.
    Mtu(u16),
    /// It left, or was given up.
    Closed,
}

/// Why an association ended.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// Graceful close by either side: everything was delivered.
    #[error("the association was closed")]
    Shutdown,
    /// This side aborted.
    #[error("this side aborted the association")]
    Aborted,
    /// The peer aborted; its words.
    #[error("the peer aborted the association: {0:?}")]
    PeerAborted(String),
    /// No answer to the handshake.
    #[error("the handshake was not answered")]
    NoAnswer,
    /// No answer to data and heartbeats on any path (Association.Max.Retrans).
    #[error("the peer answers on no path")]
    Unreachable,
    /// The peer broke the protocol.
    #[error("the peer broke the protocol: {0:?}")]
    Protocol(String),
    /// The sealed session that it belonged to is over; why.
    #[error("the sealed session ended: {0}")]
    SealLost(String),
}
