//! Encrypted and authenticated datagrams, without clock, sockets or global randomness.
//!
//! `docs/adr/0017-sealed-datagrams.md` gives the reasons for this design, `docs/wire-format.md` the layout on
//! the wire.
#![forbid(unsafe_code)]

mod accepting;
mod admission;
mod aead;
mod attempt;
mod config;
mod context;
mod control;
mod endpoint;
mod event;
#[cfg(any(test, feature = "testing"))]
pub mod fuzzing;
mod generation;
mod handshake;
mod identity;
mod keylog;
mod keys;
mod layer;
mod number;
mod opening;
mod outbox;
mod path;
mod peer_address;
mod plain;
mod refusals;
mod routes;
mod secret;
mod session;
mod stats;
mod tap;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod window;
mod wire;

pub use aead::{Cipher, Ciphers};
pub use config::SealConfig;
pub use endpoint::{ConnectError, SealedEndpoint};
pub use event::{Lost, SealEvent};
pub use handshake::{HandshakeCounts, HandshakeDrop};
pub use identity::{Access, Enrolment, Grant, MOST_SENDERS, Peer, PublicKey, SecretKey, Token, TokenId};
pub use keylog::KeyLog;
pub use layer::{Opened, Seal, Sealing};
pub use plain::PlainAnswers;
pub use stats::SealStats;
pub use tap::PacketTap;

/// Version of sealed datagrams.
pub const VERSION: u8 = wire::VERSION;

/// Bytes that a seal adds to each datagram.
pub const ENVELOPE: strandcast_proto::path::Envelope = wire::ENVELOPE;
