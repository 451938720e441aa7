//! The machine's network interfaces, and the paths that are possible over them.

mod address;
mod events;
mod filter;
mod hardware;
mod list;
mod routes;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use address::on_link;
pub use address::{Interface, InterfaceAddress};
#[doc(hidden)]
pub use events::InterfaceEvents;
#[doc(hidden)]
pub use filter::rp_filter;
pub use hardware::{Hardware, Mac};
pub use list::{interfaces, is_here, route_mtu};
pub use routes::Routes;
#[doc(hidden)]
pub use routes::Way;
pub use spec::{PathError, PathSpec, PathSpecError};
