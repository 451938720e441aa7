//! Changes of a scenario by `--set KEY=VALUE`.

use std::sync::Arc;

use super::error::ScenarioError;
use super::table::dotted;
use super::tree::{self, Branch, Location, Node};

/// Applies one argument. The argument consists of a dotted key, `=`, and a value as in the file. Parts of the key that
/// are not bare words are in quotes. Text needs no quotes. An empty value removes the key that the file gives.
///
/// # Errors
/// The argument has no key, or removes a key that does not exist.
pub(super) fn apply(branch: &mut Branch, file: &str, argument: &str) -> Result<(), ScenarioError> {
    let wrong = |key: String, message: &str| ScenarioError {
        file: file.into(),
        line: None,
        set: Some(argument.into()),
        key,
        message: message.into(),
    };
    let (path, value) = split(argument).map_err(|message| wrong(String::new(), message))?;
    if value.is_empty() {
        let key = || path.iter().fold(String::new(), |key, part| dotted(&key, part));
        let absent = "the file does not give it, so there is nothing to take away; leave the argument out";
        return if tree::unset(branch, &path) { Ok(()) } else { Err(wrong(key(), absent)) };
    }
    let at = Location::Set(Arc::from(argument));
    let value = tree::value(value, &at);
    tree::set(branch, &path, Node { at, value });
    Ok(())
}

/// Returns the parts of the key, and the text after `=`.
fn split(argument: &str) -> Result<(Vec<String>, &str), &'static str> {
    const MEND: &str = "an argument is KEY=VALUE, as in links.b.loss.uniform.rate=0.02";
    let mut path = Vec::new();
    let mut rest = argument;
    loop {
        let (part, behind) = part(rest.trim_start()).ok_or(MEND)?;
        path.push(part);
        let behind = behind.trim_start();
        if let Some(next) = behind.strip_prefix('.') {
            rest = next;
        } else {
            return Ok((path, behind.strip_prefix('=').ok_or(MEND)?.trim()));
        }
    }
}

/// Splits off the first part of a key. Returns this part and the rest.
fn part(text: &str) -> Option<(String, &str)> {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            let (part, behind) = inside.split_once(quote)?;
            return Some((part.into(), behind));
        }
    }
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].into(), &text[end..]))
}
