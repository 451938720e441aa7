//! AODV (RFC 3561) with the constants and the behaviour of ns-2.35.

mod config;
mod entry;
mod protocol;
mod router;
#[cfg(test)]
mod tests;

pub use config::{AodvConfig, FirstSearch, Profile, Repair};
pub use protocol::Aodv;
