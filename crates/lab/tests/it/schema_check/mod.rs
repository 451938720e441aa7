//! As much of JSON Schema as the scenarios' schema uses.

use serde_json::Value;

/// A schema that values are held against.
pub struct Schema(Value);

impl Schema {
    pub fn new(schema: Value) -> Self {
        Schema(schema)
    }

    /// Checks whether a value fits; `Err` has the place where it does not.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.fits(&self.0, value, "")
    }

    fn fits(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        for (word, rule) in schema.as_object().ok_or("a schema is an object")? {
            let fits = match word.as_str() {
                "$ref" => return self.fits(self.definition(rule), value, at),
                "type" => has_type(rule, value),
                "const" => rule == value,
                "enum" => list(rule).contains(value),
                "minimum" => value.as_f64().is_none_or(|n| n >= number(rule)),
                "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > number(rule)),
                "maximum" => value.as_f64().is_none_or(|n| n <= number(rule)),
                "minItems" => value.as_array().is_none_or(|list| list.len() as f64 >= number(rule)),
                "maxItems" => value.as_array().is_none_or(|list| list.len() as f64 <= number(rule)),
                "required" => {
                    list(rule).iter().all(|key| value.get(key.as_str().unwrap_or_default()).is_some())
                }
                "anyOf" => list(rule).iter().any(|schema| self.fits(schema, value, at).is_ok()),
                "allOf" => list(rule).iter().all(|schema| self.fits(schema, value, at).is_ok()),
                "items" | "prefixItems" => self.items(word, rule, value, at).is_ok(),
                "properties" | "additionalProperties" => {
                    self.properties(schema, value, at)?;
                    true
                }
                // Editors check patterns; the reader has its own tests for units.
                "pattern" | "description" | "default" | "title" | "$schema" | "$defs" => true,
                other => return Err(format!("the checker does not know `{other}`")),
            };
            if !fits {
                return Err(format!("{at}: {value} does not fit `{word}`: {rule}"));
            }
        }
        Ok(())
    }

    fn definition(&self, reference: &Value) -> &Value {
        let name =
            reference.as_str().and_then(|text| text.strip_prefix("#/$defs/")).expect("references are local");
        let definition = &self.0["$defs"][name];
        assert!(definition.is_object(), "there is no definition {name}");
        definition
    }

    fn items(&self, word: &str, rule: &Value, value: &Value, at: &str) -> Result<(), String> {
        for (i, item) in value.as_array().into_iter().flatten().enumerate() {
            let schema = if word == "items" { rule } else { &rule[i] };
            self.fits(schema, item, at)?;
        }
        Ok(())
    }

    fn properties(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        for (key, inner) in value.as_object().into_iter().flatten() {
            let own = schema.get("properties").and_then(|properties| properties.get(key));
            match own.or(schema.get("additionalProperties")) {
                Some(Value::Bool(false)) => return Err(format!("{at}: unknown key `{key}`")),
                Some(schema) if schema.is_object() => self.fits(schema, inner, &format!("{at}.{key}"))?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().expect("the rule is a list")
}

fn number(rule: &Value) -> f64 {
    rule.as_f64().expect("the rule is a number")
}

fn has_type(rule: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str().expect("types have names") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    rule.as_array().map_or_else(|| one(rule), |names| names.iter().any(one))
}
