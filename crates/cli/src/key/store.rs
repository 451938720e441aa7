//! Finds the file with the user's keys.

use std::env;
use std::path::{Path, PathBuf};

use strandcast::pairing::Store;

use crate::error::CliError;

/// Opens the store at the file that `--key` or `STRANDCAST_KEY` names. If neither is given, opens the store in the
/// user's home directory.
///
/// # Errors
/// Returns [`CliError::Store`] if the user has no home.
pub(crate) fn store(option: Option<&Path>) -> Result<Store, CliError> {
    user_store(option).ok_or_else(|| {
        let home = match var("HOME") {
            Some(home) => format!("HOME is {}, which is not a folder", home.display()),
            None => "HOME is not set".to_owned(),
        };
        CliError::Store(format!("{home}: name the identity's file with --key"))
    })
}

/// Returns the store of an identity file. The file is `named` if it is given, else the file that `STRANDCAST_KEY`
/// names, else the file in the user's home directory. Returns `None` if the user has no home. The account of a service
/// often names a home directory that does not exist. An identity there would be lost.
pub fn user_store(named: Option<&Path>) -> Option<Store> {
    let named = named.map(Path::to_owned).or_else(|| var("STRANDCAST_KEY"));
    // Relative folders are ignored, as the XDG Base Directory Specification requires.
    let config = || var("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let folder = || config().or_else(|| Some(var("HOME").filter(|home| home.is_dir())?.join(".config")));
    let identity = named.or_else(|| Some(folder()?.join("strandcast").join("identity")));
    identity.map(Store::at)
}

fn var(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
