//! The schemes and windows that scenarios and `--scheme` can name.

use crate::batch::RunHooks;
use std::sync::Arc;
use strandcast_proto::catalog::{Catalog, CatalogError, SchemePlan, WindowSetup};
use strandcast_proto::policy::CongestionControl;
use strandcast_schemes::Presets;

/// Schemes, and what they need around the runs that use them.
pub trait SchemeProvider: Catalog + RunHooks + Send + Sync {}

impl<T: Catalog + RunHooks + Send + Sync> SchemeProvider for T {}

/// The catalog of schemes for a whole command.
pub type SharedCatalog = Arc<dyn SchemeProvider>;

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

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        Presets.congestion(spec, setup)
    }
}

impl RunHooks for Schemes {}

/// Whether a spec names a Python class: `FILE.py:CLASS` or `package.module:CLASS`, with or without parameters.
pub fn is_python(spec: &str) -> bool {
    let name = spec.split(',').next().unwrap_or(spec).trim();
    let is_word = |word: &str| {
        let starts = word.starts_with(|c: char| c == '_' || c.is_alphabetic());
        starts && word.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    let is_module = |place: &str| place.ends_with(".py") || place.split('.').all(is_word);
    name.rsplit_once(':').is_some_and(|(place, class)| is_word(class) && is_module(place))
}

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
