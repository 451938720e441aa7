//! The catalog of all presets and windows.

use std::sync::Arc;

use strandcast_keys::catalog::{
    Catalog, CatalogError, DescribedKey, Description, Extra, FlowScheduler, SchemePlan, WindowSetup,
    is_python,
};
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig};

use crate::congestion::congestion;
use crate::connection::{scheduler, window_and_scheduler};
use crate::registry::presets;
use crate::scheme::Listed;
use crate::spec::{parse_spec, parse_spec_with};

/// Diagnostic for Python schemes without the Python package.
const NEEDS_PYTHON: &str =
    "schemes written in Python need the Python package: run `pip install .` in Strandcast's source";

/// All presets and windows by name.
#[derive(Clone, Copy, Debug)]
pub struct Presets;

impl Catalog for Presets {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError> {
        if is_python(spec) {
            return Err(CatalogError::new(NEEDS_PYTHON));
        }
        let spec = Arc::new(parse_spec_with(spec, defaults).map_err(CatalogError::new)?);
        let tuned = Arc::clone(&spec);
        Ok(SchemePlan {
            tune: Arc::new(move |config| tuned.tune(config)),
            build: Arc::new(move |seeds| spec.build(seeds)),
        })
    }

    fn names(&self) -> Vec<&'static str> {
        presets().iter().map(|preset| preset.name).collect()
    }

    fn describe(&self, spec: &str) -> Result<Description, CatalogError> {
        let spec = parse_spec(spec).map_err(CatalogError::new)?;
        let key = |key: &Listed| DescribedKey {
            name: key.name,
            default: key.default.clone(),
            values: key.values.describe(),
            summary: key.summary(),
        };
        Ok(Description {
            name: spec.to_string(),
            paper: spec.preset.paper,
            summary: spec.preset.summary,
            parts: spec.parts(),
            keys: spec.listed().iter().map(key).collect(),
        })
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

    fn honouring(&self, spec: &str, extra: Extra) -> Result<String, CatalogError> {
        let Ok(plan) = parse_spec(spec) else { return Ok(spec.to_owned()) };
        let name = plan.preset.name;
        let wrong = |line: String| Err(CatalogError::new(line));
        match extra {
            Extra::Tariffs if !plan.reads_tariffs() => {
                let others = presets().iter().filter(|p| parse_spec(p.name).is_ok_and(|s| s.reads_tariffs()));
                let others: Vec<&str> = others.map(|preset| preset.name).collect();
                wrong(format!("{name} ignores the costs of links: use --scheme {}", others.join(" or ")))
            }
            Extra::Advice => match plan.value("advice").as_deref() {
                Some("on") => Ok(spec.to_owned()),
                Some(_) if spec.contains("advice") => {
                    wrong(format!("{spec} switches the advice off: leave out advice=off"))
                }
                Some(_) => Ok(format!("{spec},advice=on")),
                None => wrong(format!("{name} has no advice for encoders: use --scheme strand")),
            },
            Extra::Tariffs => Ok(spec.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_kept() {
        let error =
            Presets.scheme("cmtt", "half-floor=2").err().expect("there is no such scheme").to_string();
        assert!(error.contains("did you mean cmt"), "{error}");
        let error =
            Presets.scheme("cmt,rxt=same", "half-floor=2").err().expect("there is no such key").to_string();
        assert!(error.contains("did you mean rtx"), "{error}");
    }

    #[test]
    fn schemes_in_python_need_the_package() {
        for spec in
            ["mine.py:Mine", "../a b/mine.py:Mine,base=cmt", "lab.policies:_Mine2 , base=cmt", "lab:M"]
        {
            let error = Presets.scheme(spec, "").err().expect("there is no Python here").to_string();
            assert!(error.contains("pip install .") && !error.contains('\n'), "{spec}: {error}");
        }
        for spec in ["mine.py", "mine.py:", ":Mine", "mine.py:2", "a b:Mine", "cmt,rtx=a.py:B", "udp://h.py"]
        {
            let error = Presets.scheme(spec, "").err().expect("there is no such scheme").to_string();
            assert!(!error.contains("Python"), "{spec}: {error}");
        }
    }
}
