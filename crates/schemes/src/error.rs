//! What can be wrong with a scheme's name or its keys.

/// What is wrong with a spec, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No congestion control has this name.
    #[error("unknown congestion control '{name}'{}; there are {known}", did_you_mean(suggestion))]
    UnknownCongestion {
        /// As given.
        name: String,
        /// A name that looks like it.
        suggestion: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// A window that TCP and MPTCP flows can't have.
    #[error("'{name}' is no congestion control of a TCP or MPTCP flow: {why}; there are {known}")]
    NotForTcp {
        /// Its name.
        name: &'static str,
        /// What is in the way.
        why: &'static str,
        /// All names that there are.
        known: String,
    },
    /// No preset has this name.
    #[error("unknown scheme '{name}'{}; there are {known}", did_you_mean(suggestion))]
    UnknownScheme {
        /// As given.
        name: String,
        /// A name that looks like it.
        suggestion: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// The preset or congestion control has no such key.
    #[error("scheme {scheme} has no key '{key}'{}; its keys are {known}", did_you_mean(suggestion))]
    UnknownKey {
        /// Its name.
        scheme: &'static str,
        /// As given.
        key: String,
        /// A key that looks like it.
        suggestion: Option<&'static str>,
        /// All keys.
        known: String,
    },
    /// The key can't have this value.
    #[error("{key} can't be '{value}'{}; it can be {expected}", did_you_mean(suggestion))]
    BadValue {
        /// The key.
        key: &'static str,
        /// As given.
        value: String,
        /// A value that looks like it.
        suggestion: Option<&'static str>,
        /// What is possible.
        expected: String,
    },
    /// Something between commas is not `key=value`.
    #[error("'{word}' is not key=value, as in {example}")]
    NotKeyValue {
        /// As given.
        word: String,
        /// A spec with a value.
        example: &'static str,
    },
    /// Two parts that don't go together.
    #[error("{0}")]
    Conflict(&'static str),
    /// A key was given twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
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

/// The name that is least different from `word`, if it is near enough to be meant: up to a third of the letters.
pub(crate) fn nearest(word: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let word = word.to_lowercase();
    let scored = names.map(|n| (distance(&word, n), n));
    let near = |(d, n): &(usize, &str)| *d <= n.len().max(word.len()).div_ceil(3);
    scored.filter(near).min().map(|(_, n)| n)
}

/// Edits between two words: insert, delete, replace, or swap two neighbours (restricted Damerau-Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, edits) in [
            ("", "", 0),
            ("lia", "lia", 0),
            ("lai", "lia", 1),
            ("redundent", "redundant", 1),
            ("cm", "cmt", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
    }
}
