//! A network of routers without radio, for tests.

mod net;
mod random;

pub use net::Net;
