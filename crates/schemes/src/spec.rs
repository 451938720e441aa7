//! Schemes as people write them: `NAME[,key=value]...`.

use core::fmt;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;

use crate::preset;
use crate::registry::{Key, Params, Preset, Value, lookup};

/// A preset with its parameters: enough to build the scheme of any number of associations.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Which preset.
    pub preset: &'static Preset,
    /// A value for each of its keys.
    pub params: Params,
}

impl Spec {
    /// A scheme for one association; its random draws come from `seeds`.
    pub fn build(&self, seeds: &Seeds) -> Box<dyn Scheme> {
        (self.preset.build)(&self.params, seeds)
    }

    /// Sets what the scheme needs of the transport.
    pub fn tune(&self, config: &mut TransportConfig) {
        (self.preset.tune)(&self.params, config);
    }
}

/// The spec that gives this preset with these parameters; defaults are left out.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.preset.name)?;
        let defaults = self.preset.params();
        for key in self.preset.keys {
            let value = self.params.values[key.name];
            if value != defaults.values[key.name] {
                write!(f, ",{}={value}", key.name)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Word(w) => f.write_str(w),
            Value::Switch(on) => f.write_str(if *on { "on" } else { "off" }),
            Value::Number(n) => n.fmt(f),
            Value::Decimal(n) => n.fmt(f),
        }
    }
}

