//! Keys and pairings: the store, what people copy from one machine to another, and `strandcast key`.

mod base32;
mod client;
mod command;
mod destination;
mod forms;
mod gate;
mod hosts;
mod keeper;
mod keylog;
mod list;
mod memory;
mod name;
mod pairing;
mod qr;
mod store;
mod target;
mod terminal;
mod text;

pub(crate) use client::SealReports;
pub(crate) use command::run;
pub(crate) use destination::Destination;
pub(crate) use gate::Gate;
pub(crate) use memory::paired_in_memory;
pub(crate) use name::Name;
pub(crate) use target::Target;

use std::path::Path;

use crate::args::SealArgs;
use crate::error::CliError;
use store::Store;

/// Refuses the identity and the files beside it as a place to write something else to.
///
/// # Errors
/// [`CliError::Store`].
pub(crate) fn spare_store(args: &SealArgs, path: &Path) -> Result<(), CliError> {
    // Without a home there is no store.
    Store::of(args.key.as_deref()).map_or(Ok(()), |store| store.spare(path))
}
