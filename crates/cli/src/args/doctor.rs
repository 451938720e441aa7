//! The options of `doctor`.

use std::path::PathBuf;

use super::PathArgs;
use crate::error::EXIT_CODES;
use crate::key::Target;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DoctorArgs {
    /// The receiver: @NAME (see `strandcast key add`), or addresses HOST[:PORT], for which doctor checks the network
    /// alone. Default: this machine alone
    #[arg(value_name = "@NAME|ADDRESS")]
    pub(crate) to: Vec<Target>,
    #[command(flatten)]
    pub(crate) paths: PathArgs,
    /// Leave out the 30 s of silence after which the links are looked at again
    #[arg(long)]
    pub(crate) quick: bool,
    /// Leave the links silent for 5 minutes
    #[arg(long, conflicts_with = "quick")]
    pub(crate) long: bool,
    /// The identity's file; default: $STRANDCAST_KEY, else ~/.config/strandcast/identity
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// ADDRESS runs without encryption
    #[arg(long)]
    pub(crate) plain: bool,
    /// SCTP port on both sides (the UDP port is part of ADDRESS)
    #[arg(long, value_name = "PORT", default_value_t = 5000, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) sctp_port: u16,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
