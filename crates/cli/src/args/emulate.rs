//! The options of `emulate`.

use std::ffi::OsString;
use std::path::PathBuf;

use strandcast_lab::batch::LAST_SEED;

use super::values::whole;
use crate::error::EXIT_CODES;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct EmulateArgs {
    /// The scenario (TOML, see docs/scenarios.md)
    pub(crate) file: PathBuf,
    /// Set a key of the scenario: links.b.loss.uniform.rate=0.02; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The flow whose place the programs take; default: the only one, or the one with `compare = true`
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: Option<String>,
    /// Seed of all random draws; default: as in the scenario
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0, LAST_SEED, "a seed"))]
    pub(crate) seed: Option<u64>,
    /// Command line of the shell at the far end, started first
    #[arg(long, value_name = "LINE")]
    pub(crate) far: Option<OsString>,
    /// MTU in bytes of the devices
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = whole::<u16>(1280, 65_535, "bytes"))]
    pub(crate) mtu: u16,
    /// Print the counters of all links as JSON on standard error at the end, in place of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// The program at the near end, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
