//! `strandcast key`, and functions for commands that need the user's keys.

mod command;
mod destination;
mod invite;
mod keylog;
mod list;
mod qr;
mod spare;
mod store;
mod target;
mod terminal;

pub(crate) use command::run;
pub(crate) use destination::destination;
pub(crate) use invite::{Invitation, gate, gate_line, invitation};
pub(crate) use spare::spare_store;
pub(crate) use store::store;
pub use store::user_store;
pub(crate) use target::Target;
