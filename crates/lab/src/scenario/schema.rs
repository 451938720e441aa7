//! The file's JSON Schema, for editors.

use serde_json::{Map, Value, json};

use super::keys::root::RootKeys;
use super::spec::{Default, Key, Keys, Minimum, ValueType, Variants, Variation};
use super::tree::{self, Location};
use super::units::Quantity;

/// Returns the JSON Schema (draft 2020-12) of scenario files: tables, keys, their meanings and types. The schema
/// accepts every file that [`load`](super::load) accepts. Only `load` finds mistakes that involve more than one key,
/// such as a broken route.
pub fn schema() -> Value {
    let mut schema = Schema { defs: Map::new() };
    let Value::Object(root) = schema.keys(&RootKeys::KEYS, None) else {
        unreachable!("a table is an object")
    };
    let mut all = Map::new();
    all.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    all.insert("title".into(), "Strandcast scenario".into());
    all.extend(root);
    all.insert("$defs".into(), Value::Object(schema.defs));
    Value::Object(all)
}

struct Schema {
    defs: Map<String, Value>,
}

impl Schema {
    /// Reference to a definition. The definition is created when it is first needed.
    fn define(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.defs.contains_key(name) {
            self.defs.insert(name.into(), Value::Null);
            let made = make(self);
            self.defs.insert(name.into(), made);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// Schema of a table, with the key that selects its kind if there are several.
    fn keys(&mut self, keys: &'static Keys, kind: Option<(&'static Variants, &'static str)>) -> Value {
        let mut properties = Map::new();
        let mut required: Vec<&str> = Vec::new();
        if let Some((kinds, name)) = kind {
            properties.insert(kinds.tag.into(), json!({ "const": name, "description": kinds.doc }));
            if kinds.default.is_some_and(|default| default != name) {
                required.push(kinds.tag);
            }
        }
        for key in keys.iter() {
            properties.insert(key.name.into(), self.key(key));
            if matches!(key.default, Default::Required) {
                required.push(key.name);
            }
        }
        json!({
            "type": "object",
            "description": keys.doc,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }

    fn key(&mut self, key: &'static Key) -> Value {
        let mut value = self.value_type(key.value_type);
        let object = value.as_object_mut().expect("each schema is an object");
        let default = match key.default {
            Default::Else(words) => format!(" (default: {words})"),
            Default::Required | Default::Is(_) => String::new(),
        };
        object.insert("description".into(), format!("{}{default}", key.doc).into());
        if let Default::Is(text) = key.default {
            object.insert("default".into(), plain(&tree::value(text, &Location::Line(1))));
        }
        value
    }

    fn value_type(&mut self, value_type: ValueType) -> Value {
        match value_type {
            ValueType::Text | ValueType::File => json!({ "type": "string" }),
            ValueType::Switch => json!({ "type": "boolean" }),
            ValueType::Word(words) => json!({ "enum": words }),
            ValueType::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            ValueType::Size(..) => self.amount(Quantity::Size, Minimum::Zero),
            ValueType::Amount(quantity, minimum) => self.amount(quantity, minimum),
            ValueType::Number(quantity, minimum, variation) => self.number(quantity, minimum, variation),
            ValueType::Rate => {
                let number = self.number(Quantity::Rate, Minimum::Positive, Variation::Free);
                json!({ "anyOf": [number, { "const": "infinite" }] })
            }
            ValueType::Limit => {
                let (packets, bytes) = (
                    self.amount(Quantity::Packets, Minimum::Zero),
                    self.amount(Quantity::Size, Minimum::Zero),
                );
                json!({ "anyOf": [packets, bytes, { "const": "unlimited" }] })
            }
            ValueType::Burst => {
                let (time, bytes) = (
                    self.amount(Quantity::Time, Minimum::Positive),
                    self.amount(Quantity::Size, Minimum::Positive),
                );
                json!({ "anyOf": [time, bytes] })
            }
            ValueType::Links | ValueType::Stations => {
                json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
            }
            ValueType::Table(keys) => self.define(keys.name, |schema| schema.keys(keys, None)),
            ValueType::NamedTables(keys) => {
                let table = self.define(keys.name, |schema| schema.keys(keys, None));
                json!({ "type": "object", "additionalProperties": table })
            }
            ValueType::Variant(kinds) => self.any_kind(kinds),
            ValueType::NamedVariants(kinds) => self.kinds(kinds),
            ValueType::Down(keys) => {
                let one = self.define(keys.name, |schema| schema.keys(keys, None));
                json!({ "anyOf": [one, { "type": "object", "additionalProperties": one }] })
            }
            ValueType::Constants(set) => self.define(set.name, |_| {
                let value = json!({ "type": ["number", "string", "boolean"] });
                let keys: Map<String, Value> =
                    (set.keys)().into_iter().map(|key| (key.name, value.clone())).collect();
                json!({ "type": "object", "properties": keys, "additionalProperties": false })
            }),
        }
    }

    /// Schema of tables of several kinds by name. If the name of a table is a kind, the table need not contain the
    /// kind.
    fn kinds(&mut self, kinds: &'static Variants) -> Value {
        let any = self.any_kind(kinds);
        if kinds.default.is_some() {
            return json!({ "type": "object", "additionalProperties": any });
        }
        let mut properties = Map::new();
        for (name, _) in kinds.each {
            let own = json!({ "$ref": format!("#/$defs/{}_{name}", kinds.name) });
            properties.insert((*name).into(), json!({ "anyOf": [own, any] }));
        }
        json!({ "type": "object", "properties": properties, "additionalProperties": any })
    }

    fn any_kind(&mut self, kinds: &'static Variants) -> Value {
        self.define(kinds.name, |schema| {
            let each = kinds.each.iter().map(|(name, keys)| {
                let table = schema.define(keys.name, |schema| schema.keys(keys, Some((kinds, name))));
                if kinds.default.is_some() {
                    table
                } else {
                    json!({ "allOf": [table], "required": [kinds.tag] })
                }
            });
            json!({ "anyOf": each.collect::<Vec<_>>() })
        })
    }

    /// Schema of a constant number, with or without a unit.
    fn amount(&mut self, quantity: Quantity, minimum: Minimum) -> Value {
        let name = format!("{quantity:?}{}", if minimum == Minimum::Positive { "_positive" } else { "" });
        self.define(&name.to_lowercase(), |_| {
            let bound = if minimum == Minimum::Positive { "exclusiveMinimum" } else { "minimum" };
            let number = json!({ "type": "number", bound: 0, "maximum": quantity.most() });
            let units: Vec<_> = quantity.units().collect();
            let pattern = format!(r"^\s*\+?[0-9.]+([eE][+-]?[0-9]+)?\s*({})?\s*$", units.join("|"));
            json!({ "anyOf": [number, { "type": "string", "pattern": pattern }] })
        })
    }

    /// Schema of a number that may change.
    fn number(&mut self, quantity: Quantity, minimum: Minimum, variation: Variation) -> Value {
        let constant = self.amount(quantity, minimum);
        let (value, time) =
            (self.amount(quantity, Minimum::Zero), self.amount(Quantity::Time, Minimum::Zero));
        let every = self.amount(Quantity::Time, Minimum::Positive);
        let words: &[&str] = match variation {
            Variation::Free => &["run", "packet"],
            Variation::InTime | Variation::EachRun => &["run"],
        };
        let every = match variation {
            Variation::EachRun => json!({ "enum": words }),
            Variation::Free | Variation::InTime => json!({ "anyOf": [{ "enum": words }, every] }),
        };
        let ends = json!({ "type": "array", "items": value, "minItems": 2, "maxItems": 2 });
        let (text, share) = (json!({ "type": "string" }), self.amount(Quantity::Share, Minimum::Zero));
        let shape = self.amount(Quantity::Plain, Minimum::Positive);
        let pareto = json!({ "type": "array", "prefixItems": [value, shape], "minItems": 2, "maxItems": 2 });
        let common = [("every", every), ("cause", text.clone())];
        let drawn = |law: &'static str, numbers: &Value, more: &[(&'static str, &Value)]| {
            let more = more.iter().map(|(key, value)| (*key, (*value).clone()));
            object(
                &[(law, numbers.clone())].into_iter().chain(common.clone()).chain(more).collect::<Vec<_>>(),
            )
        };
        let mut forms = vec![
            constant,
            drawn("uniform", &ends, &[]),
            drawn("normal", &ends, &[("within", &ends), ("correlation", &share)]),
            drawn("lognormal", &ends, &[("within", &ends), ("correlation", &share)]),
            drawn("pareto", &pareto, &[("within", &ends)]),
        ];
        if variation != Variation::EachRun {
            let step = json!({ "type": "array", "prefixItems": [time, value], "minItems": 2, "maxItems": 2 });
            forms.push(object(&[("steps", json!({ "type": "array", "items": step, "minItems": 1 }))]));
            let file = json!({ "anyOf": [text, { "type": "array", "items": text, "minItems": 1 }] });
            let offset = json!({ "anyOf": [time, { "const": "random" }] });
            let repeat = json!({ "type": "boolean" });
            forms.push(object(&[("trace", file), ("loop", repeat), ("offset", offset), ("cause", text)]));
        }
        json!({ "anyOf": forms })
    }
}

/// Schema of a table whose first key is required.
fn object(properties: &[(&str, Value)]) -> Value {
    let map: Map<String, Value> =
        properties.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
    json!({ "type": "object", "properties": map, "required": [properties[0].0], "additionalProperties": false })
}

/// Converts a default to JSON.
fn plain(value: &tree::Value) -> Value {
    match value {
        tree::Value::Switch(on) => (*on).into(),
        tree::Value::Integer(n) => (*n).into(),
        tree::Value::Float(n) => (*n).into(),
        tree::Value::Text(text) => text.as_str().into(),
        tree::Value::Date(_) | tree::Value::List(_) | tree::Value::Table(_) => Value::Null,
    }
}
