//! `strandcast send`.

mod connect;
mod monitor;
mod pump;
mod refusals;
mod session;
mod summary;

pub(crate) use connect::{BUSY, REFUSED};
pub(crate) use pump::Pump;
pub(crate) use session::run;
