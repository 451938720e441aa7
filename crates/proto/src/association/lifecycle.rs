//! Where an association is in its life, and which calls make no sense.

/// RFC 9260 §4's states.
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
    /// Whether control chunks make sense, and data may leave.
    pub fn is_open(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownReceived)
    }

    /// Whether DATA are taken. Before COOKIE ACK there is nothing to acknowledge either.
    pub fn takes_data(self) -> bool {
        matches!(self, State::Established | State::ShutdownPending | State::ShutdownSent)
    }

    /// Whether acknowledgements are taken.
    pub fn takes_acks(self) -> bool {
        !matches!(self, State::CookieWait | State::Closed | State::ShutdownAckSent)
    }

    /// Whether the handshake is still under way.
    pub fn is_opening(self) -> bool {
        matches!(self, State::CookieWait | State::CookieEchoed)
    }
}

/// Which side opened the association: it numbers its paths apart from the other's.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Opener,
    Accepter,
}

/// A call that makes no sense.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssociationError {
    /// There is no such association (any more).
    #[error("no such association")]
    Unknown,
    /// There is no such path (any more).
    #[error("no such path")]
    UnknownPath,
    /// The peer doesn't speak REPORT, or the handshake isn't done: paths can't be changed.
    #[error("the peer can not follow changes of paths")]
    NoPathChanges,
    /// The 4-tuple is a path already.
    #[error("this 4-tuple is a path already")]
    PathExists,
    /// [`crate::path::MAX_PATHS`] are in use.
    #[error("too many paths")]
    TooManyPaths,
    /// The last path can't leave.
    #[error("the last path can not leave")]
    LastPath,
}
