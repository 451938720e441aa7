//! SRT: URLs, and the task with a socket that inputs and outputs share.

mod driver;
mod refused;
#[cfg(test)]
mod tests;
mod url;

pub(super) use driver::{DATAGRAM, Driver, Media};
pub use url::{SrtMode, SrtUrl};
