//! Presets and their settings.

use core::fmt::Debug;

use strandcast_keys::{Key, Keyed, Values};
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;

/// Named combination of policies, a scheme in the sense of papers.
#[derive(Copy, Clone, Debug)]
pub struct Preset {
    /// The name in specs.
    pub name: &'static str,
    /// Paper or document that describes it. The table of schemes shows the text before the first colon or semicolon:
    /// authors and year,
    /// or the name of a document.
    pub paper: &'static str,
    /// One sentence for people.
    pub summary: &'static str,
    /// (role, what plays it) with the defaults.
    pub parts: &'static [(&'static str, &'static str)],
    /// Keys, with the preset's defaults.
    pub settings: fn() -> Box<dyn Settings>,
}

impl Preset {
    /// The beginning of [`paper`](Preset::paper): authors and year, or the name of a document.
    pub fn source(&self) -> &'static str {
        self.paper.split([':', ';']).next().unwrap_or(self.paper)
    }

    /// Every key that some choice of parts has, in the order they are listed.
    pub fn keys(&self) -> Vec<Listed> {
        (self.settings)().listed()
    }
}

/// Settings of a scheme, and the scheme that follows.
pub trait Settings: Keyed + Debug + Send + Sync {
    /// A scheme for one association; its random draws come from `seeds`.
    fn build(&self, name: &'static str, seeds: &Seeds) -> Box<dyn Scheme>;

    /// Sets the values of the transport that the scheme needs.
    fn tune(&self, config: &mut TransportConfig);

    /// Returns a copy.
    fn boxed(&self) -> Box<dyn Settings>;

    /// The keys that choose parts. These keys are set before all others, because the parts decide which other keys
    /// exist.
    fn roles(&self) -> Vec<Key> {
        Vec::new()
    }

    /// Reason, in one line, why the chosen parts cannot be combined.
    fn conflict(&self) -> Option<&'static str> {
        None
    }

    /// Reason, in one line, why the settings cannot be combined. Called once all keys are set.
    fn contradiction(&self) -> Option<&'static str> {
        None
    }

    /// Reason why a key does nothing although it is set, and the key that must also be given.
    fn idle(&self, _key: &str) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Returns whether the scheme takes the costs of links into account.
    fn reads_tariffs(&self) -> bool {
        false
    }

    /// Every key that some choice of parts has.
    fn listed(&self) -> Vec<Listed> {
        self.keys().iter().map(|key| Listed::new(key, None, self.get(key.name))).collect()
    }

    /// The keys that the chosen parts have, each with its summaries in these parts alone.
    fn in_use(&self) -> Vec<Listed> {
        self.listed()
    }
}

impl Clone for Box<dyn Settings> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// A role and the word of its part: `scheduler`, `loss-order`.
pub type PartName = (&'static str, &'static str);

/// A key in the list of keys.
#[derive(Clone, PartialEq, Debug)]
pub struct Listed {
    /// Name of the key.
    pub name: &'static str,
    /// Values of the key.
    pub values: Values,
    /// Default of the key.
    pub default: String,
    /// Meaning of the key, in the parts that have it. `None`: it exists for any choice of parts.
    uses: Vec<(Option<PartName>, &'static str)>,
}

impl Listed {
    /// `key` of `part`; its value is `default`.
    pub fn new(key: &Key, part: Option<PartName>, default: Option<String>) -> Self {
        let default = default.unwrap_or_default();
        Listed { name: key.name, values: key.values, default, uses: vec![(part, key.summary)] }
    }

    /// Parts that have the key; empty if it exists for any choice of parts.
    pub fn parts(&self) -> impl Iterator<Item = PartName> {
        self.uses.iter().filter_map(|(part, _)| *part)
    }

    /// Meaning of the key, with the parts that have it in brackets.
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

    /// Adds the parts of `more`, a key of the same name.
    pub fn merge(&mut self, more: Listed) {
        self.uses.extend(more.uses);
    }
}
