//! Encrypted and authenticated datagrams, without clock, sockets or global randomness.
//!
//! `docs/adr/0017-sealed-datagrams.md` says why it is built this way, `docs/wire-format.md` what is
//! on the wire.
#![forbid(unsafe_code)]

mod aead;
mod config;
mod endpoint;
mod event;
#[cfg(any(test, feature = "testing"))]
pub mod fuzzing;
mod generation;
mod handshake;
mod identity;
mod keys;
mod layer;
mod number;
mod path;
mod secret;
mod session;
mod stats;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod window;
mod wire;

pub use aead::{Cipher, Ciphers};
