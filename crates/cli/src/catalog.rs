//! The schemes and windows that scenarios can name.

use std::sync::Arc;
use strandcast_proto::policy::CongestionControl;
use strandcast_schemes::{SpecError, WindowSetup, congestion, lookup, parse_spec};
use strandcast_sim::simulation::{Catalog, SchemePlan};
use strandcast_sim::tcp::Config;

/// All that `strandcast schemes` lists.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schemes;

impl Catalog for Schemes {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, String> {
        let full = with_defaults(spec, defaults).map_err(|error| error.to_string())?;
        let spec = Arc::new(parse_spec(&full).map_err(|error| error.to_string())?);
        let tuned = Arc::clone(&spec);
        Ok(SchemePlan {
            tune: Arc::new(move |config| tuned.tune(config)),
            build: Arc::new(move |seeds| spec.build(seeds)),
        })
    }

    fn congestion(&self, spec: &str, config: &Config) -> Result<Box<dyn CongestionControl>, String> {
        let setup = WindowSetup {
            initial_window_bytes: config.initial_window_bytes(),
            initial_ssthresh_bytes: config.initial_ssthresh_bytes(),
        };
        congestion(spec, setup).map_err(|error| error.to_string())
    }
}

/// `spec` with those of `defaults` that its preset knows and it does not set itself.
fn with_defaults(spec: &str, defaults: &str) -> Result<String, SpecError> {
    let (name, own) = spec.split_once(',').map_or((spec, None), |(name, own)| (name, Some(own)));
    let preset = lookup(name.trim())?;
    let key = |word: &str| word.split_once('=').map_or(word, |(key, _)| key).trim().to_owned();
    let set: Vec<String> = own.into_iter().flat_map(|own| own.split(',')).map(key).collect();
    let applies = |word: &&str| {
        let key = key(word);
        preset.keys.iter().any(|k| k.name == key) && !set.contains(&key)
    };
    let defaults = defaults.split(',').filter(applies);
    let words: Vec<&str> = std::iter::once(name).chain(defaults).chain(own).collect();
    Ok(words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(spec: &str, defaults: &str) -> String {
        with_defaults(spec, defaults).expect(spec)
    }

    #[test]
    fn defaults_are_for_keys_that_are_there_and_free() {
        assert_eq!(full("cmt", ""), "cmt");
        assert_eq!(full("cmt", "half-floor=2,initial-cwnd=2"), "cmt,half-floor=2,initial-cwnd=2");
        assert_eq!(
            full("cmt,half-floor=3", "half-floor=2,initial-cwnd=2"),
            "cmt,initial-cwnd=2,half-floor=3"
        );
        assert_eq!(full("cmt,rtx=same", "nonsense=1,pf=off"), "cmt,pf=off,rtx=same");
    }

    #[test]
    fn mistakes_keep_their_words() {
        let error = Schemes.scheme("cmtt", "half-floor=2").err().expect("there is no such scheme");
        assert!(error.contains("did you mean cmt"), "{error}");
        let error = Schemes.scheme("cmt,rxt=same", "half-floor=2").err().expect("there is no such key");
        assert!(error.contains("did you mean rtx"), "{error}");
    }
}
