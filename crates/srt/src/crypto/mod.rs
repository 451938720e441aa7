//! Encryption: key derivation, key wrapping, counter mode, and the keys of a connection.

mod cipher;
mod derive;
mod keys;
mod wrap;

pub(crate) use derive::Derivation;
pub(crate) use keys::{Kek, OpenError, ReceiveKeys, SendKeys};
