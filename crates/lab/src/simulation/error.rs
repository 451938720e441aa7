//! Reasons why a scenario cannot be built.

use core::fmt;

/// Reason why a scenario cannot be built. This error is only for mistakes that cannot be found without the catalog of
/// schemes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// Key of the scenario with the mistake.
    pub key: String,
    /// Description of the mistake, and how to correct it.
    pub message: String,
}

impl BuildError {
    pub(super) fn new(key: &str, message: &str) -> Self {
        BuildError { key: key.to_owned(), message: message.to_owned() }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

impl core::error::Error for BuildError {}
