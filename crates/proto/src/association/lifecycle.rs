//! States of an association, and errors of calls that its state does not permit.

/// States of an association (RFC 9260 §4).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    CookieWait,
    CookieEchoed,
    Established,
    ShutdownPending,
    ShutdownSent,
    ShutdownReceived,
    ShutdownAckSent,
    Closed,
}

impl State {
    /// Returns whether control chunks are valid and data may be sent.
    pub fn is_open(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownReceived)
    }

    /// Returns whether the association accepts DATA. Before COOKIE ACK arrives, there are also no sent data that could
    /// be acknowledged.
    pub fn takes_data(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownSent)
    }

    /// Returns whether the association accepts acknowledgements.
    pub fn takes_acks(self) -> bool {
        !matches!(self, State::CookieWait | State::Closed | State::ShutdownAckSent)
    }

    /// Returns whether the handshake is in progress.
    pub fn is_opening(self) -> bool {
        matches!(self, State::CookieWait | State::CookieEchoed)
    }
}

/// Role of this side in the handshake. The side that opened the association has a separate range of numbers for its
/// paths.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Opener,
    Accepter,
}

/// Error of a call that cannot be carried out.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssociationError {
    /// The association does not exist, or no longer exists.
    #[error("no such association")]
    Unknown,
    /// The path does not exist, or no longer exists.
    #[error("no such path")]
    UnknownPath,
    /// Paths cannot be changed: the peer does not support REPORT, or the handshake is not complete.
    #[error("the peer cannot follow changes of paths")]
    NoPathChanges,
    /// The 4-tuple already belongs to a path.
    #[error("this 4-tuple is a path already")]
    PathExists,
    /// All [`crate::path::MAX_PATHS`] paths are in use.
    #[error("too many paths")]
    TooManyPaths,
    /// The path is the only one, and so cannot be removed.
    #[error("the last path cannot leave")]
    LastPath,
}
