//! Schemes as people write them: `NAME[,key=value]...`.

use core::fmt;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;

use crate::error::{SpecError, join, nearest};
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
}
