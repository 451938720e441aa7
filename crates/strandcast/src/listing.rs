//! What `strandcast schemes` prints.

use serde_json::{Value, json};
use strandcast_proto::catalog::CatalogError;
use strandcast_schemes::{Listed, Preset, lookup, presets};

/// Columns of a line.
const WIDTH: usize = 110;

/// All presets, or those in `names`, for people; or as JSON.
///
/// # Errors
/// There is none of that name.
pub(crate) fn list(names: &[String], json: bool) -> Result<String, CatalogError> {
    let named = names.iter().map(|name| lookup(name).map_err(CatalogError::new));
    let mut list = named.collect::<Result<Vec<_>, _>>()?;
    if list.is_empty() {
        list.extend(presets());
    }
    if json {
        return Ok(json_of(&list));
    }
    let all: String = list.into_iter().map(|preset| describe(preset) + "\n").collect();
    Ok(format!("{all}Parameters follow the name: --scheme cmt,rtx=ssthresh,dac=off\n"))
}

/// All presets as `strandcast schemes --json` prints them.
pub fn schemes_json() -> String {
    json_of(&presets().iter().collect::<Vec<_>>())
}

fn json_of(presets: &[&Preset]) -> String {
    let all: Vec<Value> = presets.iter().map(|preset| as_json(preset)).collect();
    format!("{:#}\n", json!({ "schemes": all }))
}

/// A preset in lines of at most [`WIDTH`] columns: summary, parts, and parameters in two columns.
fn describe(preset: &Preset) -> String {
    let mut text = String::new();
    put(&mut text, &format!("{}: ", preset.name), 2, preset.summary);
    put(&mut text, "  paper: ", 4, preset.paper);
    for (role, part) in preset.parts {
        put(&mut text, &format!("  {role}: "), 4, part);
    }
    let keys = preset.keys();
    let keys: Vec<_> = keys.iter().map(|key| (format!("{}={}", key.name, key.default), key)).collect();
    let widest = keys.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
    for (word, key) in keys {
        let meaning = format!("{} ({})", key.summary(), key.values.describe());
        put(&mut text, &format!("    {word:<widest$}  "), widest + 6, &meaning);
    }
    text
}

/// Writes `words` after `head`, wrapped with an indent of `indent` columns.
fn put(text: &mut String, head: &str, indent: usize, words: &str) {
    let mut line = head.to_owned();
    let mut empty = true;
    for word in words.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
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

fn as_json(preset: &Preset) -> Value {
    let key = |key: &Listed| {
        json!({
            "name": key.name, "default": key.default, "values": key.values.describe(),
            "summary": key.summary(),
        })
    };
    let parts: serde_json::Map<String, Value> =
        preset.parts.iter().map(|(role, part)| ((*role).to_owned(), json!(part))).collect();
    json!({
        "name": preset.name, "paper": preset.paper, "summary": preset.summary, "parts": parts,
        "parameters": preset.keys().iter().map(key).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_columns_and_fit_a_page() {
        for preset in presets() {
            let text = describe(preset);
            let too_wide = text.lines().find(|line| line.chars().count() > WIDTH);
            assert_eq!(too_wide, None, "{}", preset.name);
            for key in preset.keys() {
                let word = format!("    {}={}  ", key.name, key.default);
                assert!(text.lines().any(|line| line.starts_with(word.trim_end())), "{word}");
            }
        }
    }

    #[test]
    fn long_lines_are_wrapped() {
        let mut text = String::new();
        put(&mut text, "    key=1  ", 11, &"word ".repeat(41));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("    key=1  word") && lines[1].starts_with("           word"));
        assert_eq!(text.split_whitespace().filter(|w| *w == "word").count(), 41);
    }
}
