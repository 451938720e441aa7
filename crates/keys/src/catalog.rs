//! Schemes and windows by name: a program that runs any scheme receives a catalog, and depends on none of
//! them.

use std::fmt;
use std::sync::Arc;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig, Scheduler};

/// Schemes and windows by name, and hooks for runs with them. `strandcast-schemes` implements the trait for
/// all presets; the Python package adds schemes written in Python.
pub trait Catalog: Send + Sync {
    /// Returns the scheme of `spec`. `defaults` are `key=value` pairs that apply to keys of the scheme that
    /// `spec` does not set.
    ///
    /// # Errors
    /// The mistake in the spec.
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError>;

    /// Returns the scheme of `spec` for an association whose paths have these names: path n leaves by link n
    /// (`PathView::link`).
    ///
    /// # Errors
    /// As [`scheme`](Self::scheme).
    fn scheme_over(&self, spec: &str, defaults: &str, paths: &[&str]) -> Result<SchemePlan, CatalogError> {
        let _ = paths;
        self.scheme(spec, defaults)
    }

    /// The names of all presets, in display order.
    fn names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Description of the scheme of `spec`.
    ///
    /// # Errors
    /// The mistake in the spec.
    fn describe(&self, spec: &str) -> Result<Description, CatalogError> {
        Err(CatalogError::new(format_args!("{spec} has no description")))
    }

    /// Returns whether the scheme of `spec` sends new data on the primary path alone, as far as the catalog
    /// can decide.
    fn primary_only(&self, _spec: &str) -> bool {
        false
    }

    /// Returns the windows of `spec`, for a sender of TCP.
    ///
    /// # Errors
    /// The mistake in the spec.
    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError>;

    /// Returns the scheduler of `spec`, for a connection of several TCP subflows. `own` is the connection's
    /// remedy for data that block its receive window, unless the scheduler sets another.
    ///
    /// # Errors
    /// The mistake in the spec.
    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError>;

    /// Returns the specs of the windows and, if `spec` names one, of the scheduler for such a connection.
    ///
    /// # Errors
    /// The mistake in the spec.
    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        Ok((spec.to_owned(), None))
    }

    /// Spec with which the scheme honours `extra`: `spec` itself, or `spec` and one more key. An unknown scheme's spec is
    /// returned unchanged.
    ///
    /// # Errors
    /// One line: the reason why the scheme ignores the extra, and a scheme or key that honours it.
    fn honouring(&self, spec: &str, _extra: Extra) -> Result<String, CatalogError> {
        Ok(spec.to_owned())
    }

    /// Runs `work`, the whole work of a thread that makes simulated runs. Schemes in another language
    /// surround it with the set-up of that language.
    fn around_thread(&self, work: Box<dyn FnOnce() + Send + '_>) {
        work();
    }

    /// Called when a simulated run with this seed begins on this thread.
    fn before_run(&self, _seed: u64) {}

    /// One line that makes all further runs pointless, because something outside the runs failed; otherwise
    /// `None`.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// A catalog for a whole program.
pub type SharedCatalog = Arc<dyn Catalog>;

/// Input that a program may give a scheme in addition to its spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Prices of links, and the volumes that may be used.
    Tariffs,
    /// A receiver of the rates that the scheme advises.
    Advice,
}

/// Returns whether a spec names a Python class: `FILE.py:CLASS` or `package.module:CLASS`, with or without
/// parameters.
pub fn is_python(spec: &str) -> bool {
    let name = spec.split(',').next().unwrap_or(spec).trim();
    let is_word = |word: &str| {
        let starts = word.starts_with(|c: char| c == '_' || c.is_alphabetic());
        starts && word.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    let is_module = |place: &str| place.ends_with(".py") || place.split('.').all(is_word);
    name.rsplit_once(':').is_some_and(|(place, class)| is_word(class) && is_module(place))
}

/// Description of a scheme.
#[derive(Clone, Debug)]
pub struct Description {
    /// Spec.
    pub name: String,
    /// Paper or standard.
    pub paper: &'static str,
    /// Description of the scheme in one line.
    pub summary: &'static str,
    /// Roles, and the parts that play them.
    pub parts: Vec<(&'static str, String)>,
    /// Keys that may follow the name.
    pub keys: Vec<DescribedKey>,
}

/// Description of a key of a scheme.
#[derive(Clone, Debug)]
pub struct DescribedKey {
    /// Name.
    pub name: &'static str,
    /// Default value.
    pub default: String,
    /// Possible values.
    pub values: String,
    /// Meaning, in a line.
    pub summary: String,
}

/// The scheduler of a connection of several TCP subflows.
#[derive(Debug)]
pub struct FlowScheduler {
    /// Scheduler of the subflows.
    pub scheduler: Box<dyn Scheduler>,
    /// Remedy for data that block the receive window; `None` disables it.
    pub head_of_line: Option<HeadOfLineConfig>,
}

/// Constructor of an association's schemes.
#[derive(Clone)]
pub struct SchemePlan {
    /// Applies the scheme's requirements to the transport.
    pub tune: Arc<dyn Fn(&mut TransportConfig) + Send + Sync>,
    /// Makes a scheme.
    pub build: SchemeFactory,
}

/// Initial values of a flow's windows.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct WindowSetup {
    /// Initial window, at least one segment.
    pub initial_window_bytes: u64,
    /// Initial slow-start threshold; `None` if it is arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
}

/// Reason why a catalog does not have a name, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(String);

impl CatalogError {
    /// An error with this line.
    pub fn new(line: impl fmt::Display) -> Self {
        CatalogError(line.to_string())
    }
}
