//! Events of a seal.

use core::net::SocketAddr;

use strandcast_proto::path::{FourTuple, SealId};

use crate::aead::Cipher;
use crate::identity::{PublicKey, TokenId};

/// An event of a session, or of an attempt to open one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SealEvent {
    /// A handshake opened a session. The responder reports this only after it has received an authentic datagram under
    /// the new keys. Before that, the peer may be an attacker who repeats a recorded message.
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
    /// A sender that may not connect has tried to. It has the token, but its key was never admitted or was revoked. It
    /// has proven that it owns the key, but it has not proven its address. An attacker who recorded the message and
    /// sent it again causes this event as well. The event is reported at most once per key and minute, and at most
    /// eight times per minute in total.
    Refused {
        /// The sender.
        key: PublicKey,
        /// Source address of the message.
        from: SocketAddr,
    },
    /// A path has new addresses, and the peer has answered a challenge there. A [`crate::SealedEndpoint`] has already
    /// informed its endpoint.
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
    /// A hint for the user. A handshake message, or an answer to one, has another version of sealed datagrams than
    /// [`crate::VERSION`]. Any host can send such a message, so an attempt to connect continues. The event is reported
    /// once per attempt if the answer names an attempt of this side, otherwise once per minute.
    OtherVersion {
        /// Source address.
        from: SocketAddr,
        /// Version of the other program.
        version: u8,
    },
    /// A hint for the error message of a failed attempt. An answer says that the receiver runs without a seal. Any host
    /// on the path can send such an answer, so the attempt continues. The event is reported once per attempt.
    PlainPeer {
        /// Session of the attempt.
        sealed: SealId,
    },
}

/// Reason why a session ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// The peer has proven its identity and does not know the session. It was restarted.
    #[error("the receiver was restarted")]
    Unknown,
    /// The peer has proven its identity and does not admit this side's key.
    #[error("the receiver does not admit this sender's key")]
    Refused,
    /// The sender may no longer connect, here or at the peer: its key was revoked, or its grant was
    /// withdrawn.
    #[error("the sender is no longer admitted")]
    Revoked,
    /// The sender's key had more sessions than allowed, and this session had been silent for the longest time.
    #[error("newer sessions of the same sender took its place")]
    Replaced,
    /// The peer has proven its identity and cannot accept more sessions.
    #[error("the receiver has no room for more senders")]
    Busy,
    /// The peer completed a handshake, but no datagram encrypted with the new keys arrived.
    #[error("the receiver fell silent during the handshake")]
    Unanswered,
}
