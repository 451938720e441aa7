//! Schemes as people write them: `NAME[,key=value]...`.

use core::fmt;

use strandcast_keys::Values;
use strandcast_proto::config::TransportConfig;
use strandcast_proto::policy::Scheme;
use strandcast_proto::seeds::Seeds;

use crate::error::{SpecError, join};
use crate::pairs::{pairs, split};
use crate::registry::{lookup, presets};
use crate::scheme::{Listed, Preset, Settings};

/// A preset with its parameters. It suffices to build the scheme of any number of associations.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Preset of the spec.
    pub preset: &'static Preset,
    /// Settings of the preset.
    settings: Box<dyn Settings>,
    /// Keys that the spec sets, including keys that it sets to their default.
    given: Vec<String>,
}

impl Spec {
    /// Makes the scheme of one association. The random draws of the scheme come from `seeds`.
    pub fn build(&self, seeds: &Seeds) -> Box<dyn Scheme> {
        self.settings.build(self.preset.name, seeds)
    }

    /// Sets the values of the transport that the scheme needs.
    pub fn tune(&self, config: &mut TransportConfig) {
        self.settings.tune(config);
    }

    /// Returns whether the scheme takes the costs of links into account.
    pub fn reads_tariffs(&self) -> bool {
        self.settings.reads_tariffs()
    }

    /// Returns the value of `key` as text. Returns `None` if the parts of the scheme have no such key.
    pub fn value(&self, key: &str) -> Option<String> {
        self.settings.get(key)
    }

    /// Returns the keys of the scheme's parts.
    pub fn keys(&self) -> Vec<&'static str> {
        self.settings.keys().iter().map(|key| key.name).collect()
    }

    /// Returns the listed keys, each with its value in this spec.
    pub fn in_use(&self) -> Vec<Listed> {
        self.settings.in_use()
    }

    /// Returns every key that some choice of parts has. Keys of the scheme's parts have the values of this spec.
    pub fn listed(&self) -> Vec<Listed> {
        let mut all = self.settings.listed();
        for key in &mut all {
            if let Some(value) = self.value(key.name) {
                key.default = value;
            }
        }
        all
    }

    /// Returns the roles. Each has the preset's description of its part. If the spec chose another part, the role has
    /// the word of that part. Estimators depend on the parts. If the spec chose other parts, the preset's estimators
    /// are left out.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let preset = parse_spec(self.preset.name).expect("a preset alone is a spec");
        let chosen = |role: &str| {
            let key = if role == "congestion control" { "cc" } else { role };
            self.value(key).filter(|word| preset.value(key).as_ref() != Some(word))
        };
        let changed = self.preset.parts.iter().any(|(role, _)| chosen(role).is_some());
        let told = self.preset.parts.iter().filter(|(role, _)| !(changed && *role == "estimators"));
        let part = |(role, part): &(&'static str, &'static str)| match chosen(role) {
            Some(word) => (*role, format!("{word}, in place of: {part}")),
            None => (*role, (*part).to_owned()),
        };
        told.map(part).collect()
    }

    /// Returns the shortest spec that means the same with these defaults ([`parse_spec_with`]). There is one text for
    /// each flow. If an explicit key equals the preset's default, it is kept only if `defaults` would change it.
    pub fn shortest_over<'a>(&self, defaults: impl IntoIterator<Item = &'a str>) -> String {
        let theirs = defaults.into_iter().flat_map(|text| text.split(','));
        let theirs: Vec<&str> = theirs
            .filter_map(|word| scoped(word).for_preset(self.preset.name))
            .map(|pair| pair.split('=').next().unwrap_or_default().trim())
            .collect();
        let (mut text, shortest) = (self.preset.name.to_owned(), self.to_string());
        let set: Vec<&str> =
            shortest.split(',').filter_map(|pair| pair.split_once('=')).map(|(key, _)| key).collect();
        for key in self.keys() {
            if set.contains(&key) || theirs.contains(&key) && self.given.iter().any(|given| given == key) {
                text += &format!(",{key}={}", self.value(key).unwrap_or_default());
            }
        }
        text
    }
}

