//! Arguments of `manual`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct ManualArgs {
    /// The folder, in which man/man1 and the shells' folders are made
    pub(crate) folder: PathBuf,
}
