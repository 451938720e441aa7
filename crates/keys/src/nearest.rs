//! Search for the name that a user probably meant.

use strsim::osa_distance;

/// Returns the name that is closest to `word`, if at most a third of its letters differ. One edit inserts, deletes or
/// replaces a letter, or swaps two adjacent letters.
pub fn nearest(word: &str, names: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    let word = word.to_lowercase();
    let scored = names.into_iter().map(|name| (osa_distance(&word, name), name));
    let near = |(edits, name): &(usize, &str)| *edits <= name.len().max(word.len()).div_ceil(3);
    scored.filter(near).min().map(|(_, name)| name)
}

/// Returns the name that is closest to `word` at any distance. Among several closest names, the function returns the
/// first.
pub fn closest(word: &str, names: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    names.into_iter().min_by_key(|name| strsim::levenshtein(word, name))
}
