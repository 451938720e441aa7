//! Errors in a scheme's name or keys.

use strandcast_keys::{BadValue, nearest};

/// Mistake in a spec, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No congestion control has this name.
    #[error("unknown congestion control '{name}'{}; choose from {known}", did_you_mean(suggestion))]
    UnknownCongestion {
        /// Name in the spec.
        name: String,
        /// Name that resembles it.
        suggestion: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// TCP and MPTCP flows cannot use this window.
    #[error("'{name}' is not a congestion control of a TCP or MPTCP flow: {why}; choose from {known}")]
    NotForTcp {
        /// Name of the congestion control.
        name: &'static str,
        /// Reason of the refusal.
        why: &'static str,
        /// Names of all windows.
        known: String,
    },
    /// No scheduler has this name.
    #[error("unknown scheduler '{name}'{}; choose from {known}", did_you_mean(suggestion))]
    UnknownScheduler {
        /// Name in the spec.
        name: String,
        /// Name that resembles it.
        suggestion: Option<&'static str>,
        /// Names of the schedulers of MPTCP flows.
        known: String,
    },
    /// MPTCP flows cannot use this scheduler.
    #[error("'{name}' is not a scheduler of an MPTCP flow: {why}; choose from {known}")]
    NotForMptcp {
        /// Name of the scheduler.
        name: &'static str,
        /// Reason of the refusal.
        why: &'static str,
        /// Names of all schedulers.
        known: String,
    },
    /// No preset has this name.
    #[error("unknown scheme '{name}'{}; choose from {known}", did_you_mean(suggestion))]
    UnknownScheme {
        /// Name in the spec.
        name: String,
        /// Name that resembles it.
        suggestion: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// A part is named where a preset is expected.
    #[error("'{name}' is not a scheme but a part of one; give it as the value of the key {role}: {example}")]
    PartAlone {
        /// Name in the spec.
        name: String,
        /// Key that takes the part as its value.
        role: &'static str,
        /// Example of a spec with the part.
        example: String,
    },
    /// The spec exchanges a part of a preset that is not made of parts.
    #[error(
        "scheme {scheme} has no key '{key}': its parts read each other and can't be exchanged; made of parts are {known}"
    )]
    NoSeparateParts {
        /// Name of the scheme.
        scheme: &'static str,
        /// Key that would select a part.
        key: String,
        /// Presets that are made of parts.
        known: String,
    },
    /// The preset or congestion control has no such key.
    #[error("scheme {scheme} has no key '{key}'{}; {}", did_you_mean(suggestion), keys_are(known))]
    UnknownKey {
        /// Name of the scheme.
        scheme: &'static str,
        /// Key in the spec.
        key: String,
        /// Key that resembles it.
        suggestion: Option<&'static str>,
        /// All keys.
        known: String,
    },
    /// The key belongs to parts that the scheme does not have.
    #[error(
        "{key} is a key of {parts}; scheme {scheme} has {chosen}: leave {key} out, or choose a part that has it"
    )]
    UnusedKey {
        /// The key.
        key: &'static str,
        /// Parts that have the key.
        parts: String,
        /// The scheme's name.
        scheme: &'static str,
        /// Parts that the scheme has in their place.
        chosen: String,
    },
    /// The key cannot have this value.
    #[error(transparent)]
    BadValue(#[from] BadValue),
    /// A word between commas is not `key=value`.
    #[error("'{word}' is not key=value, as in {example}")]
    NotKeyValue {
        /// Word in the spec.
        word: String,
        /// Example of a spec with a value.
        example: &'static str,
    },
    /// Two parts cannot be combined.
    #[error("{0}")]
    Conflict(&'static str),
    /// A key was given twice.
    #[error("{0} is given twice")]
    Twice(String),
}

fn keys_are(known: &str) -> String {
    if known.is_empty() { "it has none".into() } else { format!("its keys are {known}") }
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or(String::new(), |s| format!(", did you mean {s}?"))
}

impl SpecError {
    pub(crate) fn unknown_scheme(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Self {
        let suggestion = nearest(name, known.clone());
        SpecError::UnknownScheme { name: name.into(), suggestion, known: join(known) }
    }

    pub(crate) fn unknown_congestion(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Self {
        let suggestion = nearest(name, known.clone());
        SpecError::UnknownCongestion { name: name.into(), suggestion, known: join(known) }
    }

    pub(crate) fn unknown_scheduler(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Self {
        let suggestion = nearest(name, known.clone());
        SpecError::UnknownScheduler { name: name.into(), suggestion, known: join(known) }
    }

    /// Makes the error for an unknown key. `known` are the keys of `scheme`, and `near` are the keys that the user may
    /// have meant.
    pub(crate) fn unknown_key(
        scheme: &'static str,
        key: &str,
        known: &[&'static str],
        near: &[&'static str],
    ) -> Self {
        let suggestion = nearest(key, near.iter().copied());
        SpecError::UnknownKey { scheme, key: key.into(), suggestion, known: known.join(", ") }
    }
}

impl SpecError {
    pub(crate) fn not_for_tcp(
        name: &'static str,
        why: &'static str,
        known: impl Iterator<Item = &'static str>,
    ) -> Self {
        SpecError::NotForTcp { name, why, known: join(known) }
    }
}

pub(crate) fn join(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
