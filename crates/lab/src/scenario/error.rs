//! Error for a mistake in a scenario, as one line.

use core::fmt;

use strandcast_keys::text::printable;

/// The first mistake in a scenario. The mistake is in the scenario file, in an argument that changes it, or in a trace
/// to which it refers. The text of the mistake is `FILE:LINE: KEY: problem; remedy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// Name of the file. If [`set`](Self::set) is present, the argument that changed the file.
    pub file: String,
    /// Line of the file, counted from 1, if the mistake is in a line.
    pub line: Option<usize>,
    /// The `--set` argument that contains the mistake.
    pub set: Option<String>,
    /// Full name of the key with the mistake (`links.b.rate`). Empty if the mistake is not in a key.
    pub key: String,
    /// Description of the mistake, and how to correct it.
    pub message: String,
}

impl ScenarioError {
    /// Returns `FILE:LINE: KEY`. Parts that are unknown are left out.
    pub(super) fn place(&self) -> String {
        let place = match (&self.set, self.line) {
            (Some(set), _) => format!("--set {}", printable(set)),
            (None, Some(line)) => format!("{}:{line}", printable(&self.file)),
            (None, None) => printable(&self.file).into_owned(),
        };
        if self.key.is_empty() { place } else { format!("{place}: {}", printable(&self.key)) }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), printable(&self.message))
    }
}

impl core::error::Error for ScenarioError {}

/// Returns the name that is most similar to `word`. It must differ in at most a third of the letters.
pub(super) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let scored = names.into_iter().map(|name| (strsim::osa_distance(&lower, &name.to_lowercase()), name));
    let near = |(distance, name): &(usize, &str)| *distance <= name.len().max(word.len()).div_ceil(3);
    scored.filter(near).min().map(|(_, name)| name)
}

/// Words that other programs use. Each has the name that scenarios use.
const SYNONYMS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("bernoulli", "uniform"),
    ("gilbert", "markov"),
    ("gilbert-elliott", "markov"),
    ("gilbert_elliott", "markov"),
    ("jitter", "delay"),
    ("latency", "delay"),
    ("outage", "down"),
    ("rtt", "delay"),
];

/// Returns `, did you mean X?` if a name is similar. If no name is similar, returns the list of names, unless the list
/// is too long.
pub(crate) fn hint<'a>(word: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == word.to_lowercase());
    if let Some((other, name)) = synonym.filter(|(_, name)| names.clone().into_iter().any(|one| one == *name))
    {
        return match *other {
            "jitter" => "; a delay that varies is `delay = { uniform = [\"10 ms\", \"30 ms\"] }`".into(),
            "rtt" => "; `delay` is that of one direction".into(),
            _ => format!("; it is called `{name}`"),
        };
    }
    if let Some(name) = nearest(word, names.clone()) {
        return format!("; did you mean `{name}`?");
    }
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        "; there are no names".into()
    } else {
        format!("; choose from {}", names.join(", "))
    }
}
