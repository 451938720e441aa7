//! The machine's network interfaces, and the paths that they offer.

mod address;
mod events;
mod list;
mod routes;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use address::on_link;
pub use address::{Interface, InterfaceAddress};
#[doc(hidden)]
pub use events::InterfaceEvents;
pub use list::{interfaces, is_here, route_mtu};
pub use routes::Routes;
pub use spec::{PathError, PathSpec, PathSpecError};
