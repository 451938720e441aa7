//! Outputs that are Python objects. A Python thread takes the media that are due and writes them.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use strandcast::live::output::{Batch, Output};
use tokio::sync::{mpsc, oneshot};

use crate::error;

/// Sends the outcome of writing.
type Written = oneshot::Sender<Result<(), String>>;

/// Media that a Python thread takes and writes.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct Drain {
    from: Mutex<mpsc::Receiver<(Vec<u8>, Written)>>,
    writing: Mutex<Option<Written>>,
    output: Mutex<Option<DrainedOutput>>,
}

#[pymethods]
impl Drain {
    #[new]
    fn new(name: String) -> Drain {
        let (to, from) = mpsc::channel(1);
        let output = DrainedOutput { name, to };
        Drain { from: Mutex::new(from), writing: Mutex::default(), output: Mutex::new(Some(output)) }
    }

    /// Returns the next media when they are due. A call also reports that the previous media were
    /// written. Returns None once the stream has ended.
    fn take<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.written(Ok(()));
        let (bytes, written) = py.detach(|| lock(&self.from).blocking_recv())?;
        *lock(&self.writing) = Some(written);
        Some(PyBytes::new(py, &bytes))
    }

    /// Reports that the previous media could not be written.
    fn fail(&self, why: String) {
        self.written(Err(why));
    }
}

impl Drain {
    fn written(&self, outcome: Result<(), String>) {
        if let Some(written) = lock(&self.writing).take() {
            // If the stream was closed in the meantime, nothing waits for this outcome.
            let _ = written.send(outcome);
        }
    }

    /// Returns the output that the stream uses.
    ///
    /// # Errors
    /// Raises `ValueError` if another stream uses this output.
    pub(super) fn output(&self) -> PyResult<DrainedOutput> {
        lock(&self.output).take().ok_or_else(|| error::value("this output is another stream's"))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An output that a Python thread writes.
#[derive(Debug)]
pub(super) struct DrainedOutput {
    name: String,
    to: mpsc::Sender<(Vec<u8>, Written)>,
}

impl Output for DrainedOutput {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn takes_slate(&self) -> bool {
        true
    }

    async fn write(&mut self, batch: &Batch) -> io::Result<()> {
        let over = || io::Error::other("the thread that writes has ended");
        let (told, written) = oneshot::channel();
        self.to.send((batch.bytes().to_vec(), told)).await.map_err(|_| over())?;
        written.await.map_err(|_| over())?.map_err(io::Error::other)
    }
}
