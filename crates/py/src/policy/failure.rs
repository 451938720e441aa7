//! What goes wrong in a policy.

use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The seed of the run that this thread makes.
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Says which run this thread makes, so that a failure can tell.
pub(crate) fn running(seed: u64) {
    SEED.set(Some(seed));
}

/// The first exception of any policy of a run.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    failed: AtomicBool,
    first: Mutex<Option<PyErr>>,
}

impl Failure {
    /// Keeps an exception if it is the first, with a note that says where it was raised.
    pub(crate) fn set(&self, py: Python<'_>, error: PyErr, place: &str) {
        if self.failed.swap(true, Ordering::Relaxed) {
            return;
        }
        let run = SEED.get().map_or(String::new(), |seed| format!(", in the run with seed {seed}"));
        // An exception that takes no note is one all the same.
        let _ = error.value(py).call_method1("add_note", (format!("strandcast: {place}{run}"),));
        *self.first.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
    }

    /// Whether there is one.
    pub(crate) fn is_set(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Takes it out.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.first.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}
