//! Errors, reported in one line each, and their exit codes.

use strandcast::Error;
pub(crate) use strandcast::text::why;

/// Reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The run completed, but its result misses a target.
    #[error("{0}")]
    Unmet(String),
    /// The command line or a scenario is invalid.
    #[error("{0}")]
    Usage(String),
    /// A file, pipe or stream of media, or results, cannot be read or written.
    #[error("{0}")]
    Media(String),
    /// An identity, a key or a pairing cannot be read or written.
    #[error("{0}")]
    Store(String),
    /// This machine's network or name resolution failed.
    #[error("{0}")]
    Network(String),
    /// The peer is silent, has gone, or refuses.
    #[error("{0}")]
    Peer(String),
    /// Ended early by Ctrl-C or SIGTERM; earlier results are kept.
    #[error("{0}")]
    Interrupted(String),
    /// A program that the command ran ended with this exit code. Nothing is said about it.
    #[error("the program ended with code {0}")]
    Exit(u8),
    /// A second Ctrl-C or SIGTERM.
    #[error("aborted")]
    Aborted,
    /// Standard output was closed before a result was written, as `head` closes it. Nothing is said about it.
    #[error("standard output is closed")]
    Unread,
}

impl CliError {
    /// The process's exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            CliError::Unmet(_) => 1,
            CliError::Usage(_) => 2,
            CliError::Media(_) | CliError::Store(_) => 3,
            CliError::Network(_) => 4,
            CliError::Peer(_) => 5,
            CliError::Exit(code) => *code,
            CliError::Interrupted(_) | CliError::Aborted => 130,
            // A shell reports this code for a program that SIGPIPE ended.
            CliError::Unread => 141,
        }
    }
}

impl From<Error> for CliError {
    fn from(error: Error) -> CliError {
        match error {
            Error::Usage(line) => CliError::Usage(line),
            Error::Media(line) => CliError::Media(line),
            Error::Store(line) => CliError::Store(line),
            Error::Network(line) => CliError::Network(line),
            Error::Peer(line) => CliError::Peer(line),
            Error::Unmet(line) => CliError::Unmet(line),
            _ => CliError::Aborted,
        }
    }
}

/// The last paragraph of every `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 the result misses its target (demo), doctor found something or a policy in Python failed, 2 wrong
command line or scenario, 3 media, results or keys cannot be read or written, 4 this machine's network (name, interface,
port), 5 the peer is silent, gone or refuses, 130 simulate was interrupted, or anything aborted by a second Ctrl-C or
SIGTERM, 141 standard output was closed before a result was written. emulate ends with the code of its program.";
