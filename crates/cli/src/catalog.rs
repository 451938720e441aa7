//! The schemes and windows that scenarios and `--scheme` can name.

use std::sync::Arc;

use strandcast_proto::catalog::Catalog;

use strandcast_lab::batch::RunHooks;

/// What a command line may give a scheme beside its spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// What links cost, and how much of them may be used.
    Tariffs,
    /// A place for the rates that it advises.
    Advice,
}

/// What schemes need to honour an extra.
pub trait Extras {
    /// Spec with which the scheme honours `extra`: `spec` itself, or `spec` and one more key. An unknown scheme's spec is
    /// returned unchanged.
    ///
    /// # Errors
    /// One line: why the scheme ignores the extra, and which scheme or key honours it.
    fn honouring(&self, spec: &str, _extra: Extra) -> Result<String, String> {
        Ok(spec.to_owned())
    }
}

/// Schemes, what they need for extras, and what they need around the runs that use them.
pub trait SchemeProvider: Catalog + Extras + RunHooks + Send + Sync {}

impl<T: Catalog + Extras + RunHooks + Send + Sync> SchemeProvider for T {}

/// The catalog of schemes for a whole command.
pub type SharedCatalog = Arc<dyn SchemeProvider>;

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
