//! Keys, their possible values, and structs that have keys.

/// A named setting.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Key {
    /// Name of the key.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// Possible values.
    pub values: Values,
}

/// Possible values of a key.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Values {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `on` or `off`.
    Switch,
    /// A whole number between the first two, with a unit for display.
    Number(u64, u64, &'static str),
    /// A number between the first two, with a unit for display.
    Decimal(f64, f64, &'static str),
}

impl Values {
    /// Describes the values for display.
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
    /// The keys, in the order they are listed.
    fn keys(&self) -> Vec<Key>;

    /// Sets `key` to the value of `text`; returns `false` if the struct does not have the key.
    ///
    /// # Errors
    /// If the key cannot have this value.
    fn set(&mut self, key: &str, text: &str) -> Result<bool, BadValue>;

    /// Returns the value of `key` in the form that [`set`](Keyed::set) reads.
    fn get(&self, key: &str) -> Option<String>;
}

/// A value that a key cannot have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key} can't be '{value}'{}; it can be {expected}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")))]
pub struct BadValue {
    /// The key.
    pub key: &'static str,
    /// The value as given.
    pub value: String,
    /// A similar value.
    pub suggestion: Option<&'static str>,
    /// The possible values.
    pub expected: String,
}
