//! The presets by name, and what can be set on them.

use std::collections::BTreeMap;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;

use crate::error::SpecError;
use crate::preset;

/// A named combination of policies: what a paper calls a scheme.
#[derive(Copy, Clone, Debug)]
pub struct Preset {
    /// The name in specs.
    pub name: &'static str,
    /// Where it is described.
    pub paper: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// (role, what plays it) with the defaults.
    pub parts: &'static [(&'static str, &'static str)],
    /// What can be set.
    pub keys: &'static [Key],
    /// Defaults that differ from the keys' own.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Makes the scheme of one association.
    pub build: fn(&Params, &Seeds) -> Box<dyn Scheme>,
    /// Sets what the scheme needs of the transport.
    pub tune: fn(&Params, &mut TransportConfig),
}

impl Preset {
    /// The value `key` has unless a spec sets it.
    pub fn default_of(&self, key: &Key) -> &'static str {
        default_of(key, self.defaults)
    }

    /// All defaults.
    pub fn params(&self) -> Params {
        Params::defaults(self.keys, self.defaults)
    }
}

/// The value of `key`, which `own` may replace.
fn default_of(key: &Key, own: &[(&str, &'static str)]) -> &'static str {
    own.iter().find(|(name, _)| *name == key.name).map_or(key.default, |(_, value)| value)
}

/// Something that can be set.
#[derive(Copy, Clone, Debug)]
pub struct Key {
    /// Its name in specs.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it can be.
    pub values: Values,
    /// What it is unless the preset or the spec says otherwise.
    pub default: &'static str,
}

impl Key {
    pub(crate) const fn one_of(
        name: &'static str,
        words: &'static [&'static str],
        summary: &'static str,
    ) -> Self {
        Key { name, summary, values: Values::OneOf(words), default: words[0] }
    }

    pub(crate) const fn switch(name: &'static str, default: &'static str, summary: &'static str) -> Self {
        Key { name, summary, values: Values::Switch, default }
    }

    pub(crate) const fn number(
        name: &'static str,
        (least, most, unit): (u64, u64, &'static str),
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        Key { name, summary, values: Values::Number(least, most, unit), default }
    }

    pub(crate) const fn decimal(
        name: &'static str,
        (least, most, unit): (f64, f64, &'static str),
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        Key { name, summary, values: Values::Decimal(least, most, unit), default }
    }
}

/// What a key can be set to.
#[derive(Copy, Clone, Debug)]
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
    /// The value that `text` stands for.
    pub(crate) fn parse(&self, text: &str) -> Option<Value> {
        match self {
            Values::OneOf(words) => words.iter().find(|w| **w == text).map(|w| Value::Word(w)),
            Values::Switch => match text {
                "on" => Some(Value::Switch(true)),
                "off" => Some(Value::Switch(false)),
                _ => None,
            },
            Values::Number(least, most, _) => {
                text.parse().ok().filter(|n| (least..=most).contains(&n)).map(Value::Number)
            }
            Values::Decimal(least, most, _) => {
                text.parse().ok().filter(|n| (least..=most).contains(&n)).map(Value::Decimal)
            }
        }
    }

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

#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Word(&'static str),
    Switch(bool),
    Number(u64),
    Decimal(f64),
}

/// A value for every key of a preset.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    pub(crate) values: BTreeMap<&'static str, Value>,
}

impl Params {
    /// The defaults of `keys`, some of them replaced by `own`.
    pub(crate) fn defaults(keys: &[Key], own: &[(&str, &'static str)]) -> Self {
        let value = |key: &Key| {
            let text = default_of(key, own);
            (key.name, key.values.parse(text).expect("defaults are values of their keys"))
        };
        Params { values: keys.iter().map(value).collect() }
    }

    fn get(&self, key: &str) -> Value {
        *self.values.get(key).unwrap_or_else(|| panic!("a preset reads only its own keys, not {key}"))
    }

    /// The word chosen for `key`.
    ///
    /// # Panics
    /// If the preset has no such key, or it is of another kind.
    pub fn word(&self, key: &str) -> &'static str {
        match self.get(key) {
            Value::Word(w) => w,
            other => panic!("{key} is {other:?}, not a word"),
        }
    }

    /// Whether `key` is on.
    ///
    /// # Panics
    /// If the preset has no such key, or it is of another kind.
    pub fn switch(&self, key: &str) -> bool {
        match self.get(key) {
            Value::Switch(on) => on,
            other => panic!("{key} is {other:?}, not a switch"),
        }
    }

    /// The number set for `key`.
    ///
    /// # Panics
    /// If the preset has no such key, or it is of another kind.
    pub fn number(&self, key: &str) -> u64 {
        match self.get(key) {
            Value::Number(n) => n,
            other => panic!("{key} is {other:?}, not a number"),
        }
    }

    /// The decimal number set for `key`.
    ///
    /// # Panics
    /// If the preset has no such key, or it is of another kind.
    pub fn decimal(&self, key: &str) -> f64 {
        match self.get(key) {
            Value::Decimal(n) => n,
            other => panic!("{key} is {other:?}, not a decimal number"),
        }
    }
}

/// All presets, in the order they are listed to people.
pub fn presets() -> &'static [Preset] {
    const ALL: &[Preset] = &[
        preset::bond::PRESET,
        preset::sctp::PRESET,
        preset::cmt::PRESET,
        preset::lia::PRESET,
        preset::redundant::PRESET,
        preset::cmt_la::PRESET,
        preset::cmt_qa::PRESET,
        preset::cmt_cl::PRESET,
        preset::cmt_cl::FRIENDLY,
        preset::sctp_rev::REV,
        preset::sctp_rev::REV_PLUS,
    ];
    ALL
}

/// The preset called `name`.
///
/// # Errors
/// [`SpecError::UnknownScheme`], with a suggestion when `name` looks misspelt.
pub fn lookup(name: &str) -> Result<&'static Preset, SpecError> {
    let found = presets().iter().find(|p| p.name == name);
    found.ok_or_else(|| SpecError::unknown_scheme(name, presets().iter().map(|p| p.name)))
}
