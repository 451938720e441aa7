//! Parser of `NAME[,key=value]...`.

use crate::error::SpecError;

/// Splits a spec into its name and its settings, if there are any.
pub(crate) fn split(spec: &str) -> (&str, Option<&str>) {
    spec.split_once(',').map_or((spec.trim(), None), |(name, rest)| (name.trim(), Some(rest)))
}

/// Returns the keys and values of `words`, which has the form `key=value` between commas. Each key may occur once.
/// `example` is a spec for error messages.
pub(crate) fn pairs<'a>(
    words: Option<&'a str>,
    example: &'static str,
) -> Result<Vec<(&'a str, &'a str)>, SpecError> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for word in words.into_iter().flat_map(|w| w.split(',')).map(str::trim) {
        let (key, text) =
            word.split_once('=').ok_or_else(|| SpecError::NotKeyValue { word: word.into(), example })?;
        if pairs.iter().any(|(other, _)| *other == key.trim()) {
            return Err(SpecError::Twice(key.trim().into()));
        }
        pairs.push((key.trim(), text.trim()));
    }
    Ok(pairs)
}
