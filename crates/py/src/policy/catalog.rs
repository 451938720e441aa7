//! Schemes by name, including schemes that are written in Python.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_long, c_ulong};
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::PyType;
use strandcast_keys::catalog::{
    Catalog, CatalogError, Extra, FlowScheduler, SchemePlan, WindowSetup, is_python,
};
use strandcast_proto::policy::{CongestionControl, HeadOfLineConfig};
use strandcast_schemes::Presets;

use super::failure::{Failure, running};
use super::scheme::{Factory, PythonScheme};

/// Base of a policy, and the function that makes its callbacks.
pub(crate) type Plan = (String, Py<PyAny>);

/// Catalog of three kinds of schemes: the command's schemes, policies under their given names, and
/// policies from a file or module.
pub(crate) struct Policies {
    known: Mutex<BTreeMap<String, Arc<Factory>>>,
    failure: Arc<Failure>,
    /// Threads that make runs, by the numbers that the interpreter uses.
    threads: Mutex<BTreeSet<c_long>>,
}

impl Policies {
    pub(crate) fn new(policies: BTreeMap<String, Plan>, failure: &Arc<Failure>) -> Self {
        let factory =
            |(name, (base, make)): (String, _)| (name.clone(), Arc::new(Factory { name, base, make }));
        let known = policies.into_iter().map(factory).collect();
        Policies { known: Mutex::new(known), failure: Arc::clone(failure), threads: Mutex::default() }
    }

    /// Raises an exception of this class in every thread that makes runs. The exception appears in the
    /// policy that is running at this time, or in the next one.
    pub(crate) fn interrupt(&self, class: &Bound<'_, PyType>) {
        for thread in &*self.threads() {
            raise_in(*thread, class);
        }
    }

    fn threads(&self) -> MutexGuard<'_, BTreeSet<c_long>> {
        self.threads.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Returns the policy that a spec names, if any.
    fn find(&self, spec: &str) -> Result<Option<Arc<Factory>>, CatalogError> {
        let known = || self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(factory) = known().get(spec) {
            return Ok(Some(Arc::clone(factory)));
        }
        if !is_python(spec) {
            return Ok(None);
        }
        // The map must not be locked here, because the thread that holds the interpreter may be waiting
        // for the map.
        let (base, make) = Python::attach(|py| import(py, spec).map_err(|e| CatalogError::new(e.value(py))))?;
        let factory = Arc::new(Factory { name: spec.to_owned(), base, make });
        known().insert(spec.to_owned(), Arc::clone(&factory));
        Ok(Some(factory))
    }
}

/// Imports the class that a spec names.
fn import(py: Python<'_>, spec: &str) -> PyResult<Plan> {
    let policies = py.import("strandcast.policies")?;
    let class = policies.call_method1("load", (spec,))?;
    let (_, plan): (String, Plan) = policies.call_method1("plan", (class,))?.extract()?;
    Ok(plan)
}

impl Catalog for Policies {
    fn scheme(&self, spec: &str, defaults: &str) -> Result<SchemePlan, CatalogError> {
        self.scheme_over(spec, defaults, &[])
    }

    fn scheme_over(&self, spec: &str, defaults: &str, paths: &[&str]) -> Result<SchemePlan, CatalogError> {
        match self.find(spec)? {
            Some(factory) => plan(&factory, defaults, paths, &self.failure),
            None => Presets.scheme_over(spec, defaults, paths),
        }
    }

    fn congestion(&self, spec: &str, setup: WindowSetup) -> Result<Box<dyn CongestionControl>, CatalogError> {
        match self.find(spec)? {
            Some(_) => Err(CatalogError::new(format!(
                "{spec} is for flows over SCTP; for TCP there are windows only"
            ))),
            None => Presets.congestion(spec, setup),
        }
    }

    fn scheduler(&self, spec: &str, own: Option<HeadOfLineConfig>) -> Result<FlowScheduler, CatalogError> {
        match self.find(spec)? {
            Some(_) => Err(CatalogError::new(format!(
                "{spec} is for flows over SCTP; for MPTCP there are schedulers in Rust only"
            ))),
            None => Presets.scheduler(spec, own),
        }
    }

    fn window_and_scheduler(&self, spec: &str) -> Result<(String, Option<String>), CatalogError> {
        match self.find(spec)? {
            // If the congestion control of this policy cannot be chosen, `congestion` returns the
            // reason.
            Some(_) => Ok((spec.to_owned(), None)),
            None => Presets.window_and_scheduler(spec),
        }
    }

    fn honouring(&self, spec: &str, extra: Extra) -> Result<String, CatalogError> {
        // It is not known which properties of paths a Python class uses.
        Presets.honouring(spec, extra)
    }

    /// Calls are much faster on threads that are registered with the interpreter.
    fn around_thread(&self, work: Box<dyn FnOnce() + Send + '_>) {
        Python::attach(|py| {
            let thread = this_thread(py).ok();
            self.threads().extend(thread);
            py.detach(work);
            if let Some(thread) = thread {
                self.threads().remove(&thread);
            }
        });
    }

    fn before_run(&self, seed: u64) {
        running(seed);
    }

    fn failure(&self) -> Option<String> {
        self.failure.line()
    }
}

/// Returns the interpreter's number of this thread.
fn this_thread(py: Python<'_>) -> PyResult<c_long> {
    let known: c_ulong = py.import("threading")?.call_method0("get_ident")?.extract()?;
    Ok(known as c_long)
}

/// Requests that the interpreter raise an exception of this class in a thread, as soon as the thread
/// runs Python code. Nothing else can end a function that does not return. It is not an error if the
/// thread has already ended.
fn raise_in(thread: c_long, class: &Bound<'_, PyType>) {
    // SAFETY: `class` proves that this thread holds the interpreter, and that the class is alive. The
    // interpreter takes its own reference to the class. The interpreter finds the thread by its number,
    // and follows no pointer.
    #[expect(unsafe_code, reason = "Python has this in its C interface only")]
    unsafe {
        pyo3::ffi::PyThreadState_SetAsyncExc(thread, class.as_ptr())
    };
}

/// Returns the factory for schemes of a class.
pub(super) fn plan(
    factory: &Arc<Factory>,
    defaults: &str,
    paths: &[&str],
    failure: &Arc<Failure>,
) -> Result<SchemePlan, CatalogError> {
    let base = Presets
        .scheme(&factory.base, defaults)
        .map_err(|e| CatalogError::new(format!("base = {:?}: {e}", factory.base)))?;
    let (factory, failure) = (Arc::clone(factory), Arc::clone(failure));
    let names: Arc<[String]> = paths.iter().map(|&name| name.to_owned()).collect();
    let build = move |seeds: &_| -> Box<dyn strandcast_proto::policy::Scheme> {
        Box::new(PythonScheme::new(&factory, &names, (base.build)(seeds), seeds, &failure))
    };
    Ok(SchemePlan { tune: base.tune, build: Arc::new(build) })
}
