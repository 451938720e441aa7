//! What a seal reports.

use core::net::SocketAddr;

use strandcast_proto::path::{FourTuple, SealId};

use crate::aead::Cipher;
use crate::identity::{PublicKey, TokenId};

/// Something that happened to a session, or to an attempt to open one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SealEvent {
    /// A handshake opened a session. The side that was connected to says so once the first datagram has opened under its
    /// keys: before, the peer may be somebody who repeats what it recorded.
    Established {
        /// The session.
        sealed: SealId,
        /// Who the peer has proven to be.
        peer: PublicKey,
        /// How datagrams are encrypted.
        cipher: Cipher,
    },
    /// A handshake has replaced the keys of a session, which goes on.
    Renewed {
        /// The session.
        sealed: SealId,
        /// How datagrams are encrypted from now on.
        cipher: Cipher,
    },
    /// A sender connected for the first time under an open grant, and belongs to it now: to be stored.
    Enrolled {
        /// The grant's token.
        token: TokenId,
        /// The sender.
        key: PublicKey,
    },
    /// A sender asked to connect and may not: it has the token and its key was never admitted, or was revoked. It has proven
    /// that the key is its own, but not that it is at this address: a message that somebody recorded and sent on counts,
    /// too. At most once per key and minute, and eight times per minute in total.
    Refused {
        /// The sender.
        key: PublicKey,
        /// Where its message came from.
        from: SocketAddr,
    },
    /// A path goes on between other addresses, where the peer answered a challenge. A [`crate::SealedEndpoint`] has told
    /// its endpoint.
    Moved {
        /// Where it was.
        from: FourTuple,
        /// Where it is.
        to: FourTuple,
    },
    /// A session has ended. A [`crate::SealedEndpoint`] has closed its associations.
    Lost {
        /// The session.
        sealed: SealId,
        /// Why.
        why: Lost,
    },
    /// A hint for people: a message of a handshake, or an answer to one, is of another version of sealed datagrams than
    /// [`crate::VERSION`]. Anybody can send one, hence an attempt goes on. Once per attempt where the answer names one of
    /// this side's, else once per minute.
    OtherVersion {
        /// Where it came from.
        from: SocketAddr,
        /// Its version.
        version: u8,
    },
    /// A hint for the message of an attempt that fails: an answer said that the receiver runs without a seal. Any host on
    /// the way can say so, hence the attempt goes on. Reported once per attempt.
    PlainPeer {
        /// The session that was to be opened.
        sealed: SealId,
    },
}

/// Why a session ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// The peer has proven that it is itself and knows nothing of the session: it was restarted.
    #[error("the receiver was restarted")]
    Unknown,
    /// The peer has proven that it is itself and does not admit this side's key.
    #[error("the receiver does not admit this sender's key")]
    Refused,
    /// The sender may not connect any more: the peer here, or this side there. Its key was revoked, or what it was paired
    /// by was taken back.
    #[error("the sender is no longer admitted")]
    Revoked,
    /// There were more sessions of the sender's key than one may have, and this one was silent for longest.
    #[error("newer sessions of the same sender took its place")]
    Replaced,
    /// The peer has proven that it is itself and has no room for more sessions.
    #[error("the receiver has no room for more senders")]
    Busy,
    /// The peer completed a handshake, and nothing came under its keys.
    #[error("the receiver fell silent during the handshake")]
    Unanswered,
}