/// Writes the spec of this preset with these parameters. Defaults are omitted.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.preset.name)?;
        let own = (self.preset.settings)();
        let mut defaults = own.boxed();
        let roles = self.settings.roles();
        for role in &roles {
            let chosen = self.settings.get(role.name).unwrap_or_default();
            defaults.set(role.name, &chosen).expect("it is the value of the same key");
        }
        let keys = self.settings.keys();
        let differs = |key: &str| {
            let chooses = roles.iter().any(|role| role.name == key);
            let default = if chooses { own.get(key) } else { defaults.get(key) };
            self.settings.get(key) != default
        };
        let set = keys.iter().map(|key| key.name).filter(|key| differs(key));
        // If another key switches a key off, the switched-off key has no effect. The parser accepts it only together
        // with the key that switches it off.
        let switches: Vec<&str> = set.filter_map(|key| self.settings.idle(key)).map(|(_, key)| key).collect();
        for key in keys.iter().map(|key| key.name).filter(|key| differs(key) || switches.contains(key)) {
            if let Some(value) = self.settings.get(key) {
                write!(f, ",{key}={value}")?;
            }
        }
        Ok(())
    }
}

/// Reads `NAME[,key=value]...`.
///
/// # Errors
/// [`SpecError`]. The single line of the error lists the possible values.
pub fn parse_spec(spec: &str) -> Result<Spec, SpecError> {
    parse_spec_with(spec, "")
}

/// Default value from a profile.
struct Scoped<'a> {
    /// Preset to which the default applies. `None` for all presets.
    preset: Option<&'a str>,
    /// Key and value of the default.
    pair: &'a str,
}

impl<'a> Scoped<'a> {
    /// Returns the key and the value, if they apply to the preset called `name`.
    fn for_preset(&self, name: &str) -> Option<&'a str> {
        self.preset.is_none_or(|preset| preset == name).then_some(self.pair)
    }
}

/// Reads `key=value`, or `PRESET:key=value`.
fn scoped(word: &str) -> Scoped<'_> {
    match word.split_once(':') {
        Some((preset, pair)) if !preset.contains('=') => Scoped { preset: Some(preset.trim()), pair },
        _ => Scoped { preset: None, pair: word },
    }
}

