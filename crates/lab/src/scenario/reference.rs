//! The tables of the file's reference.

use super::keys::{Fallback, Key, Keys, Kinds, ROOT, Takes};
use super::table::describe;

/// Every table of the file with its keys, what they take, their defaults and meanings: by the table's name, as Markdown.
/// docs/scenarios.md has these tables.
pub fn reference() -> Vec<(&'static str, String)> {
    let mut tables = Vec::new();
    collect(&ROOT, None, &mut tables);
    tables
}

fn collect(keys: &Keys, kind: Option<(&Kinds, &str)>, tables: &mut Vec<(&'static str, String)>) {
    if tables.iter().any(|(name, _)| *name == keys.name) || (keys.groups.is_empty() && kind.is_none()) {
        return;
    }
    let mut text = String::from("| key | value | default | meaning |\n|---|---|---|---|\n");
    if let Some((kinds, name)) = kind {
        let default = kinds.default.map_or("the table's name".into(), |name| format!("`\"{name}\"`"));
        text += &format!("| `{}` | `\"{name}\"` | {default} | {} |\n", kinds.tag, kinds.doc);
    }
    for key in keys.iter() {
        text += &row(key);
    }
    tables.push((keys.name, text));
    for key in keys.iter() {
        match &key.takes {
            Takes::Table(inner) | Takes::Named(inner) | Takes::Down(inner) => collect(inner, None, tables),
            Takes::Kind(kinds) | Takes::Kinds(kinds) => {
                for (name, inner) in kinds.each {
                    collect(inner, Some((kinds, name)), tables);
                }
            }
            _ => {}
        }
    }
}

fn row(key: &Key) -> String {
    let default = match &key.fallback {
        Fallback::Required => "required".into(),
        Fallback::Else(words) => (*words).into(),
        Fallback::Is(text) if text.parse::<f64>().is_ok() || ["true", "false"].contains(text) => {
            format!("`{text}`")
        }
        Fallback::Is(text) => format!("`\"{text}\"`"),
    };
    let takes = match &key.takes {
        Takes::Word(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", "),
        takes => describe(takes),
    };
    format!("| `{}` | {takes} | {default} | {} |\n", key.name, key.doc)
}
