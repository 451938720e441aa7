//! Schemes by name, those written in Python among them.

use super::Failure;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use strandcast::Schemes;
use strandcast_proto::policy::CongestionControl;
use strandcast_sim::simulation::{Catalog, SchemePlan};
use strandcast_sim::tcp::Config;

#[expect(dead_code, reason = "schemes in Python come next")]
/// All that the command knows, and policies by the names they were given.
pub(crate) struct Policies {
    /// What makes a policy, by the scheme's name.
    pub(crate) factories: BTreeMap<String, Py<PyAny>>,
    /// What went wrong in one.
    pub(crate) failure: Arc<Failure>,
}

impl Catalog for Policies {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, String> {
        Schemes.scheme(spec, defaults)
    }

    fn congestion(&self, spec: &str, config: &Config) -> Result<Box<dyn CongestionControl>, String> {
        Schemes.congestion(spec, config)
    }
}
