//! Mistakes in a routing spec.

use strandcast_keys::BadValue;

/// Why a routing spec can't be read: one line that says what is possible instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No such protocol.
    #[error("no routing protocol '{name}'{}; there are {known}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")))]
    UnknownProtocol {
        /// As given.
        name: String,
        /// A name that looks like it.
        suggestion: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// No such key.
    #[error("{protocol} has no key '{key}'{}; {}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")), possible(.known))]
    UnknownKey {
        /// The protocol.
        protocol: &'static str,
        /// As given.
        key: String,
        /// A key that looks like it.
        suggestion: Option<&'static str>,
        /// All its keys.
        known: String,
    },
    /// Not a key and a value.
    #[error("'{word}' in '{spec}' is not KEY=VALUE, as in aodv,repair=off")]
    NotAPair {
        /// As given.
        word: String,
        /// The whole spec.
        spec: String,
    },
    /// The same key twice.
    #[error("{key} is set twice in '{spec}'")]
    Twice {
        /// The key.
        key: String,
        /// The whole spec.
        spec: String,
    },
    /// A value that a key can't have.
    #[error(transparent)]
    Value(#[from] BadValue),
}

fn possible(known: &str) -> String {
    if known.is_empty() { "it has none".into() } else { format!("it has {known}") }
}