/// Parses a spec with `defaults` (`key=value` between commas). A default applies if the scheme has its key and `spec`
/// does not set the key. The defaults are constants of a profile, and not every scheme has a key for each of them.
/// `PRESET:key=value` is a default for this preset only. It takes precedence over a default for all presets.
///
/// # Errors
/// The errors of [`parse_spec`].
pub fn parse_spec_with(spec: &str, defaults: &str) -> Result<Spec, SpecError> {
    let (name, own) = split(spec);
    let preset = lookup(name).map_err(|unknown| part_alone(name).unwrap_or(unknown))?;
    let own = pairs(own, EXAMPLE)?;
    let mut settings = (preset.settings)();
    let (roles, listed) = (settings.roles(), settings.listed());
    let known = |word: &&str| {
        let key = word.split_once('=').map_or(*word, |(key, _)| key).trim();
        roles.iter().any(|role| role.name == key) || listed.iter().any(|known| known.name == key)
    };
    // If no part of this preset has the key, it is the key of another scheme.
    let all: Vec<Scoped<'_>> = defaults.split(',').map(scoped).collect();
    let (theirs, own_words): (Vec<&Scoped<'_>>, Vec<_>) = all.iter().partition(|one| one.preset.is_none());
    let own_words: Vec<&str> = own_words.iter().filter_map(|one| one.for_preset(preset.name)).collect();
    let key = |word: &str| word.split_once('=').map_or(word, |(key, _)| key).trim().to_owned();
    let free = |word: &&str| own_words.iter().all(|own| key(own) != key(word));
    let words = theirs.iter().map(|one| one.pair).filter(free).chain(own_words.iter().copied());
    let words = words.filter(known).collect::<Vec<_>>().join(",");
    let mut defaults = pairs(Some(words.as_str()).filter(|w| !w.is_empty()), EXAMPLE)?;
    defaults.retain(|(key, _)| own.iter().all(|(set, _)| set != key));
    let chooses = |(key, _): &&(&str, &str)| roles.iter().any(|role| role.name == *key);
    for (key, text) in defaults.iter().chain(&own).filter(chooses) {
        settings.set(key, text)?;
    }
    if let Some(why) = settings.conflict() {
        return Err(SpecError::Conflict(why));
    }
    for (key, text) in defaults.iter().filter(|pair| !chooses(pair)) {
        settings.set(key, text)?;
    }
    for (key, text) in own.iter().filter(|pair| !chooses(pair)) {
        if !settings.set(key, text)? {
            return Err(refusal(preset, &*settings, key));
        }
    }
    if let Some(why) = settings.contradiction() {
        return Err(SpecError::Conflict(why));
    }
    // If a key is switched off on purpose, it may have settings for the case that it is on.
    let said = |key: &str| own.iter().chain(&defaults).any(|(set, _)| *set == key);
    let mut idle = own.iter().filter_map(|(key, _)| settings.idle(key));
    if let Some((why, _)) = idle.find(|(_, switch)| !said(switch)) {
        return Err(SpecError::Conflict(why));
    }
    let given = own.iter().map(|(key, _)| (*key).to_owned()).collect();
    Ok(Spec { preset, settings, given })
}

/// Example for errors about text that is not a key and a value.
const EXAMPLE: &str = "cmt,rtx=same";

/// Returns the error for a `name` that is a part although a preset is expected. The error names the first spec that
/// takes the part.
fn part_alone(name: &str) -> Option<SpecError> {
    presets().iter().find_map(|preset| {
        let roles = (preset.settings)().roles();
        let role =
            roles.iter().find(|role| matches!(role.values, Values::OneOf(words) if words.contains(&name)))?;
        let example = format!("{},{}={name}", preset.name, role.name);
        parse_spec(&example).ok()?;
        Some(SpecError::PartAlone { name: name.into(), role: role.name, example })
    })
}

/// Returns the error with the reason why `settings` have no `key`.
fn refusal(preset: &Preset, settings: &dyn Settings, key: &str) -> SpecError {
    let made_of_parts = || presets().iter().filter(|p| !(p.settings)().roles().is_empty());
    let chooses = |p: &Preset| (p.settings)().roles().iter().any(|role| role.name == key);
    if settings.roles().is_empty() && made_of_parts().any(chooses) {
        let known = join(made_of_parts().map(|p| p.name));
        return SpecError::NoSeparateParts { scheme: preset.name, key: key.into(), known };
    }
    let all = settings.listed();
    let Some(found) = all.iter().find(|listed| listed.name == key) else {
        let known: Vec<_> = settings.keys().iter().map(|key| key.name).collect();
        let near: Vec<_> = all.iter().map(|listed| listed.name).collect();
        return SpecError::unknown_key(preset.name, key, &known, &near);
    };
    let mut roles: Vec<&str> = found.parts().map(|(role, _)| role).collect();
    roles.dedup();
    let chosen = roles.iter().map(|role| format!("{role}={}", settings.get(role).unwrap_or_default()));
    SpecError::UnusedKey {
        key: found.name,
        parts: found.parts().map(|(role, word)| format!("{role}={word}")).collect::<Vec<_>>().join(" or "),
        scheme: preset.name,
        chosen: chosen.collect::<Vec<_>>().join(", "),
    }
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
            ("cmt", "half-floor=2,sctp:half-floor=3,sctp:fast-rtx=alternate", "cmt,half-floor=2"),
            ("sctp", "half-floor=2,sctp:half-floor=3", "sctp,half-floor=3"),
            ("sctp", "sctp:half-floor=3,half-floor=2", "sctp,half-floor=3"),
            ("sctp,half-floor=5", "half-floor=2, sctp:half-floor=3", "sctp,half-floor=5"),
            ("sctp", "sctp:fast-rtx=alternate", "sctp,fast-rtx=alternate"),
            ("sctp,loss=sfr", "sctp:rtx=alternate", "sctp,loss=sfr,rtx=alternate"),
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
        assert_eq!((spec.value("rtx").as_deref(), spec.value("pf").as_deref()), (Some("cwnd"), Some("on")));
        assert_eq!(spec.to_string(), "cmt");
    }

    #[test]
    fn what_is_set_is_kept_and_printed() {
        let spec =
            parse_spec("cmt, rtx = ssthresh ,dac=off,half-floor=2,pf=on").expect("all are keys of cmt");
        let value = |key: &str| spec.value(key).expect(key);
        assert_eq!(
            (value("rtx"), value("dac"), value("half-floor")),
            ("ssthresh".into(), "off".into(), "2".into())
        );
        assert_eq!(spec.to_string(), "cmt,rtx=ssthresh,dac=off,half-floor=2");
        assert_eq!(parse_spec(&spec.to_string()).expect("it was printed").to_string(), spec.to_string());
        assert_eq!(
            spec.shortest_over(["", "rtx=same, pf = off"]),
            "cmt,rtx=ssthresh,dac=off,half-floor=2,pf=on"
        );
    }

    #[test]
    fn what_is_given_as_it_is_by_default_outlasts_a_profile() {
        let (given, profile) = ("cmt, pf=on ,rtx=ssthresh", "pf=off,rtx=cwnd,half-floor=2");
        let shortest = parse_spec(given).expect("all are keys of cmt").shortest_over([profile]);
        let full = |spec: &str| parse_spec_with(spec, profile).expect(spec).to_string();
        assert_eq!(full(&shortest), full(given));
        assert_eq!(full(&shortest), "cmt,rtx=ssthresh,half-floor=2");
        assert_eq!(parse_spec("cmt").expect("cmt exists").shortest_over([profile]), "cmt");
        assert_eq!(parse_spec("cmt,dac=on").expect("a key of cmt").shortest_over([profile]), "cmt");
    }

    #[test]
    fn mistakes_get_one_line_that_helps() {
        let known: Vec<_> = presets().iter().map(|p| p.name).collect();
        let schemes = format!("choose from {}", known.join(", "));
        assert_eq!(error("cmtt"), format!("unknown scheme 'cmtt', did you mean cmt?; {schemes}"));
        assert_eq!(error("CMT"), format!("unknown scheme 'CMT', did you mean cmt?; {schemes}"));
        assert_eq!(error("tfrc"), format!("unknown scheme 'tfrc'; {schemes}"));
        for (part, role) in [("reno", "cc"), ("loss-order", "scheduler")] {
            let line = error(part);
            let (says, example) = line.split_once(": ").expect("an example");
            assert_eq!(
                says,
                format!("'{part}' is not a scheme but a part of one; give it as the value of the key {role}")
            );
            assert!(example.ends_with(&format!(",{role}={part}")), "{line}");
            parse_spec(example).expect("the example can be used");
        }
        let line = error("cmt-cl,cc=reno");
        assert!(line.starts_with("scheme cmt-cl has no key 'cc': its parts read each other"), "{line}");
        assert!(line.contains("cmt, lia, mptcp, ") && !line.contains("cmt-qa"), "{line}");
        assert_eq!(error(""), format!("unknown scheme ''; {schemes}"));
        let line = error("cmt,rxt=same");
        assert!(
            line.starts_with("scheme cmt has no key 'rxt', did you mean rtx?; its keys are scheduler, "),
            "{line}"
        );
        let values = "it can be cwnd, same, asap, ssthresh, lossrate, lowest-rtt, alternate, scheduler";
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
