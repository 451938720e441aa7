//! Prevents commands from writing other data to files of keys.

use std::path::Path;

use super::store::store;
use crate::args::SealArgs;
use crate::error::CliError;

/// Refuses to write other data to the identity or to the files next to it.
///
/// # Errors
/// [`CliError::Store`].
pub(crate) fn spare_store(args: &SealArgs, path: &Path) -> Result<(), CliError> {
    // If the user has no home, there is no store.
    store(args.key.as_deref()).map_or(Ok(()), |store| Ok(store.spare(path)?))
}
