//! Keys, their possible values, and structs that have keys.

/// A named setting.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Key {
    /// Name by which the key is set.
    pub name: &'static str,
    /// Description of the key in one line.
    pub summary: &'static str,
    /// Possible values of the key.
    pub values: Values,
}

/// Possible values of a key.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Values {
    /// The value is one of these words.
    OneOf(&'static [&'static str]),
    /// The value is `on` or `off`.
    Switch,
    /// The value is a whole number between the first two numbers. The string is its unit for display.
    Number(u64, u64, &'static str),
    /// The value is a number between the first two numbers. The string is its unit for display.
    Decimal(f64, f64, &'static str),
}

impl Values {
    /// Returns a description of the values for display.
    pub fn describe(&self) -> String {
        match self {
            Values::OneOf(words) => words.join(", "),
            Values::Switch => "on, off".into(),
            Values::Number(least, most, unit) => format!("{least} to {most} {unit}").trim_end().into(),
            Values::Decimal(least, most, unit) => format!("{least} to {most} {unit}").trim_end().into(),
        }
    }
}

/// A struct whose fields are set by keys. [`keys!`](crate::keys) implements it.
pub trait Keyed {
    /// Returns the keys in the order in which they are declared.
    fn keys(&self) -> Vec<Key>;

    /// Sets `key` to the value in `text`. Returns `false` if the struct does not have the key.
    ///
    /// # Errors
    /// Returns an error if the key cannot have this value.
    fn set(&mut self, key: &str, text: &str) -> Result<bool, BadValue>;

    /// Returns the value of `key` in the form that [`set`](Keyed::set) reads.
    fn get(&self, key: &str) -> Option<String>;
}

/// Error: a value that its key cannot have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key} can't be '{value}'{}; it can be {expected}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")))]
pub struct BadValue {
    /// Name of the key.
    pub key: &'static str,
    /// Value as it was given.
    pub value: String,
    /// A possible value that is similar.
    pub suggestion: Option<&'static str>,
    /// Description of the possible values.
    pub expected: String,
}