/// What is wrong with a spec, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No congestion control has this name.
    #[error("unknown congestion control '{name}'{}; there are {known}", did_you_mean(suggestion))]
    UnknownCongestion {
        /// As given.
        name: String,
        /// A name that looks like it.
        suggestion: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// A window that TCP and MPTCP flows can't have.
    #[error("'{name}' is no congestion control of a TCP or MPTCP flow: {why}; there are {known}")]
    NotForTcp {
        /// Its name.
        name: &'static str,
        /// What is in the way.
        why: &'static str,
        /// All names that there are.
        known: String,
    },
    /// No preset has this name.
    #[error("unknown scheme '{name}'{}; there are {known}", did_you_mean(suggestion))]
    UnknownScheme {
        /// As given.
        name: String,
        /// A name that looks like it.
        suggestion: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// The preset or congestion control has no such key.
    #[error("scheme {scheme} has no key '{key}'{}; its keys are {known}", did_you_mean(suggestion))]
    UnknownKey {
        /// Its name.
        scheme: &'static str,
        /// As given.
        key: String,
        /// A key that looks like it.
        suggestion: Option<&'static str>,
        /// All keys.
        known: String,
    },
    /// The key can't have this value.
    #[error("{key} can't be '{value}'{}; it can be {expected}", did_you_mean(suggestion))]
    BadValue {
        /// The key.
        key: &'static str,
        /// As given.
        value: String,
        /// A value that looks like it.
        suggestion: Option<&'static str>,
        /// What is possible.
        expected: String,
    },
    /// Something between commas is not `key=value`.
    #[error("'{word}' is not key=value, as in {example}")]
    NotKeyValue {
        /// As given.
        word: String,
        /// A spec with a value.
        example: &'static str,
    },
    /// Two parts that don't go together.
    #[error("{0}")]
    Conflict(&'static str),
    /// A key was given twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
}

fn did_you_mean(suggestion: &Option<&'static str>) -> String {
    suggestion.map_or(String::new(), |s| format!(", did you mean {s}?"))
}

impl SpecError {
    pub(crate) fn unknown_scheme(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Self {
        let suggestion = nearest(name, known.clone());
        SpecError::UnknownScheme { name: name.into(), suggestion, known: join(known) }
    }

    pub(crate) fn unknown_congestion(name: &str, known: impl Iterator<Item = &'static str> + Clone) -> Self {
        let suggestion = nearest(name, known.clone());
        SpecError::UnknownCongestion { name: name.into(), suggestion, known: join(known) }
    }
}

impl SpecError {
    pub(crate) fn not_for_tcp(
        name: &'static str,
        why: &'static str,
        known: impl Iterator<Item = &'static str>,
    ) -> Self {
        SpecError::NotForTcp { name, why, known: join(known) }
    }
}

fn join(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// Reads `NAME[,key=value]...`.
///
/// # Errors
/// [`SpecError`], which says in one line what is possible instead.
pub fn parse_spec(spec: &str) -> Result<Spec, SpecError> {
    let (name, rest) = split(spec);
    let preset = lookup(name)?;
    let mut params = preset.params();
    set(&mut params, preset.name, preset.keys, rest, "cmt,rtx=same")?;
    if let Some(why) = preset::combine::conflict(&params) {
        return Err(SpecError::Conflict(why));
    }
    Ok(Spec { preset, params })
}

/// The same, after those of `defaults` (`key=value` between commas) that the preset has a key for and `spec` does not
/// set: a profile's constants, some of which only some presets know.
///
/// # Errors
/// As [`parse_spec`].
pub fn parse_spec_with(spec: &str, defaults: &str) -> Result<Spec, SpecError> {
    let (name, own) = split(spec);
    let preset = lookup(name)?;
    let key = |word: &str| word.split_once('=').map_or(word, |(key, _)| key).trim().to_owned();
    let set: Vec<String> = own.into_iter().flat_map(|own| own.split(',')).map(key).collect();
    let applies = |word: &&str| {
        let key = key(word);
        preset.keys.iter().any(|k| k.name == key) && !set.contains(&key)
    };
    let words = core::iter::once(name).chain(defaults.split(',').filter(applies)).chain(own);
    parse_spec(&words.collect::<Vec<_>>().join(","))
}

/// The name, and what is set, if anything.
pub(crate) fn split(spec: &str) -> (&str, Option<&str>) {
    spec.split_once(',').map_or((spec.trim(), None), |(name, rest)| (name.trim(), Some(rest)))
}

/// Sets what `words` says (`key=value` between commas) on the `params` of `scheme`.
pub(crate) fn set(
    params: &mut Params,
    scheme: &'static str,
    keys: &[Key],
    words: Option<&str>,
    example: &'static str,
) -> Result<(), SpecError> {
    let mut given = Vec::new();
    for word in words.into_iter().flat_map(|w| w.split(',')).map(str::trim) {
        let not_key_value = || SpecError::NotKeyValue { word: word.into(), example };
        let (name, text) = word.split_once('=').ok_or_else(not_key_value)?;
        let (name, text) = (name.trim(), text.trim());
        let key = keys.iter().find(|k| k.name == name).ok_or_else(|| {
            let names = keys.iter().map(|k| k.name);
            SpecError::UnknownKey {
                scheme,
                key: name.into(),
                suggestion: nearest(name, names.clone()),
                known: join(names),
            }
        })?;
        if given.contains(&key.name) {
            return Err(SpecError::Twice(key.name));
        }
        given.push(key.name);
        let value = key.values.parse(text).ok_or_else(|| SpecError::BadValue {
            key: key.name,
            value: text.into(),
            suggestion: match key.values {
                crate::Values::OneOf(words) => nearest(text, words.iter().copied()),
                _ => None,
            },
            expected: key.values.describe(),
        })?;
        params.values.insert(key.name, value);
    }
    Ok(())
}

/// The name that is least different from `word`, if it is near enough to be meant: up to a third of the letters.
fn nearest(word: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let word = word.to_lowercase();
    let scored = names.map(|n| (distance(&word, n), n));
    let near = |(d, n): &(usize, &str)| *d <= n.len().max(word.len()).div_ceil(3);
    scored.filter(near).min().map(|(_, n)| n)
}

/// Edits between two words: insert, delete, replace, or swap two neighbours (restricted Damerau-Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;

    fn error(spec: &str) -> String {
        parse_spec(spec).expect_err(spec).to_string()
    }

    #[test]
    fn defaults_are_for_keys_that_are_there_and_free() {
        for (spec, defaults, full) in [
            ("cmt", "", "cmt"),
            ("cmt", "half-floor=2,initial-cwnd=2", "cmt,half-floor=2,initial-cwnd=2"),
            ("cmt,half-floor=3", "half-floor=2,initial-cwnd=2", "cmt,initial-cwnd=2,half-floor=3"),
            ("cmt,rtx=same", "nonsense=1,pf=off", "cmt,pf=off,rtx=same"),
        ] {
            let with = parse_spec_with(spec, defaults).expect(spec).to_string();
            assert_eq!(with, parse_spec(full).expect(full).to_string(), "{spec} after {defaults}");
        }
        assert_eq!(parse_spec_with("cmtt", "pf=off").unwrap_err(), parse_spec("cmtt").unwrap_err());
        assert_eq!(parse_spec_with("cmt,rxt=same", "").unwrap_err(), parse_spec("cmt,rxt=same").unwrap_err());
    }

    #[test]
    fn a_name_alone_gives_the_defaults() {
        let spec = parse_spec("cmt").expect("cmt exists");
        assert_eq!(spec.preset.name, "cmt");
        assert_eq!((spec.params.word("rtx"), spec.params.switch("pf")), ("cwnd", true));
        assert_eq!(spec.to_string(), "cmt");
    }

    #[test]
    fn what_is_set_is_kept_and_printed() {
        let spec =
            parse_spec("cmt, rtx = ssthresh ,dac=off,half-floor=2,pf=on").expect("all are keys of cmt");
        assert_eq!(spec.params.word("rtx"), "ssthresh");
        assert!(!spec.params.switch("dac"));
        assert_eq!(spec.params.number("half-floor"), 2);
        assert_eq!(spec.to_string(), "cmt,rtx=ssthresh,dac=off,half-floor=2");
        assert_eq!(parse_spec(&spec.to_string()).expect("it was printed").params, spec.params);
    }

    #[test]
    fn mistakes_get_one_line_that_helps() {
        let known: Vec<_> = presets().iter().map(|p| p.name).collect();
        let schemes = format!("there are {}", known.join(", "));
        assert_eq!(error("cmtt"), format!("unknown scheme 'cmtt', did you mean cmt?; {schemes}"));
        assert_eq!(error("CMT"), format!("unknown scheme 'CMT', did you mean cmt?; {schemes}"));
        assert_eq!(error("quic"), format!("unknown scheme 'quic'; {schemes}"));
        assert_eq!(error(""), format!("unknown scheme ''; {schemes}"));
        let line = error("cmt,rxt=same");
        assert!(
            line.starts_with("scheme cmt has no key 'rxt', did you mean rtx?; its keys are scheduler, "),
            "{line}"
        );
        let values = "it can be cwnd, same, asap, ssthresh, lossrate, scheduler";
        assert_eq!(
            error("cmt,rtx=loss-rate"),
            format!("rtx can't be 'loss-rate', did you mean lossrate?; {values}")
        );
        assert_eq!(error("cmt,dac=yes"), "dac can't be 'yes'; it can be on, off");
        assert_eq!(error("cmt,half-floor=0"), "half-floor can't be '0'; it can be 1 to 64 MTU");
        assert_eq!(error("cmt,half-floor=-1"), "half-floor can't be '-1'; it can be 1 to 64 MTU");
        assert_eq!(error("cmt,rtx"), "'rtx' is not key=value, as in cmt,rtx=same");
        assert_eq!(error("cmt,"), "'' is not key=value, as in cmt,rtx=same");
        assert_eq!(error("cmt,rtx=same,rtx=same"), "rtx is given twice");
        assert_eq!(
            error("cmt,scheduler=receiver"),
            "scheduler=receiver needs feedback=rounds: the receiver chooses a path by rounds"
        );
    }

    #[test]
    fn edits_are_counted() {
        for (a, b, edits) in [
            ("", "", 0),
            ("lia", "lia", 0),
            ("lai", "lia", 1),
            ("redundent", "redundant", 1),
            ("cm", "cmt", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
        }
    }
}
