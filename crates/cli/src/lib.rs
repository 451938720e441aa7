//! The `strandcast` command: live video over several networks at once, from the command line.
//!
//! The crates below make all decisions. This crate parses the command line, connects media to the transport, and prints
//! each event as one line on standard error.
#![forbid(unsafe_code)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod advice;
mod args;
mod capture;
mod check;
mod console;
mod ctl;
mod decrypt;
mod demo;
mod doctor;
mod emulate;
mod error;
mod explain;
mod help;
mod key;
mod listing;
mod loaded;
mod manual;
mod media_output;
mod media_url;
mod memory;
mod one;
mod perf;
mod places;
mod print;
mod receive;
mod report;
mod schemes;
mod send;
mod serve;
mod service;
mod show;
mod signals;
mod simulate;
mod sparing;
mod transport;
mod usage;
mod writer;

pub use key::user_store;
pub use perf::perf_client;

/// Identification of this build in results.
pub const BUILD: strandcast_lab::result::Build = strandcast_lab::result::Build {
    version: env!("CARGO_PKG_VERSION"),
    commit: option_env!("STRANDCAST_COMMIT"),
};

use std::ffi::OsString;
use std::sync::Arc;

use strandcast_keys::catalog::SharedCatalog;
use strandcast_schemes::Presets;

use console::Console;
use error::CliError;

/// Runs the command with `args`, which begin with the program's name, and returns the exit code. `strandcast --help`
/// and `docs/cli.md` list the exit codes.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    run_with(args, Arc::new(Presets))
}

/// Runs the command as [`run`] does, but looks up the schemes of scenarios and of `--scheme` in `catalog`.
pub fn run_with(args: impl IntoIterator<Item = OsString>, catalog: SharedCatalog) -> u8 {
    let args = match args::Args::of(args) {
        Ok(args) => args,
        Err(error) => return usage::usage(&error),
    };
    // The console must end last, because the command may still have lines in its queue.
    let console = args.command.runs_long().then(Console::start);
    let outcome = dispatch(args.command, catalog);
    match outcome.and(console.as_ref().map_or(Ok(()), Console::results)) {
        Ok(()) => 0,
        Err(error @ (CliError::Unread | CliError::Exit(_))) => error.code(),
        Err(error) => {
            print::line(&format!("strandcast: {error}"));
            error.code()
        }
    }
}

fn dispatch(command: args::Command, catalog: SharedCatalog) -> Result<(), CliError> {
    match command {
        args::Command::Send(args) => block_on(send::run(args, &catalog)),
        args::Command::Receive(args) => block_on(receive::run(args, &catalog)),
        args::Command::Serve(args) => block_on(serve::run(args, &catalog)),
        args::Command::Ctl(args) => ctl::run(&args),
        args::Command::Demo(args) => block_on(demo::run(args, &catalog)),
        args::Command::Report(args) => report::run(&args),
        args::Command::Perf(args) => block_on(perf::run(args, &catalog)),
        args::Command::Doctor(args) => block_on(doctor::run(args)),
        args::Command::Decrypt(args) => decrypt::run(&args),
        args::Command::Key(args) => block_on(key::run(args)),
        args::Command::Schemes(args) => schemes::run(&args, listing::list),
        args::Command::Simulate(args) => block_on(simulate::run(args, catalog)),
        args::Command::Emulate(args) => emulate::run(&args, &catalog),
        args::Command::Check(args) => check::run(&args, &*catalog),
        args::Command::Explain(args) => explain::run(&args, &*catalog),
        args::Command::Figures(_) => needs_python("figures"),
        args::Command::Sweep(_) => needs_python("sweep"),
        args::Command::Oracle(_) => needs_python("oracle"),
        args::Command::Plot(_) => needs_python("plot"),
        args::Command::Manual(args) => manual::run(&args),
        args::Command::Schema(args) => print::json(&match args.of {
            args::SchemaOf::Scenario => format!("{:#}\n", strandcast_lab::scenario::schema()),
            args::SchemaOf::Stats => format!("{:#}\n", strandcast::live::lines::schema()),
        }),
    }
}

/// Returns the error message for a subcommand that only the Python package implements.
fn needs_python(verb: &str) -> Result<(), CliError> {
    let how = "run `pip install .` in Strandcast's source, which installs a `strandcast` that includes it";
    Err(CliError::Usage(format!("{verb} needs the Python package: {how}")))
}

/// Runs one command on one thread.
fn block_on<T>(command: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| CliError::Network(format!("cannot start: {e}")))?;
    let outcome = runtime.block_on(command);
    // A thread that reads standard input may never end, so that the runtime must not wait for it.
    runtime.shutdown_background();
    outcome
}
