//! Makes runs. The interpreter is released during the runs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use strandcast_lab::batch::{
    Batch, Finished, Job, LAST_SEED, ProgressObserver, RunError, SeriesRoom, SeriesSink, Traces, Until, jobs,
};
use strandcast_lab::result::Origin;
use strandcast_lab::scenario::Scenario;

use crate::error;
use crate::policy::{Failure, Plan, Policies};
use crate::results::{BUILD, Results};
use crate::source::Source;

/// Interval at which signals and progress are checked.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Maximum number of values of time series that a call keeps in memory. They need about 2 GB.
const MOST_VALUES: u64 = 20_000_000;
/// Number of steps of a run's progress.
const PARTS: f64 = 1000.0;

/// Runs a scenario with each of `schemes`, or with the schemes that it names if `schemes` is empty.
///
/// `policies` maps names in `schemes` to the scheme on which a policy is based and to the function that makes its
/// callbacks. `progress` is called with the share of the work that is done, from 0 to 1, and with the number of
/// finished runs. `trace` is a file for every event, and requires a single run. `until` is a precision: runs are added
/// until it is reached, and `runs` is then the maximum number of runs. `warnings` contains the result of `warnings` for
/// these schemes.
#[pyfunction]
#[pyo3(signature = (source, schemes, policies, *, seed, runs, threads, series_s, progress, trace=None, until=None, warnings=Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "they are the keywords of one call")]
pub(crate) fn run(
    py: Python<'_>,
    source: &Source,
    schemes: Vec<String>,
    policies: BTreeMap<String, Plan>,
    seed: &Bound<'_, PyAny>,
    runs: &Bound<'_, PyAny>,
    threads: &Bound<'_, PyAny>,
    series_s: Option<f64>,
    progress: Option<Py<PyAny>>,
    trace: Option<PathBuf>,
    until: Option<&str>,
    warnings: Vec<String>,
) -> PyResult<Results> {
    let until: Option<Until> = until.map(str::parse).transpose().map_err(|e: String| error::value(&e))?;
    let seed = error::number("seed", seed, LAST_SEED)?;
    let runs = error::number("runs", runs, u32::MAX.into())? as u32;
    let threads = error::number("threads", threads, usize::MAX as u64)? as usize;
    let series = series_s.map(Duration::try_from_secs_f64).transpose();
    let series =
        series.map_err(|e| error::value(&format!("series={}: {e}", series_s.unwrap_or_default())))?;
    let mut scenario = source.compared(py, !schemes.is_empty())?;
    scenario.run.series = series.or(scenario.run.series);
    let jobs = jobs(&schemes, seed, runs).map_err(|e| error::value(&e))?;
    let failure = Arc::new(Failure::default());
    let catalog = Policies::new(policies, &failure);
    let state = BatchProgress::new(jobs.len());
    let room = SeriesRoom::new(MOST_VALUES);
    let batch = Batch {
        scenario: &scenario,
        catalog: &catalog,
        series: SeriesSink::Memory(&room),
        traces: Traces { events: trace.as_deref(), ..Traces::default() },
        progress: &state,
    };
    let made = py.detach(|| {
        batch.validate(&jobs)?;
        let stop = |py: Python<'_>, why: &PyErr| catalog.interrupt(&why.get_type(py));
        let work = || match &until {
            None => batch.run_all(&jobs, threads),
            Some(until) => batch.run_until(&schemes, seed, runs, until, threads),
        };
        Ok(wait(&work, &state, progress.as_ref(), &stop))
    });
    let wrong = |e: RunError| failure.take().unwrap_or_else(|| run_error(py, source, &scenario, &e));
    let finished = made.map_err(&wrong)??.map_err(&wrong)?;
    match failure.take() {
        Some(error) => Err(error),
        None => {
            let origin = Origin { name: source.name(), build: BUILD, seed, schemes, warnings };
            Ok(Results::new(finished, origin, source.scenario.clone()))
        }
    }
}

/// Makes the runs on other threads, and handles signals and progress on this one. An exception in this
/// thread ends the runs, and is passed to `interrupt`, so that callbacks that never return also end. If
/// a signal has no effect, a later signal may raise the exception again.
fn wait(
    work: &(dyn Fn() -> Result<Finished, RunError> + Sync),
    state: &BatchProgress,
    progress: Option<&Py<PyAny>>,
    interrupt: &dyn Fn(Python<'_>, &PyErr),
) -> PyResult<Result<Finished, RunError>> {
    std::thread::scope(|scope| {
        let (done, over) = channel();
        let made = scope.spawn(move || {
            let finished = work();
            // The receiver of progress exists longer than this thread.
            let _ = done.send(());
            finished
        });
        let mut stopped = Ok(());
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let progress = progress.filter(|_| stopped.is_ok());
            let looked =
                Python::attach(|py| state.report(py, progress).inspect_err(|why| interrupt(py, why)));
            if looked.is_err() {
                state.stop.store(true, Ordering::Relaxed);
                stopped = stopped.and(looked);
            }
        }
        let finished = made.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        stopped?;
        Python::attach(|py| state.report(py, progress))?;
        Ok(finished)
    })
}

/// Progress of the runs, and the request to end the runs.
struct BatchProgress {
    /// Completed steps of each run.
    parts: Vec<AtomicU32>,
    stop: AtomicBool,
}

impl BatchProgress {
    fn new(runs: usize) -> Self {
        let parts = std::iter::repeat_with(AtomicU32::default).take(runs).collect();
        BatchProgress { parts, stop: AtomicBool::new(false) }
    }

    /// Lets Python handle signals, and reports the progress to Python.
    fn report(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let Some(progress) = progress else { return Ok(()) };
        let parts = self.parts.iter().map(|parts| f64::from(parts.load(Ordering::Relaxed)) / PARTS);
        let (done, over) =
            parts.fold((0.0, 0_usize), |(sum, over), part| (sum + part, over + usize::from(part >= 1.0)));
        progress.call1(py, (done / self.parts.len().max(1) as f64, over)).map(drop)
    }
}

impl ProgressObserver for BatchProgress {
    fn progress(&self, job: &Job, done: f64) -> ControlFlow<()> {
        if let Some(parts) = self.parts.get(job.index) {
            parts.store((done.clamp(0.0, 1.0) * PARTS) as u32, Ordering::Relaxed);
        }
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

fn run_error(py: Python<'_>, source: &Source, scenario: &Scenario, error: &RunError) -> PyErr {
    match error {
        RunError::Build(scheme, build) => source.wrong(py, scenario, scheme.as_deref(), build),
        RunError::Until(message) => error::value(message),
        RunError::Output(_) | RunError::Series { .. } | RunError::Threads(_) | RunError::Scheme(_) => {
            error::run(py, error)
        }
    }
}
