//! Prints the output of `strandcast schemes`.

use strandcast_keys::catalog::CatalogError;
use strandcast_lab::listing::schemes_json;
use strandcast_schemes::{Listed, Presets, Spec, parse_spec, presets};

use crate::schemes::Listing;

/// Maximum width of a wrapped line, in columns.
const WIDTH: usize = 110;
/// Minimum width of a line in columns. With fewer columns the second column would have no space.
const NARROW: usize = 60;
/// Text between two columns of the table.
const GAP: &str = "  ";
/// Example of a scheme spec that sets keys.
const EXAMPLE: &str = "--scheme cmt,rtx=ssthresh,dac=off";

/// Prints the requested schemes. As text, prints a table of all schemes or a description of each requested scheme. As
/// JSON, always prints descriptions.
///
/// # Errors
/// Returns an error if there is no such scheme, or if the scheme cannot have such a key or value.
pub(crate) fn list(asked: &Listing<'_>) -> Result<String, CatalogError> {
    if asked.json {
        return schemes_json(&Presets, asked.specs);
    }
    let specs = asked.specs.iter().map(|spec| parse_spec(spec).map_err(CatalogError::new));
    let mut specs = specs.collect::<Result<Vec<_>, _>>()?;
    let everything = specs.is_empty();
    if everything {
        specs = all();
    }
    let width = asked.columns.unwrap_or(WIDTH).clamp(NARROW, WIDTH);
    Ok(match (everything, asked.all) {
        (true, false) => table(&specs, asked.columns),
        (_, true) => described(&specs, Spec::listed, &format!("Keys follow the name: {EXAMPLE}"), width),
        (false, false) => described(&specs, Spec::in_use, &more(&specs), width),
    })
}

fn all() -> Vec<Spec> {
    presets().iter().map(|preset| parse_spec(preset.name).expect("a preset alone is a spec")).collect()
}

/// Prints a line for each scheme, cut at the width of the terminal, and then names further commands.
fn table(specs: &[Spec], columns: Option<usize>) -> String {
    let rows = specs.iter().map(|spec| [spec.preset.name, spec.preset.source(), spec.preset.summary]);
    let rows: Vec<_> = [["scheme", "from", "what it does"]].into_iter().chain(rows).collect();
    let longest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (names, sources) = (longest(0), longest(1));
    let sources = columns.map_or(sources, |columns| sources.min(columns / 3));
    let line = |[name, source, summary]: &[&str; 3]| {
        let line = format!("{name:<names$}{GAP}{:<sources$}{GAP}{summary}", cut(source, sources));
        columns.map_or(line.clone(), |columns| cut(&line, columns)) + "\n"
    };
    let lines: String = rows.iter().map(line).collect();
    format!("{lines}A scheme and its keys: strandcast schemes NAME. Keys of all parts: add --all.\n")
}

/// Returns at most `columns` columns of `text`. If the text was cut, it ends with a mark.
fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Returns the line that follows the keys of chosen parts.
fn more(specs: &[Spec]) -> String {
    let hidden = specs.iter().any(|spec| spec.in_use().len() < spec.listed().len());
    let rest = if hidden { " Keys of parts that are not chosen here: add --all." } else { "" };
    format!("Keys follow the name: {EXAMPLE}.{rest}")
}

/// Returns the descriptions of schemes with these keys of each scheme, and a last line.
fn described(specs: &[Spec], keys: fn(&Spec) -> Vec<Listed>, last: &str, width: usize) -> String {
    let mut text: String = specs.iter().map(|spec| describe(spec, &keys(spec), width) + "\n").collect();
    put(&mut text, "", 0, last, width);
    text
}

/// Describes a scheme in lines of at most `width` columns: a summary, the parts, and the keys in two columns.
fn describe(spec: &Spec, keys: &[Listed], width: usize) -> String {
    let (mut text, preset) = (String::new(), spec.preset);
    put(&mut text, &format!("{spec}: "), 2, preset.summary, width);
    put(&mut text, "  paper: ", 4, preset.paper, width);
    for (role, part) in spec.parts() {
        put(&mut text, &format!("  {role}: "), 4, &part, width);
    }
    let keys: Vec<_> = keys.iter().map(|key| (format!("{}={}", key.name, key.default), key)).collect();
    let widest = keys.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
    for (word, key) in keys {
        let meaning = format!("{} ({})", key.summary(), key.values.describe());
        put(&mut text, &format!("    {word:<widest$}  "), widest + 6, &meaning, width);
    }
    text
}

/// Writes `words` after `head`, wrapped at `width` with an indent of `indent` columns.
fn put(text: &mut String, head: &str, indent: usize, words: &str, width: usize) {
    let mut line = head.to_owned();
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > width {
            text.push_str(&line);
            text.push('\n');
            line = " ".repeat(indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests;
