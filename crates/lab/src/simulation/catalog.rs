//! Schemes and windows by name: handed in, since the simulator knows none.

use std::sync::Arc;

use strandcast_proto::config::TransportConfig;
use strandcast_proto::endpoint::SchemeFactory;
use strandcast_proto::policy::CongestionControl;
use strandcast_sim::tcp::Config;

/// Whoever knows schemes by name.
pub trait Catalog: Sync {
    /// The scheme that `spec` names. `defaults` are `key=value` pairs that it takes where it has such a key and `spec`
    /// does not set it.
    ///
    /// # Errors
    /// What is wrong with the spec, in one line.
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, String>;

    /// The same for an association whose paths have these names: path n leaves by link n (`PathView::link`).
    ///
    /// # Errors
    /// As [`scheme`](Self::scheme).
    fn scheme_over(&self, spec: &str, defaults: &str, paths: &[&str]) -> Result<SchemePlan, String> {
        let _ = paths;
        self.scheme(spec, defaults)
    }

    /// The windows that `spec` names, for a TCP sender with these constants.
    ///
    /// # Errors
    /// What is wrong with the spec, in one line.
    fn congestion(&self, spec: &str, config: &Config) -> Result<Box<dyn CongestionControl>, String>;

    /// Why no run with its schemes is worth anything any more, in one line: one of them failed.
    fn failure(&self) -> Option<String> {
        None
    }

    /// A run with this seed begins on this thread.
    fn begins(&self, _seed: u64) {}

    /// Does all the work of a thread that makes runs, inside of whatever its schemes need there.
    fn enter(&self, work: Box<dyn FnOnce() + Send + '_>) {
        work();
    }
}

/// How to make the schemes of an association.
#[derive(Clone)]
pub struct SchemePlan {
    /// Sets what the scheme needs of the transport.
    pub tune: Arc<dyn Fn(&mut TransportConfig) + Send + Sync>,
    /// Makes one.
    pub build: SchemeFactory,
}
