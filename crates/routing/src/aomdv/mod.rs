//! AOMDV: several disjoint paths per destination without loops (Marina and Das 2001), as in ns-2.35.

mod config;
mod discovery;
mod entry;
mod hello;
mod maintenance;
mod neighbours;
mod path;
mod protocol;
mod router;
#[cfg(test)]
mod tests;

pub use config::{AomdvConfig, AomdvSplit, Detect, Disjoint, MultipathConfig, Profile};
pub(crate) use path::Path;
pub use protocol::Aomdv;
