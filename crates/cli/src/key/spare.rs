//! Files of keys are not a place for anything else.

use std::path::Path;

use super::store::store;
use crate::args::SealArgs;
use crate::error::CliError;

/// Refuses the identity and the files next to it as a place to write something else to.
///
/// # Errors
/// [`CliError::Store`].
pub(crate) fn spare_store(args: &SealArgs, path: &Path) -> Result<(), CliError> {
    // Without a home there is no store.
    store(args.key.as_deref()).map_or(Ok(()), |store| Ok(store.spare(path)?))
}
