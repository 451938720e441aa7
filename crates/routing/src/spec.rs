//! Routing spec, as users write it: `NAME[,key=value]...`.

use core::fmt;
use std::sync::Arc;

use strandcast_keys::{Key, Keyed, keys, nearest};
use strandcast_proto::seeds::Seeds;

use crate::address::Address;
use crate::aodv::{Aodv, AodvConfig};
use crate::aomdv::{Aomdv, AomdvConfig};
use crate::error::SpecError;
use crate::fixed::{Routes, Static};
use crate::node::{Body, Routing};
use crate::qaomdv::QaomdvConfig;

keys! {
    /// Configuration of static routes, which has no keys.
    pub struct StaticConfig {
    }
}

/// A routing protocol with the values of its keys.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// Fixed routes: the shortest paths by hops, computed once.
    Static(StaticConfig),
    /// AODV (RFC 3561).
    Aodv(AodvConfig),
    /// AOMDV (Marina and Das 2001).
    Aomdv(AomdvConfig),
    /// QAOMDV (Guo, Liu and Lian 2010).
    Qaomdv(QaomdvConfig),
}

/// A routing protocol, for help and documentation.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Name of the protocol in a spec.
    pub name: &'static str,
    /// Description of the protocol.
    pub summary: &'static str,
    default: fn() -> Spec,
}

const PROTOCOLS: [Protocol; 4] = [
    Protocol {
        name: "static",
        summary: "shortest paths by hops, computed once; no messages",
        default: || Spec::Static(StaticConfig::default()),
    },
    Protocol {
        name: "aodv",
        summary: "one route per destination, on demand (RFC 3561)",
        default: || Spec::Aodv(AodvConfig::default()),
    },
    Protocol {
        name: "aomdv",
        summary: "several disjoint paths per destination, on demand (Marina and Das 2001)",
        default: || Spec::Aomdv(AomdvConfig::default()),
    },
    Protocol {
        name: "qaomdv",
        summary: "AOMDV that estimates bandwidth and delay of its paths (Guo, Liu and Lian 2010)",
        default: || Spec::Qaomdv(QaomdvConfig::usual()),
    },
];

/// Returns all protocols.
pub fn protocols() -> &'static [Protocol] {
    &PROTOCOLS
}

impl Protocol {
    /// Returns the keys with their defaults, in the form of a spec.
    pub fn keys(&self) -> Vec<(Key, String)> {
        let spec = (self.default)();
        let keyed = spec.keyed();
        keyed.keys().into_iter().map(|key| (key, keyed.get(key.name).unwrap_or_default())).collect()
    }
}

/// Reads a spec `NAME[,key=value]...`. A profile is applied first, wherever it stands in the spec. The other keys of a
/// spec then change the profile's values.
///
/// # Errors
/// Returns a [`SpecError`], which lists the possible values in one line.
pub fn parse(text: &str) -> Result<Spec, SpecError> {
    let (name, rest) = text.split_once(',').unwrap_or((text, ""));
    let name = name.trim();
    let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == name).ok_or_else(|| {
        let names = PROTOCOLS.map(|protocol| protocol.name);
        SpecError::UnknownProtocol {
            name: name.into(),
            suggestion: nearest(name, names),
            known: names.join(", "),
        }
    })?;
    let mut spec = (protocol.default)();
    let pairs = pairs(rest, text)?;
    for (_, value) in pairs.iter().filter(|(key, _)| *key == "profile") {
        spec.take_profile(value)?;
    }
    for (key, value) in &pairs {
        if !spec.keyed_mut().set(key, value)? {
            return Err(spec.unknown(key));
        }
    }
    Ok(spec)
}

/// Returns the keys and values in `rest`.
fn pairs<'a>(rest: &'a str, spec: &str) -> Result<Vec<(&'a str, &'a str)>, SpecError> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for word in rest.split(',').filter(|_| !rest.trim().is_empty()) {
        let pair = word.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        let Some((key, value)) = pair.filter(|(key, value)| !key.is_empty() && !value.is_empty()) else {
            return Err(SpecError::NotAPair { word: word.trim().into(), spec: spec.into() });
        };
        if found.iter().any(|(set, _)| *set == key) {
            return Err(SpecError::Twice { key: key.into(), spec: spec.into() });
        }
        found.push((key, value));
    }
    Ok(found)
}

