//! Schemes by name, those written in Python among them.

use super::Failure;
use super::scheme::{Factory, PythonScheme};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use strandcast::Schemes;
use strandcast_proto::policy::CongestionControl;
use strandcast_sim::simulation::{Catalog, SchemePlan};
use strandcast_sim::tcp::Config;

/// All that the command knows, and policies by the names they were given.
pub(crate) struct Policies {
    factories: BTreeMap<String, Arc<Factory>>,
    failure: Arc<Failure>,
}

impl Policies {
    /// `policies` are by name: the scheme it is based on, and what makes its callbacks.
    pub(crate) fn new(policies: BTreeMap<String, (String, Py<PyAny>)>, failure: &Arc<Failure>) -> Self {
        let factory =
            |(name, (base, make)): (String, _)| (name.clone(), Arc::new(Factory { name, base, make }));
        Policies { factories: policies.into_iter().map(factory).collect(), failure: Arc::clone(failure) }
    }
}

impl Catalog for Policies {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, String> {
        match self.factories.get(spec) {
            Some(factory) => plan(factory, defaults, &self.failure),
            None => Schemes.scheme(spec, defaults),
        }
    }

    fn congestion(&self, spec: &str, config: &Config) -> Result<Box<dyn CongestionControl>, String> {
        if self.factories.contains_key(spec) {
            return Err(format!("{spec} is for flows over SCTP; for TCP there are windows only"));
        }
        Schemes.congestion(spec, config)
    }
}

/// How to make the schemes of a class.
pub(super) fn plan(
    factory: &Arc<Factory>,
    defaults: &str,
    failure: &Arc<Failure>,
) -> Result<SchemePlan, String> {
    let base =
        Schemes.scheme(&factory.base, defaults).map_err(|e| format!("base = {:?}: {e}", factory.base))?;
    let (factory, failure) = (Arc::clone(factory), Arc::clone(failure));
    let build = move |seeds: &_| -> Box<dyn strandcast_proto::policy::Scheme> {
        Box::new(PythonScheme::new(&factory, (base.build)(seeds), seeds, &failure))
    };
    Ok(SchemePlan { tune: base.tune, build: Arc::new(build) })
}
