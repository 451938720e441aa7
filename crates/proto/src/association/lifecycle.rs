//! States of an association, and errors of calls that its state does not permit.

/// The states of RFC 9260 §4.
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
    /// Returns whether control chunks are valid, and data may leave.
    pub fn is_open(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownReceived)
    }

    /// Returns whether DATA are accepted. Before COOKIE ACK arrives there are also no data to acknowledge.
    pub fn takes_data(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownSent)
    }

    /// Returns whether acknowledgements are accepted.
    pub fn takes_acks(self) -> bool {
        !matches!(self, State::CookieWait | State::Closed | State::ShutdownAckSent)
    }

    /// Returns whether the handshake is in progress.
    pub fn is_opening(self) -> bool {
        matches!(self, State::CookieWait | State::CookieEchoed)
    }
}

/// Role of a side. The side that opened the association numbers its paths separately from the other side.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Opener,
    Accepter,
}

/// Error of a call that is not possible.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssociationError {
    /// The association does not exist, or no longer exists.
    #[error("no such association")]
    Unknown,
    /// The path does not exist, or no longer exists.
    #[error("no such path")]
    UnknownPath,
    /// The peer does not support REPORT, or the handshake is not complete: paths cannot be changed.
    #[error("the peer cannot follow changes of paths")]
    NoPathChanges,
    /// The 4-tuple is already a path.
    #[error("this 4-tuple is a path already")]
    PathExists,
    /// [`crate::path::MAX_PATHS`] are in use.
    #[error("too many paths")]
    TooManyPaths,
    /// The last path cannot leave.
    #[error("the last path cannot leave")]
    LastPath,
}
