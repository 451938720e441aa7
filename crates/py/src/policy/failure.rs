//! What goes wrong in a policy.

use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first exception of any policy of a run.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    failed: AtomicBool,
    first: Mutex<Option<PyErr>>,
}

impl Failure {
    #[expect(dead_code, reason = "schemes in Python come next")]
    /// Keeps an exception if it is the first.
    pub(crate) fn set(&self, error: PyErr) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            *self.first.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
        }
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
