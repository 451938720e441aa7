//! Where the user's keys are.

use std::env;
use std::path::{Path, PathBuf};

use strandcast::pairing::Store;

use crate::error::CliError;

/// The store of `--key`, of `STRANDCAST_KEY`, or the user's.
///
/// # Errors
/// [`CliError::Store`]: the user has no home.
pub(crate) fn store(option: Option<&Path>) -> Result<Store, CliError> {
    let var = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = option.map(Path::to_owned).or_else(|| var("STRANDCAST_KEY"));
    // The XDG Base Directory Specification ignores relative folders.
    let config = || var("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let folder = || config().or_else(|| Some(var("HOME")?.join(".config")));
    let identity = named.or_else(|| Some(folder()?.join("strandcast").join("identity")));
    let homeless = || CliError::Store("HOME is not set: name the identity's file with --key".into());
    Ok(Store::at(identity.ok_or_else(homeless)?))
}
