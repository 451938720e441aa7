//! The `strandcast` command: live video over several networks at once, from the command line.
//!
//! Everything that decides something lives in the crates below; this one parses the command line, joins media to
//! the transport, and says what happens in one line each on standard error.
#![forbid(unsafe_code)]

mod args;
mod error;
mod perf;
mod place;
mod report;
mod show;

use clap::Parser;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command with `args` (the program's name first) and gives its exit code, as `strandcast --help` and
/// `docs/cli.md` list them.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match args::Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => return error::usage(&error),
    };
    match dispatch(args.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("strandcast: {error}");
            error.exit_code()
        }
    }
}

fn dispatch(command: args::Command) -> Result<(), error::CliError> {
    let _ = command;
    Ok(())
}
