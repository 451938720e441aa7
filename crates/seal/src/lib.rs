//! Encrypted and authenticated datagrams for SCTP. This crate uses no clock, no sockets and no global randomness.
//!
//! A [`SealedEndpoint`] is an [`Endpoint`](strandcast_proto::endpoint::Endpoint) with a seal. Without a [`SealConfig`],
//! it is the endpoint alone. Drivers call it as they call an endpoint, with two differences.
//! [`receive`](SealedEndpoint::receive) takes the datagrams and decrypts them in place.
//! [`connect`](SealedEndpoint::connect) needs the [`Peer`]: the receiver's public key, and the token of the pairing.
//! The seal runs handshakes, renews keys and follows moving addresses.
//! [`poll_seal_event`](SealedEndpoint::poll_seal_event) reports these events.
//!
//! An [`Access`] decides which peers may connect. An [`Access`] is a list of [`Grant`]s and revoked keys. Without
//! grants, a sealed endpoint answers no peer. A datagram that is not authentic changes nothing. An answer to it is
//! never longer than the datagram.
//!
//! ```
//! use std::sync::Arc;
//!
//! use bytes::BytesMut;
//! use strandcast_proto::association::Event;
//! use strandcast_proto::endpoint::{Connect, EndpointConfig};
//! use strandcast_proto::path::FourTuple;
//! use strandcast_proto::policy::LinkId;
//! use strandcast_proto::rfc;
//! use strandcast_proto::seeds::Seeds;
//! use strandcast_proto::time::Instant;
//! use strandcast_seal::{Access, Grant, Peer, SealConfig, SealedEndpoint, SecretKey, Token};
//!
//! let seeds = Seeds::new(1, 0);
//! let mut random = seeds.stream("keys");
//! let (sender, receiver) = (SecretKey::generate(&mut random), SecretKey::generate(&mut random));
//! let token = Token::generate(&mut random);
//! let peer = Peer { key: receiver.public(), token: token.clone() };
//! let grant = Grant { token, senders: [sender.public()].into(), open: false, once: false };
//! let access = Access { grants: vec![grant], ..Access::default() };
//!
//! let server = EndpointConfig { accept: Some(Arc::new(|_| Box::new(rfc::scheme()))), ..EndpointConfig::default() };
//! let sender = SealConfig::new(sender, Access::default());
//! let mut ends = [
//!     SealedEndpoint::new(EndpointConfig::default(), Some(sender), &seeds.child("client")),
//!     SealedEndpoint::new(server, Some(SealConfig::new(receiver, access)), &seeds.child("server")),
//! ];
//! let (a, b) = ("10.0.0.1:9899".parse()?, "10.0.0.2:9899".parse()?);
//! let tuples = [FourTuple::new(LinkId(0), a, b), FourTuple::new(LinkId(0), b, a)];
//! let (now, scheme) = (Instant::ZERO, Box::new(rfc::scheme()));
//! let connect = Connect { paths: vec![(tuples[0], None)], port: 5000, scheme, transport: None };
//! ends[0].connect(now, connect, Some(peer))?;
//!
//! let (mut connected, mut buf) = (0, Vec::new());
//! for side in [0, 1].into_iter().cycle().take(20) {
//!     while let Some(sent) = ends[side].poll_output(now, &mut buf) {
//!         let data = BytesMut::from(&std::mem::take(&mut buf)[..]);
//!         ends[1 - side].receive(now, tuples[1 - side], data, sent.segment_size);
//!     }
//!     while let Some((_, event)) = ends[side].poll_event() {
//!         connected += usize::from(matches!(event, Event::Connected { .. }));
//!     }
//! }
//! assert_eq!(connected, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/adr/0017-sealed-datagrams.md` gives the reasons for this design. `docs/wire-format.md` has the layout of the
//! datagrams.
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
pub use wire::RouteBytes;

/// Version of sealed datagrams.
pub const VERSION: u8 = wire::VERSION;

/// Envelope: numbers of bytes that a seal adds before and after each packet.
pub const ENVELOPE: strandcast_proto::path::Envelope = wire::ENVELOPE;
