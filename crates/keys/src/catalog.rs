//! Schemes and windows by name: programs that run any scheme are handed a catalog, and depend on none.

use std::fmt;
use std::sync::Arc;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig, Scheduler};

/// Schemes and windows by name, and the surroundings that runs with them need. `strandcast-schemes` implements it for all presets; the Python
/// package adds schemes written in Python.
pub trait Catalog: Send + Sync {
    /// The scheme that `spec` names. `defaults` are `key=value` pairs that it takes where it has such a key and `spec`
    /// does not set it.
    ///
    /// # Errors
    /// One line that names the mistake in the spec.
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError>;

    /// [`scheme`](Self::scheme) for an association whose paths have these names: path n leaves by link n (`PathView::link`).
    ///
    /// # Errors
    /// As [`scheme`](Self::scheme).
    fn scheme_over(&self, spec: &str, defaults: &str, paths: &[&str]) -> Result<SchemePlan, CatalogError> {
        let _ = paths;
        self.scheme(spec, defaults)
    }

    /// The names of all presets, in the order in which people are shown them.
    fn names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Description of the scheme that `spec` names.
    ///
    /// # Errors
    /// One line that names the mistake in the spec.
    fn describe(&self, spec: &str) -> Result<Description, CatalogError> {
        Err(CatalogError::new(format_args!("{spec} has no description")))
    }

    /// True if the scheme that `spec` names is known to send new data on the primary path alone.
    fn primary_only(&self, _spec: &str) -> bool {
        false
    }

    /// The windows that `spec` names, for a sender of TCP.
    ///
    /// # Errors
    /// One line that names the mistake in the spec.
    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError>;

    /// The scheduler that `spec` names, for a connection of several TCP subflows. `own` is the connection's treatment of data that
    /// hold up its receive window, unless the scheduler has another.
    ///
    /// # Errors
    /// One line that names the mistake in the spec.
    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError>;

    /// The parts that `spec` names for such a connection: the windows and, if it names one, the scheduler, each as a spec of
    /// its own.
    ///
    /// # Errors
    /// One line that names the mistake in the spec.
    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        Ok((spec.to_owned(), None))
    }

    /// Spec with which the scheme honours `extra`: `spec` itself, or `spec` and one more key. An unknown scheme's spec is
    /// returned unchanged.
    ///
    /// # Errors
    /// One line: why the scheme ignores the extra, and which scheme or key honours it.
    fn honouring(&self, spec: &str, _extra: Extra) -> Result<String, CatalogError> {
        Ok(spec.to_owned())
    }

    /// Does all the work of a thread that makes simulated runs. Schemes in another language surround it with what that
    /// language needs.
    fn around_thread(&self, work: Box<dyn FnOnce() + Send + '_>) {
        work();
    }

    /// A simulated run with this seed begins on this thread.
    fn before_run(&self, _seed: u64) {}

    /// One line that makes all further runs pointless: something outside the runs failed. `None`: nothing did.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// A catalog for a whole program.
pub type SharedCatalog = Arc<dyn Catalog>;

/// Input that a program may give a scheme in addition to its spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Prices of links, and how much of them may be used.
    Tariffs,
    /// A receiver of the rates that the scheme advises.
    Advice,
}

/// True if a spec names a Python class: `FILE.py:CLASS` or `package.module:CLASS`, with or without parameters.
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
    /// Purpose of the scheme, in a line.
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
    /// Value unless the spec sets another.
    pub default: String,
    /// Possible values.
    pub values: String,
    /// Meaning, in a line.
    pub summary: String,
}

/// The scheduler of a connection of several TCP subflows.
#[derive(Debug)]
pub struct FlowScheduler {
    /// Chooses the subflow that sends.
    pub scheduler: Box<dyn Scheduler>,
    /// Treatment of data that hold up the receive window; `None`: none.
    pub head_of_line: Option<HeadOfLineConfig>,
}

/// Makes the schemes of an association.
#[derive(Clone)]
pub struct SchemePlan {
    /// Sets the transport's configuration as the scheme needs it.
    pub tune: Arc<dyn Fn(&mut TransportConfig) + Send + Sync>,
    /// Makes one.
    pub build: SchemeFactory,
}

/// Initial windows of a flow.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct WindowSetup {
    /// Initial window, at least one segment.
    pub initial_window_bytes: u64,
    /// Initial slow-start threshold; `None`: arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
}

/// Error of a lookup: one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(String);

impl CatalogError {
    /// With this line.
    pub fn new(line: impl fmt::Display) -> Self {
        CatalogError(line.to_string())
    }
}
