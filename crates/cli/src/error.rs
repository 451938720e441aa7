//! What can go wrong, in one line each, and the exit code that goes with it.

use crate::print;

/// Why the command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The run went through, and its result is not good enough.
    #[error("{0}")]
    Unmet(String),
    /// The command line, or a scenario, makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A file, pipe or stream of media, or results, cannot be read or written.
    #[error("{0}")]
    Media(String),
    /// This machine's network or the names in it.
    #[error("{0}")]
    Network(String),
    /// The other side: silent, gone, or unwilling.
    #[error("{0}")]
    Peer(String),
    /// Ended early by Ctrl-C or SIGTERM; what was done by then is kept.
    #[error("{0}")]
    Interrupted(String),
    /// A second Ctrl-C or SIGTERM.
    #[error("aborted")]
    Aborted,
}

impl CliError {
    /// The process's exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            CliError::Unmet(_) => 1,
            CliError::Usage(_) => 2,
            CliError::Media(_) => 3,
            CliError::Network(_) => 4,
            CliError::Peer(_) => 5,
            CliError::Interrupted(_) | CliError::Aborted => 130,
        }
    }
}

/// What every `--help` ends with.
pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 the result misses its bar (demo) or a policy in Python failed, 2 wrong command line or scenario,
3 media or results cannot be read or written, 4 this machine's network (name, interface, port), 5 the peer is silent,
gone or refuses, 130 simulate was interrupted, or anything aborted by a second Ctrl-C or SIGTERM.";

/// Prints what clap found: help and version in full on standard output, mistakes as one line.
pub(crate) fn usage(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Nobody reads: nothing to do about it.
            let _ = error.print();
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            2
        }
        _ => {
            print::line(&format!("strandcast: {}", mistake(error)));
            2
        }
    }
}

/// A mistake as a line. Where a port belongs clap cannot know.
fn mistake(error: &clap::Error) -> String {
    use clap::error::{ContextKind, ContextValue};
    let line = one_line(&error.to_string());
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(arg)) if matches!(arg.as_str(), "--port" | "-p") => {
            let said = line.split(" tip: ").next().unwrap_or(&line);
            format!("{said}; a UDP port stands behind the address: HOST:PORT")
        }
        _ => line,
    }
}

/// clap's paragraph as a line: what is wrong and the tips, without the usage that `--help` shows.
pub(crate) fn one_line(text: &str) -> String {
    let said = text.split("\n\nUsage:").next().unwrap_or(text);
    let said = said.split("\n\nFor more information").next().unwrap_or(said);
    let words: Vec<&str> = said.trim_start_matches("error: ").split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::Parser;

    #[test]
    fn every_mistake_is_one_line_that_names_it() {
        for (args, word) in [
            (vec!["strandcast", "send"], "INPUT"),
            (vec!["strandcast", "sned", "a", "b"], "sned"),
            (vec!["strandcast", "send", "a", "b", "--latency", "soon"], "soon"),
            (vec!["strandcast", "send", "a", "b", "--path", "wlan0"], "wlan0"),
            (vec!["strandcast", "receive"], "OUTPUT"),
            (vec!["strandcast", "demo", "--network", "moon"], "moon"),
        ] {
            let error = Args::try_parse_from(&args).unwrap_err();
            let line = one_line(&error.to_string());
            assert!(line.contains(word) && !line.contains('\n'), "{args:?}: {line:?}");
        }
    }
}
