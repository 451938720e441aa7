//! Failures of a policy.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;

thread_local! {
    /// Seed of the run that this thread is making.
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Sets the run that this thread is making, so that a failure can name it.
pub(crate) fn running(seed: u64) {
    SEED.set(Some(seed));
}

/// The first exception of any policy, and the way in which it is reported.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    failed: AtomicBool,
    first: Mutex<Option<(PyErr, String)>>,
    /// True if the exception is printed at once, because no caller raises it.
    prints: bool,
    /// Failure record of the whole process, if this record belongs to one association.
    whole: Option<Arc<Failure>>,
}

impl Failure {
    /// Returns a failure that is printed when it happens.
    #[cfg(feature = "command")]
    pub(crate) fn printed() -> Self {
        Failure { prints: true, ..Failure::default() }
    }

    /// Returns the failure of a new association. On real links each association has a separate record.
    /// In simulations all associations share one record, as they do if the first exception is raised to
    /// the caller.
    pub(crate) fn of_association(self: &Arc<Self>) -> Arc<Failure> {
        if !self.prints || SEED.get().is_some() {
            return Arc::clone(self);
        }
        Arc::new(Failure { prints: true, whole: Some(Arc::clone(self)), ..Failure::default() })
    }

    /// Keeps an exception if it is the first. Adds a note with the place at which it was raised.
    pub(crate) fn set(&self, py: Python<'_>, error: PyErr, place: &str) {
        if self.failed.swap(true, Ordering::Relaxed) {
            return;
        }
        let run = SEED.get().map_or(String::new(), |seed| format!(", in the run with seed {seed}"));
        let place = format!("{place}{run}");
        // If a note cannot be added, the exception is kept without a note.
        let _ = error.value(py).call_method1("add_note", (format!("strandcast: {place}"),));
        if self.prints {
            error.display(py);
        }
        let what = error.to_string();
        let line = format!("{place}: {}", what.lines().next().unwrap_or(&what));
        if let Some(whole) = self.whole.as_deref().filter(|whole| !whole.failed.swap(true, Ordering::Relaxed))
        {
            *whole.lock() = Some((error.clone_ref(py), line.clone()));
        }
        *self.lock() = Some((error, line));
    }

    /// Returns whether there is an exception.
    pub(crate) fn is_set(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Returns the exception in one line.
    pub(crate) fn line(&self) -> Option<String> {
        if self.is_set() { self.lock().as_ref().map(|(_, line)| line.clone()) } else { None }
    }

    /// Takes the exception.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.lock().take().map(|(error, _)| error)
    }

    fn lock(&self) -> MutexGuard<'_, Option<(PyErr, String)>> {
        self.first.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
