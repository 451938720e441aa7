//! State of a path, for events.

use std::time::Duration;

/// State of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathTrouble {
    /// The path does not answer.
    Silent,
    /// The path has failed. The path is used again once it answers.
    Failed,
    /// The path is usable again.
    Over,
    /// The path never carried data. The value is the probable reason.
    Mute(String),
    /// The link carries data for the first time, after the stream has begun.
    Joined,
    /// The interface, the address or the route of the link is gone. The value is the reason.
    Gone(String),
    /// The link carries data again, after this time.
    Returned(Duration),
    /// The link cannot be used. The value is the reason.
    LeftOut(String),
    /// The link loses larger packets without an error. The link continues with smaller packets.
    Narrow {
        /// Size in bytes of the IP packets that were lost.
        before: u64,
        /// Size in bytes of the link's IP packets from now on.
        now: u64,
    },
    /// The interface of the link has another name. The value is its former name.
    Renamed(String),
}

impl PathTrouble {
    /// Returns whether a link that carried data is lost or silent.
    pub(in crate::live) fn is_loss(&self) -> bool {
        matches!(self, PathTrouble::Silent | PathTrouble::Failed | PathTrouble::Gone(_))
    }
}
