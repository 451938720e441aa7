//! Events of an association for the application.

use super::dropped::Dropped;
use crate::policy::{Advice, PathId, PathState};

/// An event of an association.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The association's handshake is complete. If `peer_is_strandcast` is true, the peer announced REPORT. With such a
    /// peer, paths may join and leave.
    Connected {
        /// True if the peer is a Strandcast peer.
        peer_is_strandcast: bool,
    },
    /// The peer lost its state and started again (RFC 9260 §5.2). All data in flight are lost.
    Restarted,
    /// A message can be read.
    Readable,
    /// The send buffer has room again after it was full.
    Writable,
    /// The scheme's advice to an encoder changed by 2 % or more. There is at most one such event every 100 ms.
    Advice(Advice),
    /// The sender gave up a message. This event needs
    /// [`TransportConfig::drop_events`](crate::config::TransportConfig::drop_events).
    Dropped(Dropped),
    /// A path changed.
    Path(PathId, PathChange),
    /// The peer closes the association. Queued data are still sent; new data are refused.
    PeerShutdown,
    /// The association has ended. The association has no further events.
    Closed(CloseReason),
}

/// A change of a path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PathChange {
    /// One of the two sides opened the path. The path is not confirmed yet.
    Opened,
    /// The state of the path has changed.
    State(PathState),
    /// The peer's address or port of the path changed.
    Moved,
    /// The IP-level MTU of the path changed. Either the driver reported that packets of the old size do not fit, or
    /// path MTU discovery found another value.
    Mtu(u16),
    /// The path is closed: a side removed it or gave it up.
    Closed,
}

/// Reason for the end of an association.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// Graceful close by either side: everything was delivered.
    #[error("the association was closed")]
    Shutdown,
    /// This side aborted the association.
    #[error("this side aborted the association")]
    Aborted,
    /// The peer aborted the association, for this reason.
    #[error("the peer aborted the association: {0:?}")]
    PeerAborted(String),
    /// The peer did not answer the handshake.
    #[error("the handshake was not answered")]
    NoAnswer,
    /// The peer answered neither data nor heartbeats on any path (Association.Max.Retrans).
    #[error("the peer answers on no path")]
    Unreachable,
    /// The peer violated the protocol.
    #[error("the peer broke the protocol: {0:?}")]
    Protocol(String),
    /// The sealed session of the association has ended, for this reason.
    #[error("the sealed session ended: {0}")]
    SealLost(String),
}
