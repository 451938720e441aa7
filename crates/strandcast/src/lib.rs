//! The `strandcast` command, with all presets: a library that is as small as it can be, so that a changed scheme rebuilds little.
//! Everything else is in [`strandcast_cli`].
#![forbid(unsafe_code)]

mod listing;

pub use strandcast_cli::perf_client;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use strandcast_keys::catalog::SharedCatalog;
use strandcast_schemes::Presets;

/// Runs the command with `args` (the program's name first) and returns its exit code, as `strandcast --help` and
/// `docs/cli.md` list them.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(run_code(args))
}

/// [`run`], with the exit code as a number.
pub fn run_code(args: impl IntoIterator<Item = OsString>) -> u8 {
    run_code_with(args, Arc::new(Presets))
}

/// [`run_code`], with all schemes, those of scenarios and those of `--scheme`, from `catalog`.
pub fn run_code_with(args: impl IntoIterator<Item = OsString>, catalog: SharedCatalog) -> u8 {
    strandcast_cli::run(args, catalog, listing::list)
}
