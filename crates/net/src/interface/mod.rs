//! The machine's network interfaces, and the paths that they offer.

mod address;
mod list;
mod monitor;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use address::on_link;
pub use address::{Interface, InterfaceAddress};
pub(crate) use list::source_address;
pub use list::{interfaces, is_here, route_mtu, usable_paths};
pub use monitor::{Change, InterfaceMonitor};
pub use spec::{PathError, PathSpec, PathSpecError};
