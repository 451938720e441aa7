//! Errors in a routing spec.

use strandcast_keys::BadValue;

/// Reason for which a routing spec cannot be read. The message of a reason is one line with the possible values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The protocol has an unknown name.
    #[error("no routing protocol '{name}'{}; choose from {known}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")))]
    UnknownProtocol {
        /// Name in the spec.
        name: String,
        /// A known name that is similar.
        suggestion: Option<&'static str>,
        /// Names of all protocols.
        known: String,
    },
    /// The protocol does not have this key.
    #[error("{protocol} has no key '{key}'{}; {}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")), possible(.known))]
    UnknownKey {
        /// Name of the protocol.
        protocol: &'static str,
        /// Key in the spec.
        key: String,
        /// A key of the protocol that is similar.
        suggestion: Option<&'static str>,
        /// All keys of the protocol.
        known: String,
    },
    /// A word of the spec is not a key with a value.
    #[error("'{word}' in '{spec}' is not KEY=VALUE, as in aodv,repair=off")]
    NotAPair {
        /// The word in the spec.
        word: String,
        /// The whole spec.
        spec: String,
    },
    /// A key is given twice.
    #[error("{key} is set twice in '{spec}'")]
    Twice {
        /// Name of the key.
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
