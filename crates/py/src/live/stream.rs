//! A stream that is sent or received, in the form that Python uses.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use strandcast::Error;
use strandcast::live::{Event, Receiver, Sender, Stats};
use tokio::task::JoinHandle;

use super::runtime::{runtime, wait};
use crate::error;
use crate::policy::Failure;

/// When a stream is closed, maximum time in seconds to wait for its task. ASSUMED.
const CLOSING: f64 = 1.0;

/// The sender or the receiver of a stream.
pub(super) enum Handle {
    Sender(Sender),
    Receiver(Receiver),
}

impl Handle {
    async fn event(&self) -> Option<Event> {
        match self {
            Handle::Sender(sender) => sender.event().await,
            Handle::Receiver(receiver) => receiver.event().await,
        }
    }

    async fn wait(&self) -> Result<(), Error> {
        match self {
            Handle::Sender(sender) => sender.wait().await,
            Handle::Receiver(receiver) => receiver.wait().await,
        }
    }

    fn stats(&self) -> Option<Arc<Stats>> {
        match self {
            Handle::Sender(sender) => sender.stats(),
            Handle::Receiver(receiver) => receiver.stats(),
        }
    }

    fn stop(&self) {
        match self {
            Handle::Sender(sender) => sender.stop(),
            Handle::Receiver(receiver) => receiver.stop(),
        }
    }

    fn abort(&self) {
        match self {
            Handle::Sender(sender) => sender.abort(),
            Handle::Receiver(receiver) => receiver.abort(),
        }
    }
}

/// State that the stream shares with waiting threads.
struct Shared {
    handle: Handle,
    /// Only one waiter at a time holds this lock, so that events keep their order.
    turn: tokio::sync::Mutex<()>,
    /// Events that a waiter has received and that Python has not taken. None means that the stream has
    /// ended.
    taken: Mutex<VecDeque<Option<Event>>>,
}

impl Shared {
    fn pop(&self) -> Option<Option<Event>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    async fn event(&self) -> Option<Event> {
        let _turn = self.turn.lock().await;
        self.next().await
    }

    async fn next(&self) -> Option<Event> {
        match self.pop() {
            Some(event) => event,
            None => self.handle.event().await,
        }
    }

    /// Waits until [`Shared::event`] can return without waiting. Cancel safe.
    async fn ready(&self) {
        let _turn = self.turn.lock().await;
        let event = self.next().await;
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push_front(event);
    }
}

/// A stream. Dropping this value ends the stream.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct Stream {
    shared: Arc<Shared>,
    failure: Arc<Failure>,
    addresses: Vec<String>,
}

/// A callback that waits for an event.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct Waiter(JoinHandle<()>);

#[pymethods]
impl Waiter {
    /// Cancels the callback.
    fn cancel(&self) {
        self.0.abort();
    }
}

impl Stream {
    pub(super) fn new(handle: Handle, failure: Arc<Failure>, addresses: Vec<String>) -> Stream {
        let shared =
            Arc::new(Shared { handle, turn: tokio::sync::Mutex::default(), taken: Mutex::default() });
        Stream { shared, failure, addresses }
    }
}

#[pymethods]
impl Stream {
    /// Addresses on which a receiver listens.
    #[getter]
    fn addresses(&self) -> Vec<String> {
        self.addresses.clone()
    }

    /// Returns the next event: its kind, its text, and its fields as JSON. Returns None once the stream
    /// has ended.
    fn event(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
    ) -> PyResult<Option<(&'static str, String, String)>> {
        let event = wait(py, timeout, self.shared.event())?;
        Ok(event.map(|event| {
            let (kind, fields) = event.described();
            (kind, event.to_string(), fields.to_string())
        }))
    }

    /// Calls `callback` in another thread once an event is available. With `end`, calls it once the
    /// stream has ended.
    fn notify(&self, callback: Py<PyAny>, end: bool) -> PyResult<Waiter> {
        let shared = Arc::clone(&self.shared);
        let waiting = async move {
            match end {
                true => drop(shared.handle.wait().await),
                false => shared.ready().await,
            }
            Python::attach(|py| {
                // The event loop may be closed already. In that case no task is waiting.
                let _ = callback.call0(py);
            });
        };
        Ok(Waiter(runtime()?.spawn(waiting)))
    }

    /// Returns the last figures as JSON.
    fn stats(&self) -> Option<String> {
        let stats = self.shared.handle.stats()?;
        Some(serde_json::to_string(&*stats).expect("names and numbers serialise"))
    }

    /// Waits for the end of the stream. If an error ended the stream, raises this error.
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let outcome = wait(py, timeout, self.shared.handle.wait())?;
        if let Some(raised) = self.failure.take() {
            return Err(raised);
        }
        outcome.map_err(|e| error::live(py, &e))
    }

    /// Ends the stream after all its data have been delivered.
    fn stop(&self) {
        self.shared.handle.stop();
    }

    /// Ends the stream at once.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.handle.abort();
        let ended =
            async { tokio::time::timeout(Duration::from_secs_f64(CLOSING), self.shared.handle.wait()).await };
        wait(py, None, ended).map(drop)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.handle.abort();
    }
}
