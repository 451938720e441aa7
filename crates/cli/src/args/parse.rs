//! Parsing of a command line.

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory as _, FromArgMatches as _};

use super::Args;

impl Args {
    /// Parses a command line. A negative number after an option is the value of that option, and an error for the
    /// number names the values that the option takes.
    ///
    /// # Errors
    /// Returns the mistake in the command line, or the help text that it requests.
    pub(crate) fn of(
        args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Args, clap::Error> {
        let mut command = negative_numbers(Args::command());
        let mut found = command.try_get_matches_from_mut(args)?;
        Args::from_arg_matches_mut(&mut found).map_err(|error| error.format(&mut command))
    }
}

fn negative_numbers(command: Command) -> Command {
    let option = |arg: Arg| {
        let takes = arg.get_long().is_some() && arg.get_action().takes_values();
        if takes { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(option).mut_subcommands(negative_numbers)
}
