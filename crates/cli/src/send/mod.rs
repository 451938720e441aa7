//! `strandcast send`.

mod connect;
mod pump;
mod refusals;
mod session;
mod summary;
mod watch;

pub(crate) use connect::{BUSY, REFUSED};
pub(crate) use pump::Pump;
pub(crate) use session::run;
