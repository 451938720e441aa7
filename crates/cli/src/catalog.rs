//! The schemes and windows that scenarios can name.

use std::sync::Arc;
use strandcast_proto::policy::CongestionControl;
use strandcast_schemes::{WindowSetup, congestion, parse_spec_with};
use strandcast_sim::simulation::{Catalog, SchemePlan};
use strandcast_sim::tcp::Config;

/// All that `strandcast schemes` lists.
#[derive(Clone, Copy, Debug)]
pub struct Schemes;

impl Catalog for Schemes {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, String> {
        let spec = Arc::new(parse_spec_with(spec, defaults).map_err(|error| error.to_string())?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_keep_their_words() {
        let error = Schemes.scheme("cmtt", "half-floor=2").err().expect("there is no such scheme");
        assert!(error.contains("did you mean cmt"), "{error}");
        let error = Schemes.scheme("cmt,rxt=same", "half-floor=2").err().expect("there is no such key");
        assert!(error.contains("did you mean rtx"), "{error}");
    }
}
