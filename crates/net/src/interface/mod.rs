//! The machine's network interfaces, and the paths that they offer.

mod address;
mod list;
mod spec;
#[cfg(test)]
mod tests;
mod watch;

pub use address::{Interface, InterfaceAddress};
pub use list::{interfaces, route_mtu, usable_paths};
pub use spec::{PathError, PathSpec, PathSpecError};
pub use watch::{Change, InterfaceWatch};
