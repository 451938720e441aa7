//! Schemes as a catalog, from which simulations take their schemes.

use std::sync::Arc;

use strandcast_keys::catalog::{Catalog, CatalogError, Extra, FlowScheduler, SchemePlan, WindowSetup};
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig};

use crate::scheme::Scheme;

/// Catalog with a single scheme under its name. With the feature `schemes`, the catalog also has all presets.
impl Catalog for Scheme {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError> {
        if spec == self.name() {
            return Ok(SchemePlan { tune: Arc::clone(&self.tune), build: Arc::clone(&self.build) });
        }
        presets(spec)?.scheme(spec, defaults)
    }

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        presets(spec)?.congestion(spec, setup)
    }

    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError> {
        presets(spec)?.scheduler(spec, own)
    }

    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        presets(spec)?.window_and_scheduler(spec)
    }

    fn honouring(&self, spec: &str, extra: Extra) -> Result<String, CatalogError> {
        // A custom scheme may use any input.
        if spec == self.name() { Ok(spec.to_owned()) } else { presets(spec)?.honouring(spec, extra) }
    }
}

#[cfg(feature = "schemes")]
fn presets(_: &str) -> Result<&'static dyn Catalog, CatalogError> {
    Ok(&strandcast_schemes::Presets)
}

#[cfg(not(feature = "schemes"))]
fn presets(spec: &str) -> Result<&'static dyn Catalog, CatalogError> {
    Err(CatalogError::new(format_args!("{spec} is not this scheme, and the feature schemes is off")))
}
