//! `strandcast send`.

mod advice;
mod backoff;
mod connect;
mod monitor;
mod mute;
mod prepare;
mod pump;
mod reasons;
mod refusals;
mod session;
mod summary;
mod tariffs;

pub(crate) use connect::{BUSY, REFUSED, REPLACED};
pub(crate) use pump::Pump;
pub(crate) use session::run;
