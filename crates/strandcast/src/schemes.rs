//! The schemes of the command: all presets.

use strandcast_cli::{Extra, Extras, is_python};
use strandcast_lab::batch::RunHooks;
use strandcast_proto::catalog::{Catalog, CatalogError, FlowScheduler, SchemePlan, WindowSetup};
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig};
use strandcast_schemes::{Presets, parse_spec, presets};

/// Diagnostic for Python schemes without the Python package.
const NEEDS_PYTHON: &str =
    "schemes written in Python need the Python package: run `pip install .` in Strandcast's source";

/// The schemes that `strandcast schemes` lists.
#[derive(Clone, Copy, Debug)]
pub struct Schemes;

impl Catalog for Schemes {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError> {
        if is_python(spec) {
            return Err(CatalogError::new(NEEDS_PYTHON));
        }
        Presets.scheme(spec, defaults)
    }

    fn keys(&self, name: &str) -> Option<Vec<&'static str>> {
        Presets.keys(name)
    }

    fn primary_only(&self, spec: &str) -> bool {
        Presets.primary_only(spec)
    }

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        Presets.congestion(spec, setup)
    }

    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError> {
        Presets.scheduler(spec, own)
    }

    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        Presets.window_and_scheduler(spec)
    }
}

impl Extras for Schemes {
    fn honouring(&self, spec: &str, extra: Extra) -> Result<String, String> {
        let Ok(plan) = parse_spec(spec) else { return Ok(spec.to_owned()) };
        let name = plan.preset.name;
        match extra {
            Extra::Tariffs if !plan.reads_tariffs() => {
                let others = presets().iter().filter(|p| parse_spec(p.name).is_ok_and(|s| s.reads_tariffs()));
                let others: Vec<&str> = others.map(|preset| preset.name).collect();
                Err(format!("{name} does not look at what links cost: --scheme {}", others.join(" or ")))
            }
            Extra::Advice => match plan.value("advice").as_deref() {
                Some("on") => Ok(spec.to_owned()),
                Some(_) if spec.contains("advice") => {
                    Err(format!("{spec} switches it off: leave out advice=off"))
                }
                Some(_) => Ok(format!("{spec},advice=on")),
                None => Err(format!("{name} advises no encoder: --scheme strand")),
            },
            Extra::Tariffs => Ok(spec.to_owned()),
        }
    }
}

impl RunHooks for Schemes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_kept() {
        let error =
            Schemes.scheme("cmtt", "half-floor=2").err().expect("there is no such scheme").to_string();
        assert!(error.contains("did you mean cmt"), "{error}");
        let error =
            Schemes.scheme("cmt,rxt=same", "half-floor=2").err().expect("there is no such key").to_string();
        assert!(error.contains("did you mean rtx"), "{error}");
    }

    #[test]
    fn schemes_in_python_need_the_package() {
        for spec in
            ["mine.py:Mine", "../a b/mine.py:Mine,base=cmt", "lab.policies:_Mine2 , base=cmt", "lab:M"]
        {
            let error = Schemes.scheme(spec, "").err().expect("there is no Python here").to_string();
            assert!(error.contains("pip install .") && !error.contains('\n'), "{spec}: {error}");
        }
        for spec in ["mine.py", "mine.py:", ":Mine", "mine.py:2", "a b:Mine", "cmt,rtx=a.py:B", "udp://h.py"]
        {
            let error = Schemes.scheme(spec, "").err().expect("there is no such scheme").to_string();
            assert!(!error.contains("Python"), "{spec}: {error}");
        }
    }
}
