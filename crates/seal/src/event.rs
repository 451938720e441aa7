//! Events of a seal.

use core::net::SocketAddr;

use strandcast_proto::path::{FourTuple, SealId};

use crate::aead::Cipher;
use crate::identity::{PublicKey, TokenId};

/// An event of a session or of an attempt to open one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SealEvent {
    /// A handshake opened a session. A responder reports this event only after an authentic datagram has arrived under
    /// the new keys. Until that datagram arrives, the peer may be an attacker who repeats a recorded message 1.
    Established {
        /// Identifier of the session.
        sealed: SealId,
        /// Key that the peer has proven.
        peer: PublicKey,
        /// Cipher that encrypts the datagrams.
        cipher: Cipher,
    },
    /// A handshake replaced the keys of a session. The session continues.
    Renewed {
        /// Identifier of the session.
        sealed: SealId,
        /// Cipher that encrypts the datagrams from now on.
        cipher: Cipher,
    },
    /// A sender connected for the first time under an open grant, and now belongs to the grant. The application should
    /// store this enrolment.
    Enrolled {
        /// Token of the grant.
        token: TokenId,
        /// Key of the sender.
        key: PublicKey,
    },
    /// A sender that may not connect tried to connect. The sender has the token, but its key was never admitted or was
    /// revoked. The sender has proven that it owns the key, but not that it receives at its address. An attacker who
    /// repeats a recorded message 1 of the sender also causes this event. The event is reported at most once per key
    /// and minute, and at most eight times per minute for all keys.
    Refused {
        /// Key of the sender.
        key: PublicKey,
        /// Source address of the message 1.
        from: SocketAddr,
    },
    /// A path has new addresses, where the peer answered a challenge. A [`crate::SealedEndpoint`] has already moved the
    /// path at its endpoint.
    Moved {
        /// Previous addresses of the path.
        from: FourTuple,
        /// New addresses of the path.
        to: FourTuple,
    },
    /// A session has ended. A [`crate::SealedEndpoint`] has already closed the session's associations.
    Lost {
        /// Identifier of the session.
        sealed: SealId,
        /// Reason for the end.
        why: Lost,
    },
    /// A hint for the user: the peer uses another version. A handshake message, or an answer to one, has a version of
    /// sealed datagrams other than [`crate::VERSION`]. Any host can send such a message. An attempt to connect
    /// therefore continues. If the message answers an attempt of this side, the event is reported once per attempt. If
    /// the message answers no attempt, the event is reported once per minute.
    OtherVersion {
        /// Source address of the message.
        from: SocketAddr,
        /// Version of the other program.
        version: u8,
    },
    /// A hint for the error message of a failed attempt: the receiver runs without a seal. An answer to the attempt
    /// says so. Any host on the path can send such an answer. The attempt therefore continues. The event is reported
    /// once per attempt.
    PlainPeer {
        /// Session of the attempt.
        sealed: SealId,
    },
}

/// Reason for the end of a session.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// The peer has proven its identity and has no record of the session. The peer was restarted.
    #[error("the receiver was restarted")]
    Unknown,
    /// The peer has proven its identity and does not admit this side's key.
    #[error("the receiver does not admit this sender's key")]
    Refused,
    /// The sender may no longer connect, by the list of this side or of the peer. The sender's key was revoked, or its
    /// grant was withdrawn.
    #[error("the sender is no longer admitted")]
    Revoked,
    /// The sender's key had more sessions than allowed. This session had been silent for the longest time.
    #[error("newer sessions of the same sender took its place")]
    Replaced,
    /// The peer has proven its identity, and cannot accept more sessions.
    #[error("the receiver has no room for more senders")]
    Busy,
    /// The peer completed a handshake, but no datagram under the new keys arrived.
    #[error("the receiver fell silent during the handshake")]
    Unanswered,
}
