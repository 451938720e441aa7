//! The tables of the file's reference.

use super::keys::root::RootKeys;
use super::spec::{Constant, ConstantSet, Default, Key, Keys, ValueType, Variants};

/// Returns every table of the file as Markdown, by the name of the table. A table has its keys with their types,
/// defaults and meanings. docs/scenarios.md contains these tables.
pub fn reference() -> Vec<(&'static str, String)> {
    let mut tables = Vec::new();
    collect(&RootKeys::KEYS, None, &mut tables);
    tables
}

fn collect(keys: &Keys, kind: Option<(&Variants, &str)>, tables: &mut Vec<(&'static str, String)>) {
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
        match &key.value_type {
            ValueType::Table(inner) | ValueType::NamedTables(inner) | ValueType::Down(inner) => {
                collect(inner, None, tables)
            }
            ValueType::Constants(set) => constants(set, tables),
            ValueType::Variant(kinds) | ValueType::NamedVariants(kinds) => {
                for (name, inner) in kinds.each {
                    collect(inner, Some((kinds, name)), tables);
                }
            }
            ValueType::Text
            | ValueType::Switch
            | ValueType::Word(_)
            | ValueType::Whole(..)
            | ValueType::Size(..)
            | ValueType::Amount(..)
            | ValueType::Number(..)
            | ValueType::Rate
            | ValueType::Limit
            | ValueType::Burst
            | ValueType::Links
            | ValueType::Stations
            | ValueType::File => {}
        }
    }
}

/// Returns the table of constants with their meanings.
fn constants(set: &ConstantSet, tables: &mut Vec<(&'static str, String)>) {
    let mut text = String::from("| key | value | default | meaning |\n|---|---|---|---|\n");
    let mut described = false;
    for Constant { name, described: key } in (set.keys)() {
        let Some([value, default, meaning]) = key else { continue };
        described = true;
        text += &format!("| `{name}` | {value} | `{default}` | {meaning} |\n");
    }
    if described && !tables.iter().any(|(name, _)| *name == set.name) {
        tables.push((set.name, text));
    }
}

fn row(key: &Key) -> String {
    let default = match &key.default {
        Default::Required => "required".into(),
        Default::Else(words) => (*words).into(),
        Default::Is(text) if text.parse::<f64>().is_ok() || ["true", "false"].contains(text) => {
            format!("`{text}`")
        }
        Default::Is(text) => format!("`\"{text}\"`"),
    };
    let value = match &key.value_type {
        ValueType::Word(words) => {
            words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
        }
        value_type => value_type.describe(),
    };
    format!("| `{}` | {value} | {default} | {} |\n", key.name, key.doc)
}
