//! Options of `serve`.

use std::path::PathBuf;

use super::StatsArgs;
use crate::error::EXIT_CODES;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ServeArgs {
    /// The configuration, in TOML (docs/operate/serve.md): streams, who may send them, and their outputs. SIGHUP reads it
    /// again
    pub(crate) config: PathBuf,
    /// Read the configuration, print its streams, and exit
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the summary of each stream as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) stats: StatsArgs,
}
