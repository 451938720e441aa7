//! Options of `check` and `explain`.

use std::path::PathBuf;

use clap::ArgGroup;
use strandcast_lab::batch::LAST_SEED;

use super::values::whole;
use crate::error::EXIT_CODES;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct CheckArgs {
    /// The scenario
    pub(crate) file: PathBuf,
    /// Set a key of the scenario; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Scheme in place of that of flows with `compare = true`, as `simulate --scheme` takes it
    #[arg(long, value_name = "SPEC")]
    pub(crate) scheme: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
#[command(group = ArgGroup::new("what").required(true).args(["frame", "message"]))]
pub(crate) struct ExplainArgs {
    /// A folder written by simulate, or the result.json in it
    pub(crate) result: PathBuf,
    /// The flow; for one of several identical flows: tcp#2
    #[arg(long, value_name = "NAME")]
    pub(crate) flow: String,
    /// The frame of its video, counted from 0 in sending order
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0, u32::MAX.into(), "a frame"))]
    pub(crate) frame: Option<u32>,
    /// The message, counted from 0
    #[arg(long, value_name = "N", value_parser = whole::<u64>(0, u64::MAX, "a message"))]
    pub(crate) message: Option<u64>,
    /// Seed of the run; default: the first run
    #[arg(long, value_name = "S", value_parser = whole::<u64>(0, LAST_SEED, "a seed"))]
    pub(crate) seed: Option<u64>,
    /// Scheme of the run; default: the first run
    #[arg(long, value_name = "SPEC")]
    pub(crate) scheme: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
