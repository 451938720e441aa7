//! Errors of operations.

use std::fmt;
#[cfg(any(feature = "net", feature = "lab"))]
use std::io;

/// Reason why an operation failed: one line that names the fault and its remedy.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is not possible.
    #[error("{0}")]
    Usage(String),
    /// Media cannot be read or written.
    #[error("{0}")]
    Media(String),
    /// An identity, a key or a pairing cannot be read or written.
    #[error("{0}")]
    Store(String),
    /// This machine's network or name resolution failed.
    #[error("{0}")]
    Network(String),
    /// The peer does not answer, has left, or refuses.
    #[error("{0}")]
    Peer(String),
    /// The operation ended without reaching its goal.
    #[error("{0}")]
    Unmet(String),
    /// A task or a thread that the operation needed has ended.
    #[error("aborted")]
    Aborted,
}

/// Writes the same line as `Display`, so that a program whose `main` returns the error prints it.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the system's error message without its number.
#[cfg(any(feature = "net", feature = "lab"))]
pub fn why(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    words.chars().next().map_or_else(String::new, |c| c.to_lowercase().chain(words.chars().skip(1)).collect())
}
