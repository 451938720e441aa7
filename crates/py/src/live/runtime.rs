//! The runtime that all streams of the process share. Also waits for work on this runtime.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

use crate::error;

/// Number of threads that all streams share. A policy in Python may occupy one of them.
const THREADS: usize = 2;
/// Interval at which a waiting thread lets Python act on signals.
const LOOK: Duration = Duration::from_millis(100);

/// The runtime, and the process that started it. The process is stored because threads do not survive a
/// fork.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Returns the runtime. The first stream starts it, and it runs until the process ends.
pub(super) fn runtime() -> PyResult<&'static Runtime> {
    let mut known = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((of, runtime)) = *known
        && of == process
    {
        return Ok(runtime);
    }
    let mut builder = Builder::new_multi_thread();
    let started = builder.worker_threads(THREADS).thread_name("strandcast").enable_all().build()?;
    let runtime: &'static Runtime = Box::leak(Box::new(started));
    *known = Some((process, runtime));
    Ok(runtime)
}

/// Waits for `work`. Meanwhile other Python threads run, and signals are handled.
///
/// # Errors
/// Raises `TimeoutError` after `timeout`. Also raises any exception of a signal's handler, such as
/// `KeyboardInterrupt`.
pub(super) fn wait<T: Send>(
    py: Python<'_>,
    timeout: Option<f64>,
    work: impl Future<Output = T> + Send,
) -> PyResult<T> {
    let runtime = runtime()?;
    let end = match timeout.filter(|seconds| *seconds != f64::INFINITY) {
        Some(seconds) => Instant::now().checked_add(self::seconds("timeout", seconds)?),
        None => None,
    };
    let mut work = pin!(work);
    loop {
        let left = end.map_or(LOOK, |end| end.saturating_duration_since(Instant::now()));
        let slice = async { tokio::time::timeout(left.min(LOOK), work.as_mut()).await };
        match py.detach(|| runtime.block_on(slice)) {
            Ok(done) => return Ok(done),
            Err(_) if end.is_some_and(|end| Instant::now() >= end) => {
                return Err(PyTimeoutError::new_err("nothing happened in time"));
            }
            Err(_) => py.check_signals()?,
        }
    }
}

/// Converts the time in the argument `name`.
///
/// # Errors
/// Raises `ValueError` if the time is negative, infinite or not a number.
pub(super) fn seconds(name: &str, given: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(given).map_err(|e| error::value(&format!("{name}={given}: {e}")))
}
