//! Schemes and windows by name: programs that run any scheme are handed a catalog, and depend on none.

use core::fmt;
use std::sync::Arc;

use crate::config::TransportConfig;
use crate::endpoint::SchemeFactory;
use crate::policy::{CongestionControl, HeadOfLineConfig, Scheduler};

/// Schemes and windows by name.
pub trait Catalog: Sync {
    /// The scheme that `spec` names. `defaults` are `key=value` pairs that it takes where it has such a key and `spec`
    /// does not set it.
    ///
    /// # Errors
    /// What is wrong with the spec.
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError>;

    /// The same for an association whose paths have these names: path n leaves by link n (`PathView::link`).
    ///
    /// # Errors
    /// As [`scheme`](Self::scheme).
    fn scheme_over(&self, spec: &str, defaults: &str, paths: &[&str]) -> Result<SchemePlan, CatalogError> {
        let _ = paths;
        self.scheme(spec, defaults)
    }

    /// The keys of the preset called `name`; `None`: no preset has that name.
    fn keys(&self, _name: &str) -> Option<Vec<&'static str>> {
        None
    }

    /// Whether the scheme that `spec` names is known to send new data on the primary path alone.
    fn primary_only(&self, _spec: &str) -> bool {
        false
    }

    /// The windows that `spec` names, for a sender of TCP.
    ///
    /// # Errors
    /// What is wrong with the spec.
    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError>;

    /// The scheduler that `spec` names, for a connection of several TCP subflows. `own` is what the connection does about
    /// data that hold up its receive window, unless the scheduler says otherwise.
    ///
    /// # Errors
    /// What is wrong with the spec.
    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError>;

    /// What `spec` names for such a connection: the windows, and the scheduler if it names one, too, each as a spec of its
    /// own.
    ///
    /// # Errors
    /// What is wrong with the spec.
    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        Ok((spec.to_owned(), None))
    }
}

/// The scheduler of a connection of several TCP subflows.
#[derive(Debug)]
pub struct FlowScheduler {
    /// Which subflow sends.
    pub scheduler: Box<dyn Scheduler>,
    /// What is done about data that hold up the receive window; `None`: nothing.
    pub head_of_line: Option<HeadOfLineConfig>,
}

/// How to make the schemes of an association.
#[derive(Clone)]
pub struct SchemePlan {
    /// Sets what the scheme needs of the transport.
    pub tune: Arc<dyn Fn(&mut TransportConfig) + Send + Sync>,
    /// Makes one.
    pub build: SchemeFactory,
}

/// How the windows of a flow begin.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct WindowSetup {
    /// Initial window, at least one segment.
    pub initial_window_bytes: u64,
    /// Initial slow-start threshold; `None`: arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
}

/// Why a catalog has nothing by that name, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(String);

impl CatalogError {
    /// With this line.
    pub fn new(line: impl fmt::Display) -> Self {
        CatalogError(line.to_string())
    }
}
