//! The machine's network interfaces, and the paths that they offer.

mod address;
mod list;
mod monitor;
mod spec;
#[cfg(test)]
mod tests;

pub use address::{Interface, InterfaceAddress};
pub use list::{interfaces, route_mtu, usable_paths};
pub use monitor::{Change, InterfaceMonitor};
pub use spec::{PathError, PathSpec, PathSpecError};