impl Spec {
    /// Returns the name of the protocol.
    pub fn name(&self) -> &'static str {
        match self {
            Spec::Static(_) => "static",
            Spec::Aodv(_) => "aodv",
            Spec::Aomdv(_) => "aomdv",
            Spec::Qaomdv(_) => "qaomdv",
        }
    }

    /// Returns whether routers of the protocol need [`Routes`].
    pub fn needs_routes(&self) -> bool {
        matches!(self, Spec::Static(_))
    }

    /// Returns the value of `key`; `None` if the protocol does not have this key.
    pub fn value(&self, key: &str) -> Option<String> {
        self.keyed().get(key)
    }

    /// Creates the router of the node `address`. Only the protocol `static` uses `routes`. `seeds` are the seeds of
    /// routing in this run. The seeds of routing are equal for all nodes.
    pub fn router<B: Body + 'static>(
        &self,
        address: Address,
        routes: &Arc<Routes>,
        seeds: &Seeds,
    ) -> Box<dyn Routing<B>> {
        let seeds = seeds.child(&format!("router {}", address.0));
        match self {
            Spec::Static(_) => Box::new(Static::new(address, Arc::clone(routes))),
            Spec::Aodv(config) => Box::new(Aodv::new(address, config.clone(), &seeds)),
            Spec::Aomdv(config) => Box::new(Aomdv::new(address, config, &seeds)),
            Spec::Qaomdv(config) => Box::new(Aomdv::qos(address, config, &seeds)),
        }
    }

    fn keyed(&self) -> &dyn Keyed {
        match self {
            Spec::Static(config) => config,
            Spec::Aodv(config) => config,
            Spec::Aomdv(config) => config,
            Spec::Qaomdv(config) => config,
        }
    }

    fn keyed_mut(&mut self) -> &mut dyn Keyed {
        match self {
            Spec::Static(config) => config,
            Spec::Aodv(config) => config,
            Spec::Aomdv(config) => config,
            Spec::Qaomdv(config) => config,
        }
    }

    /// Applies all values of the profile `word`.
    fn take_profile(&mut self, word: &str) -> Result<(), SpecError> {
        self.keyed_mut().set("profile", word)?;
        match self {
            Spec::Static(_) | Spec::Qaomdv(_) => {}
            Spec::Aodv(config) => *config = AodvConfig::of(config.profile),
            Spec::Aomdv(config) => *config = AomdvConfig::of(config.profile),
        }
        Ok(())
    }

    fn unknown(&self, key: &str) -> SpecError {
        let known: Vec<&'static str> = self.keyed().keys().iter().map(|key| key.name).collect();
        SpecError::UnknownKey {
            protocol: self.name(),
            key: key.into(),
            suggestion: nearest(key, known.iter().copied()),
            known: known.join(", "),
        }
    }
}

/// Writes a spec for this protocol and its keys. The written spec omits values that equal those of the profile or the
/// default.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        let mut usual = parse(self.name()).expect("it is the name of a protocol");
        if let Some(profile) = self.value("profile") {
            if usual.value("profile").as_ref() != Some(&profile) {
                write!(f, ",profile={profile}")?;
            }
            usual.take_profile(&profile).expect("it is a profile of this protocol");
        }
        for key in self.keyed().keys() {
            match self.value(key.name) {
                Some(value) if usual.value(key.name).as_ref() != Some(&value) => {
                    write!(f, ",{}={value}", key.name)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_name_alone_has_the_defaults() {
        assert_eq!(parse("aodv"), Ok(Spec::Aodv(AodvConfig::default())));
        assert_eq!(parse(" static ").unwrap().name(), "static");
    }

    #[test]
    fn keys_change_a_profile_wherever_it_stands() {
        for text in ["aodv,profile=rfc,search=network", "aodv,search=network,profile=rfc"] {
            let spec = parse(text).unwrap();
            assert_eq!(spec.value("repair").as_deref(), Some("rfc"), "{text}");
            assert_eq!(spec.to_string(), "aodv,profile=rfc,search=network");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for text in ["static", "aodv", "aodv,profile=rfc", "aodv,repair=off", "aodv,profile=rfc,repair=ns2"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn mistakes_say_what_is_possible() {
        assert_eq!(
            wrong("aodb"),
            "no routing protocol 'aodb', did you mean aodv?; choose from static, aodv, aomdv, qaomdv"
        );
        assert_eq!(
            wrong("aodv,repiar=off"),
            "aodv has no key 'repiar', did you mean repair?; it has profile, search, repair"
        );
        assert_eq!(wrong("aodv,repair=no"), "repair can't be 'no'; it can be ns2, rfc, off");
        assert_eq!(wrong("static,paths=2"), "static has no key 'paths'; it has none");
        assert_eq!(wrong("aodv,off"), "'off' in 'aodv,off' is not KEY=VALUE, as in aodv,repair=off");
        assert_eq!(
            wrong("aodv,repair=off,repair=off"),
            "repair is set twice in 'aodv,repair=off,repair=off'"
        );
        assert_eq!(wrong("static,profile=ns2"), "static has no key 'profile'; it has none");
    }
}
