//! Keys, what they can be set to, and structs that have keys.

/// Something that can be set.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it can be.
    pub values: Values,
}

/// What a key can be set to.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Values {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `on` or `off`.
    Switch,
    /// A whole number between the first two, with a unit for people.
    Number(u64, u64, &'static str),
    /// A number between the first two, with a unit for people.
    Decimal(f64, f64, &'static str),
}

impl Values {
    /// What they are, for people.
    pub fn describe(&self) -> String {
        match self {
            Values::OneOf(words) => words.join(", "),
            Values::Switch => "on, off".into(),
            Values::Number(least, most, unit) => format!("{least} to {most} {unit}").trim_end().into(),
            Values::Decimal(least, most, unit) => format!("{least} to {most} {unit}").trim_end().into(),
        }
    }
}

/// A struct whose fields can be set by their keys. [`keys!`](crate::keys) implements it.
pub trait Keyed {
    /// The keys, in the order they are listed.
    fn keys(&self) -> Vec<Key>;

    /// Sets `key` to the value that `text` stands for; `false` if there is no such key.
    ///
    /// # Errors
    /// The key cannot have this value.
    fn set(&mut self, key: &str, text: &str) -> Result<bool, BadValue>;

    /// The value of `key` as [`set`](Keyed::set) reads it.
    fn get(&self, key: &str) -> Option<String>;
}

/// A value that a key cannot have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key} can't be '{value}'{}; it can be {expected}", .suggestion.map_or(String::new(), |s| format!(", did you mean {s}?")))]
pub struct BadValue {
    /// The key.
    pub key: &'static str,
    /// As given.
    pub value: String,
    /// A value that looks like it.
    pub suggestion: Option<&'static str>,
    /// What is possible.
    pub expected: String,
}
