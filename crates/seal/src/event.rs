//! Events of a seal.

use core::net::SocketAddr;

use strandcast_proto::path::{FourTuple, SealId};

use crate::aead::Cipher;
use crate::identity::{PublicKey, TokenId};

/// An event of a session, or of an attempt to open one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SealEvent {
    /// A handshake opened a session. The responder reports it once the first datagram has opened under the
    /// new keys; before, the peer may be somebody who repeats a recorded message.
    Established {
        /// The session.
        sealed: SealId,
        /// Key that the peer has proven.
        peer: PublicKey,
        /// Cipher of the datagrams.
        cipher: Cipher,
    },
    /// A handshake has replaced the keys of a session, which continues.
    Renewed {
        /// The session.
        sealed: SealId,
        /// Cipher of the datagrams from now on.
        cipher: Cipher,
    },
    /// A sender connected for the first time under an open grant and now belongs to it. The application
    /// should store it.
    Enrolled {
        /// The grant's token.
        token: TokenId,
        /// The sender.
        key: PublicKey,
    },
    /// A sender that may not connect asked to: it has the token, but its key was never admitted or was revoked. The
    /// sender has proven that it owns the key, but not its address: a message that somebody recorded and forwarded is
    /// reported as well. At most once per key and minute, and eight times per minute in total.
    Refused {
        /// The sender.
        key: PublicKey,
        /// Source address of the message.
        from: SocketAddr,
    },
    /// A path moved to other addresses, where the peer answered a challenge. A [`crate::SealedEndpoint`] has
    /// already updated its endpoint.
    Moved {
        /// Previous addresses.
        from: FourTuple,
        /// New addresses.
        to: FourTuple,
    },
    /// A session has ended. A [`crate::SealedEndpoint`] has closed its associations.
    Lost {
        /// The session.
        sealed: SealId,
        /// Reason.
        why: Lost,
    },
    /// A hint for people: a message of a handshake, or an answer to one, has another version of sealed
    /// datagrams than [`crate::VERSION`]. Any host can send one, hence an attempt continues. Reported once
    /// per attempt if the answer names an attempt of this side, otherwise once per minute.
    OtherVersion {
        /// Source address.
        from: SocketAddr,
        /// Version of the other program.
        version: u8,
    },
    /// A hint for the error message of a failed attempt: an answer claims that the receiver runs without a
    /// seal. Any host on the path can send one, hence the attempt continues. Reported once per attempt.
    PlainPeer {
        /// Session of the attempt.
        sealed: SealId,
    },
}

/// Reason why a session ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// The peer has proven its identity and no longer has the session: it was restarted.
    #[error("the receiver was restarted")]
    Unknown,
    /// The peer has proven its identity and does not admit this side's key.
    #[error("the receiver does not admit this sender's key")]
    Refused,
    /// The sender may no longer connect, here or at the peer: its key was revoked, or its grant was
    /// withdrawn.
    #[error("the sender is no longer admitted")]
    Revoked,
    /// The sender's key had more sessions than the limit, and this one was silent for longest.
    #[error("newer sessions of the same sender took its place")]
    Replaced,
    /// The peer has proven its identity and has no room for more sessions.
    #[error("the receiver has no room for more senders")]
    Busy,
    /// The peer completed a handshake, but no datagram arrived under its keys.
    #[error("the receiver fell silent during the handshake")]
    Unanswered,
}
