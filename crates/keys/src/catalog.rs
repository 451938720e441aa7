//! Schemes and windows by name. A program that can run any scheme receives a catalog, and depends on no scheme.

use std::fmt;
use std::sync::Arc;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig, Scheduler};

/// Catalog of schemes and windows by name, with hooks for runs that use them. `strandcast-schemes` implements this
/// trait for all presets. The Python package adds schemes written in Python.
pub trait Catalog: Send + Sync {
    /// Returns the scheme for `spec`. `defaults` are `key=value` pairs. The defaults apply to keys of the scheme that
    /// `spec` does not set.
    ///
    /// # Errors
    /// Returns the mistake in the spec.
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError>;

    /// Returns the scheme for `spec`, for an association whose paths have the names `paths`. Path n leaves by link n
    /// (`PathView::link`).
    ///
    /// # Errors
    /// The errors are those of [`scheme`](Self::scheme).
    fn scheme_over(&self, spec: &str, defaults: &str, paths: &[&str]) -> Result<SchemePlan, CatalogError> {
        let _ = paths;
        self.scheme(spec, defaults)
    }

    /// Returns the names of all presets, in display order.
    fn names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the description of the scheme for `spec`.
    ///
    /// # Errors
    /// Returns the mistake in the spec.
    fn describe(&self, spec: &str) -> Result<Description, CatalogError> {
        Err(CatalogError::new(format_args!("{spec} has no description")))
    }

    /// Returns whether the scheme for `spec` sends new data only on the primary path, as far as the catalog can decide.
    fn primary_only(&self, _spec: &str) -> bool {
        false
    }

    /// Returns the windows for `spec`, for a TCP sender.
    ///
    /// # Errors
    /// Returns the mistake in the spec.
    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError>;

    /// Returns the scheduler for `spec`, for a connection of several TCP subflows. `own` is the connection's remedy for
    /// data that block its receive window. The remedy applies unless the scheduler sets another remedy.
    ///
    /// # Errors
    /// Returns the mistake in the spec.
    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError>;

    /// Returns the spec of the windows for such a connection. If `spec` names a scheduler, also returns the scheduler's
    /// spec.
    ///
    /// # Errors
    /// Returns the mistake in the spec.
    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        Ok((spec.to_owned(), None))
    }

    /// Returns a spec with which the scheme uses `extra`: `spec` itself, or `spec` with one more key. The spec of an
    /// unknown scheme is returned unchanged.
    ///
    /// # Errors
    /// Returns one line as error: the reason why the scheme ignores the extra, and a scheme or key that uses it.
    fn honouring(&self, spec: &str, _extra: Extra) -> Result<String, CatalogError> {
        Ok(spec.to_owned())
    }

    /// Calls the function `work`, which is the whole work of a thread that makes simulated runs. Catalogs of schemes in
    /// another language can set up that language before the call, and clean up after it.
    fn around_thread(&self, work: Box<dyn FnOnce() + Send + '_>) {
        work();
    }

    /// Called when a simulated run with the seed `_seed` begins on this thread.
    fn before_run(&self, _seed: u64) {}

    /// Returns one line if something outside the runs failed and all further runs are pointless; otherwise `None`.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// A catalog that the whole program shares.
pub type SharedCatalog = Arc<dyn Catalog>;

/// Input that a program can give a scheme in addition to the spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Prices of links, and the volumes of data that may be used.
    Tariffs,
    /// A receiver of the rates that the scheme recommends.
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
    /// Spec of the scheme.
    pub name: String,
    /// Paper or standard that defines the scheme.
    pub paper: &'static str,
    /// Description of the scheme in one line.
    pub summary: &'static str,
    /// Roles in the scheme, and the parts that have these roles.
    pub parts: Vec<(&'static str, String)>,
    /// Keys that may follow the name in a spec.
    pub keys: Vec<DescribedKey>,
}

/// Description of a key of a scheme.
#[derive(Clone, Debug)]
pub struct DescribedKey {
    /// Name of the key.
    pub name: &'static str,
    /// Default value of the key.
    pub default: String,
    /// Possible values of the key.
    pub values: String,
    /// Meaning of the key in one line.
    pub summary: String,
}

/// The scheduler of a connection of several TCP subflows.
#[derive(Debug)]
pub struct FlowScheduler {
    /// Scheduler of the subflows.
    pub scheduler: Box<dyn Scheduler>,
    /// Remedy for data that block the receive window. `None` turns it off.
    pub head_of_line: Option<HeadOfLineConfig>,
}

/// Plan from which the schemes of associations are created.
#[derive(Clone)]
pub struct SchemePlan {
    /// Function that applies the scheme's requirements to the parameters of the transport.
    pub tune: Arc<dyn Fn(&mut TransportConfig) + Send + Sync>,
    /// Factory that creates a scheme.
    pub build: SchemeFactory,
}

/// Initial values of a flow's windows.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct WindowSetup {
    /// Initial window in bytes, at least one segment.
    pub initial_window_bytes: u64,
    /// Initial slow-start threshold in bytes; `None` if it is arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
}

/// Reason for which a catalog does not have a name, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(String);

impl CatalogError {
    /// Creates an error with this line.
    pub fn new(line: impl fmt::Display) -> Self {
        CatalogError(line.to_string())
    }
}
