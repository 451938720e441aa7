//! Location of the user's keys.

use std::env;
use std::path::{Path, PathBuf};

use strandcast::pairing::Store;

use crate::error::CliError;

/// The store of `--key`, of `STRANDCAST_KEY`, or the user's.
///
/// # Errors
/// [`CliError::Store`]: the user has no home.
pub(crate) fn store(option: Option<&Path>) -> Result<Store, CliError> {
    let homeless = || CliError::Store("HOME is not set: name the identity's file with --key".into());
    user_store(option).ok_or_else(homeless)
}

/// The store whose identity is in the file that is named, that `STRANDCAST_KEY` names, or that is the user's; `None`: the user
/// has no home.
pub fn user_store(named: Option<&Path>) -> Option<Store> {
    let var = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = named.map(Path::to_owned).or_else(|| var("STRANDCAST_KEY"));
    // The XDG Base Directory Specification ignores relative folders.
    let config = || var("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let folder = || config().or_else(|| Some(var("HOME")?.join(".config")));
    let identity = named.or_else(|| Some(folder()?.join("strandcast").join("identity")));
    identity.map(Store::at)
}
