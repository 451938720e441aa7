//! The JSON Schema of lines of `--stats`, from the table of their keys.

use serde_json::{Map, Value, json};

use super::keys::{EVENTS, EVERY, FIGURES, Key, Kind, NAMES, NAMES_SERVED, SERVED};

/// Returns the JSON Schema (draft 2020-12) of a line.
pub fn schema() -> Value {
    let mut properties = Map::new();
    for key in EVERY.iter().chain(SERVED).chain(FIGURES).chain(EVENTS) {
        let parts: Vec<&str> = key.name.split('.').collect();
        place(&mut properties, &parts, key);
    }
    let names: Vec<&str> = NAMES.iter().chain(NAMES_SERVED).map(|(name, ..)| *name).collect();
    properties["event"]["enum"] = json!(names);
    let required: Vec<&str> = EVERY.iter().map(|key| key.name).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of --stats of `strandcast send`, `strandcast receive` or `strandcast serve`",
        "description": "Lines with `media` have figures, lines with `event` events, others report a time without a stream.",
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

/// Adds a key to the properties of its object.
fn place(properties: &mut Map<String, Value>, parts: &[&str], key: &Key) {
    let (name, list) = match parts[0].strip_suffix("[]") {
        Some(name) => (name, true),
        None => (parts[0], false),
    };
    if let [_] = parts {
        let leaf = leaf(key);
        let value = if list { json!({ "type": "array", "items": leaf }) } else { leaf };
        properties.insert(name.to_owned(), value);
        return;
    }
    let slot = properties.entry(name).or_insert_with(|| {
        let object = json!({ "type": "object", "properties": {} });
        if list { json!({ "type": "array", "items": object }) } else { object }
    });
    let object = if list { &mut slot["items"] } else { slot };
    if let Some(inner) = object["properties"].as_object_mut() {
        place(inner, &parts[1..], key);
    }
}

fn leaf(key: &Key) -> Value {
    let mut value = match key.kind {
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Map => json!({ "type": "object", "additionalProperties": { "type": "number" } }),
    };
    if key.optional {
        value["type"] = json!([value["type"], "null"]);
    }
    let unit = if key.unit.is_empty() { String::new() } else { format!(" [{}]", key.unit) };
    value["description"] = json!(format!("{}{unit}", key.meaning));
    value
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::live::lines::keys::Side;
    use crate::live::lines::line::kebab;
    use crate::live::stats::Stats;

    /// Returns the tables of the page, which are between marks.
    fn tables() -> [(&'static str, String); 3] {
        let mut rows = String::from("| key | unit | side | example | meaning |\n|---|---|---|---|---|\n");
        for key in EVERY.iter().chain(SERVED).chain(FIGURES).chain(EVENTS) {
            let Key { name, unit, side, example, meaning, .. } = key;
            rows += &format!("| `{name}` | {unit} | {} | `{example}` | {meaning} |\n", side.name());
        }
        let mut events = String::from("| event | keys | when |\n|---|---|---|\n");
        for (name, keys, when) in NAMES.iter().chain(NAMES_SERVED) {
            events += &format!("| `{name}` | {keys} | {when} |\n");
        }
        let mut metrics = String::from("| metric | key |\n|---|---|\n");
        for key in EVERY.iter().chain(FIGURES) {
            if let Some(metric) = key.metric {
                metrics += &format!("| `{}` | `{}` |\n", metric.name, key.name);
            }
        }
        [("keys", rows), ("events", events), ("metrics", metrics)]
    }

    /// `UPDATE_DOCS=1` writes them.
    #[test]
    fn the_page_has_the_tables() {
        let page = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate/statistics.md"));
        let text = std::fs::read_to_string(&page).unwrap();
        let mut expected = text.clone();
        for (name, table) in tables() {
            let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
            let (before, rest) = expected.split_once(&begin).expect("the mark is there");
            let (_, after) = rest.split_once(&end).expect("the mark is there");
            expected = format!("{before}{begin}\n{table}\n{end}{after}");
        }
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&page, &expected).unwrap();
        }
        assert!(
            text == expected || std::env::var_os("UPDATE_DOCS").is_some(),
            "UPDATE_DOCS=1 writes the tables"
        );
    }

    #[test]
    fn each_example_is_of_its_kind() {
        for key in EVERY.iter().chain(SERVED).chain(FIGURES).chain(EVENTS) {
            let value: Value = serde_json::from_str(key.example).unwrap();
            let fits = match key.kind {
                Kind::Count => value.is_u64(),
                Kind::Number => value.is_number(),
                Kind::Text => value.is_string(),
                Kind::Map => value.is_object(),
            };
            assert!(fits || key.optional && value.is_null(), "{}: {value}", key.name);
        }
        assert!(FIGURES.iter().any(|key| key.side == Side::Receiver));
    }

    /// Returns the names of an object's keys in the form of the table. The keys of a map are not fixed, and are left
    /// out.
    fn names(value: &Value, prefix: &str, found: &mut Vec<String>) {
        if FIGURES.iter().any(|key| key.kind == Kind::Map && key.name == prefix) {
            return found.push(prefix.to_owned());
        }
        match value {
            Value::Object(object) => {
                for (name, value) in object {
                    let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                    names(value, &name, found);
                }
            }
            Value::Array(values) => {
                let name = format!("{prefix}[]");
                values.iter().for_each(|value| names(value, &name, found));
                if values.is_empty() {
                    found.push(name);
                }
            }
            _ => found.push(prefix.to_owned()),
        }
    }

    /// Each key of the figures must have a row in the table. The crate that defines the figures does not know about the
    /// table.
    #[test]
    fn every_key_of_the_figures_has_a_row() {
        let mut stats = Stats::default();
        stats.paths.push(Default::default());
        stats.paths[0].opportunistic_resends = Some(0);
        stats.media.drops.insert("capacity", 1);
        stats.media.late_by.insert("congestion-window", 1);
        stats.media.held_s.insert("congestion-window", 0.1);
        let mut found = Vec::new();
        names(&serde_json::to_value(&stats).unwrap(), "", &mut found);
        let known = |name: &String| EVERY.iter().chain(FIGURES).any(|key| key.name == *name);
        let missing: Vec<_> = found.into_iter().filter(|name| !known(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    /// Each event of the library must have a row with the name that lines use.
    #[test]
    fn every_event_has_a_row() {
        let source = include_str!("../described.rs");
        let classes =
            source.split("(\"").skip(1).filter_map(|rest| rest.split_once("\", ")).map(|(name, _)| name);
        let classes: Vec<&str> = classes
            .filter(|name| {
                name.starts_with(|c: char| c.is_ascii_uppercase())
                    && name.bytes().all(|b| b.is_ascii_alphabetic())
            })
            .filter(|name| !["Stats", "Event"].contains(name))
            .collect();
        assert!(classes.len() > 35, "{classes:?}");
        for class in &classes {
            let name = kebab(class);
            assert!(NAMES.iter().any(|(row, ..)| *row == name), "{name} has no row");
        }
        for (name, ..) in NAMES {
            assert!(classes.iter().any(|class| kebab(class) == *name), "{name} is no event");
        }
    }

    #[test]
    fn the_schema_has_types_and_required_keys() {
        let schema = schema();
        let path = &schema["properties"]["paths"]["items"]["properties"];
        assert_eq!(path["bytes"]["type"], "integer");
        assert_eq!(path["loss"]["type"], json!(["number", "null"]));
        assert_eq!(path["link"]["properties"]["tx_frames"]["type"], json!(["integer", "null"]));
        assert_eq!(schema["required"], json!(["time", "uptime_s", "role", "stream"]));
        assert_eq!(schema["properties"]["diagnostics"]["items"]["type"], "string");
    }
}
