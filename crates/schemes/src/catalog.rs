//! The catalog of all presets and windows.

use std::sync::Arc;

use strandcast_proto::catalog::{Catalog, CatalogError, FlowScheduler, SchemePlan, WindowSetup};
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig};

use crate::congestion::congestion;
use crate::connection::{scheduler, window_and_scheduler};
use crate::registry::lookup;
use crate::spec::{parse_spec, parse_spec_with};

/// All presets and windows by name.
#[derive(Clone, Copy, Debug)]
pub struct Presets;

impl Catalog for Presets {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError> {
        let spec = Arc::new(parse_spec_with(spec, defaults).map_err(CatalogError::new)?);
        let tuned = Arc::clone(&spec);
        Ok(SchemePlan {
            tune: Arc::new(move |config| tuned.tune(config)),
            build: Arc::new(move |seeds| spec.build(seeds)),
        })
    }

    fn keys(&self, name: &str) -> Option<Vec<&'static str>> {
        lookup(name).ok().map(|preset| preset.keys().iter().map(|key| key.name).collect())
    }

    fn primary_only(&self, spec: &str) -> bool {
        parse_spec(spec).is_ok_and(|spec| spec.value("scheduler").as_deref() == Some("primary"))
    }

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        congestion(spec, setup).map_err(CatalogError::new)
    }

    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError> {
        scheduler(spec, own).map_err(CatalogError::new)
    }

    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        window_and_scheduler(spec).map_err(CatalogError::new)
    }
}
