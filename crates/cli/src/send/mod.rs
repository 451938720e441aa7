//! `strandcast send`.

mod connect;
mod pump;
mod session;
mod summary;
mod watch;

pub(crate) use connect::REFUSED;
pub(crate) use pump::{Pump, SEND_BUFFER};
pub(crate) use session::run;
