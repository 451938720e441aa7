//! Mistakes in a routing spec.

use strandcast_keys::BadValue;

/// Reason why a routing spec cannot be read, in one line with the possible values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The protocol is unknown.
    #[error("no routing protocol '{name}'{}; there are {known}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")))]
    UnknownProtocol {
        /// The name as given.
        name: String,
        /// A similar name.
        suggestion: Option<&'static str>,
        /// All protocols.
        known: String,
    },
    /// The key is unknown.
    #[error("{protocol} has no key '{key}'{}; {}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")), possible(.known))]
    UnknownKey {
        /// The protocol.
        protocol: &'static str,
        /// The key as given.
        key: String,
        /// A similar key.
        suggestion: Option<&'static str>,
        /// All keys of the protocol.
        known: String,
    },
    /// A word is not a key with a value.
    #[error("'{word}' in '{spec}' is not KEY=VALUE, as in aodv,repair=off")]
    NotAPair {
        /// The word as given.
        word: String,
        /// The whole spec.
        spec: String,
    },
    /// A key is given twice.
    #[error("{key} is set twice in '{spec}'")]
    Twice {
        /// The key.
        key: String,
        /// The whole spec.
        spec: String,
    },
    /// The value is invalid for its key.
    #[error(transparent)]
    Value(#[from] BadValue),
}

fn possible(known: &str) -> String {
    if known.is_empty() { "it has none".into() } else { format!("it has {known}") }
}
