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
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CloseReason {
    /// Graceful close by either side: everything was delivered.
    Shutdown,
    /// This side aborted.
    Aborted,
    /// The peer aborted; its words.
    PeerAborted(String),
    /// No answer to the handshake.
    NoAnswer,
    /// No answer to data and heartbeats on any path (Association.Max.Retrans).
    Unreachable,
    /// The peer broke the protocol.
    Protocol(String),
    /// The sealed session that it belonged to is over; why.
    SealLost(String),
}
