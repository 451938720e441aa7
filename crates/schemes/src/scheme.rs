//! Presets and their settings.

use core::fmt::Debug;

use strandcast_keys::{Key, Keyed, Values};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;

/// Named combination of policies. Papers call such a combination a scheme.
#[derive(Copy, Clone, Debug)]
pub struct Preset {
    /// The name in specs.
    pub name: &'static str,
    /// Paper or document that describes the preset. The table of schemes shows the text before the first colon or
    /// semicolon. The text consists of authors and year, or of the name of a document.
    pub paper: &'static str,
    /// Description in one sentence, for people.
    pub summary: &'static str,
    /// Pairs of a role and the part that fills the role by default.
    pub parts: &'static [(&'static str, &'static str)],
    /// Keys, with the preset's defaults.
    pub settings: fn() -> Box<dyn Settings>,
}

impl Preset {
    /// Returns the beginning of [`paper`](Preset::paper). The text consists of authors and year, or of the name of a
    /// document.
    pub fn source(&self) -> &'static str {
        self.paper.split([':', ';']).next().unwrap_or(self.paper)
    }

    /// Returns every key that exists for some choice of parts, in the order of listings.
    pub fn keys(&self) -> Vec<Listed> {
        (self.settings)().listed()
    }
}

/// Settings of a scheme, from which the scheme is made.
pub trait Settings: Keyed + Debug + Send + Sync {
    /// Makes the scheme of one association. The random draws of the scheme come from `seeds`.
    fn build(&self, name: &'static str, seeds: &Seeds) -> Box<dyn Scheme>;

    /// Sets the values of the transport that the scheme needs.
    fn tune(&self, config: &mut TransportConfig);

    /// Returns a copy.
    fn boxed(&self) -> Box<dyn Settings>;

    /// Returns the keys that choose parts. The keys are set before all other keys, because the parts determine which
    /// other keys exist.
    fn roles(&self) -> Vec<Key> {
        Vec::new()
    }

    /// Returns the reason, in one line, why the chosen parts cannot be combined.
    fn conflict(&self) -> Option<&'static str> {
        None
    }

    /// Returns the reason, in one line, why the settings cannot be combined. The function is called once all keys are
    /// set.
    fn contradiction(&self) -> Option<&'static str> {
        None
    }

    /// Returns the reason why a key that is set has no effect. The result also has the other key that must be given.
    fn idle(&self, _key: &str) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Returns whether the scheme takes the costs of links into account.
    fn reads_tariffs(&self) -> bool {
        false
    }

    /// Returns every key that exists for some choice of parts.
    fn listed(&self) -> Vec<Listed> {
        self.keys().iter().map(|key| Listed::new(key, None, self.get(key.name))).collect()
    }

    /// Returns the keys of the chosen parts. Each key has only its summaries in these parts.
    fn in_use(&self) -> Vec<Listed> {
        self.listed()
    }
}

impl Clone for Box<dyn Settings> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// A role and the word of the part that fills it, as in `scheduler`, `loss-order`.
pub type PartName = (&'static str, &'static str);

/// Key in the list of keys.
#[derive(Clone, PartialEq, Debug)]
pub struct Listed {
    /// Name of the key.
    pub name: &'static str,
    /// Values of the key.
    pub values: Values,
    /// Default of the key.
    pub default: String,
    /// Meanings of the key. Each has the part in which it applies. `None` means that the key exists for any choice of
    /// parts.
    uses: Vec<(Option<PartName>, &'static str)>,
}

impl Listed {
    /// Makes the entry for `key` of `part` with the default value `default`.
    pub fn new(key: &Key, part: Option<PartName>, default: Option<String>) -> Self {
        let default = default.unwrap_or_default();
        Listed { name: key.name, values: key.values, default, uses: vec![(part, key.summary)] }
    }

    /// Returns the parts that have the key. Empty if the key exists for any choice of parts.
    pub fn parts(&self) -> impl Iterator<Item = PartName> {
        self.uses.iter().filter_map(|(part, _)| *part)
    }

    /// Returns the meaning of the key. The parts that have the key follow in brackets.
    pub fn summary(&self) -> String {
        let mut told: Vec<(&str, Vec<String>)> = Vec::new();
        for (part, summary) in &self.uses {
            let part = part.map(|(role, word)| format!("{role}={word}"));
            match told.iter_mut().find(|(other, _)| other == summary) {
                Some((_, parts)) => parts.extend(part),
                None => told.push((summary, part.into_iter().collect())),
            }
        }
        let one = |(summary, parts): &(&str, Vec<String>)| match parts.as_slice() {
            [] => (*summary).to_owned(),
            parts => format!("{summary} ({})", parts.join(", ")),
        };
        told.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    /// Adds the parts of `more`, which is a key of the same name.
    pub fn merge(&mut self, more: Listed) {
        self.uses.extend(more.uses);
    }
}
