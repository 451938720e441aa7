//! Concurrent runs without a terminal. Results and their order do not depend on the number of threads.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use strandcast_keys::catalog::Catalog;

use super::error::RunError;
use super::trace::Traces;
use crate::result::output::{Output, OutputError, RecordBatch, SeriesTable, SeriesWriter};
use crate::result::{Origin, RunResult, Subject, Summary, remarks};
use crate::scenario::Scenario;
use crate::simulation::{Control, RunOptions, Simulation};

/// A run to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Index of the run among all runs.
    pub index: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Scheme of the compared flows, if it differs from the scenario's scheme.
    pub scheme: Option<String>,
}

/// The largest seed. Integers in TOML are signed 64-bit numbers.
pub const LAST_SEED: u64 = i64::MAX as u64;

/// Jobs for every scheme and every seed, grouped by scheme. Without `schemes`, the jobs use the schemes of the
/// scenario.
///
/// # Errors
/// Returns a one-line diagnostic if a seed is larger than [`LAST_SEED`].
pub fn jobs(schemes: &[String], first_seed: u64, runs: u32) -> Result<Vec<Job>, String> {
    let last = first_seed.checked_add(u64::from(runs.saturating_sub(1)));
    if last.is_none_or(|last| last > LAST_SEED) {
        let of = if runs > 1 { format!(" for {runs} runs") } else { String::new() };
        return Err(format!("seed {first_seed} is too large{of}; the last seed is {LAST_SEED}"));
    }
    let schemes: Vec<Option<String>> = match schemes {
        [] => vec![None],
        some => some.iter().cloned().map(Some).collect(),
    };
    let each = |scheme: Option<String>| (0..u64::from(runs)).map(move |n| (first_seed + n, scheme.clone()));
    let all = schemes.into_iter().flat_map(each).enumerate();
    Ok(all.map(|(index, (seed, scheme))| Job { index, seed, scheme }).collect())
}

/// Observer of the progress of runs. All threads call it.
pub trait ProgressObserver: Sync {
    /// Reports that the fraction `done` of a run is complete, from 0 to 1. `Break` ends all unfinished runs.
    fn progress(&self, job: &Job, done: f64) -> ControlFlow<()>;
}

/// The outcome of the runs.
#[derive(Debug, Default)]
pub struct Finished {
    /// The completed runs, in order.
    pub runs: Vec<RunResult>,
    /// Time series of the runs in the order of the runs, if they are kept in memory.
    pub series: Vec<RecordBatch>,
    /// Sum of the real times of the runs.
    pub time: Duration,
    /// Remark about a requested precision that the runs have not reached.
    pub unmet: Option<String>,
}

impl Finished {
    /// Adds further runs of the same schemes. Each run is inserted after the other runs of its scheme.
    pub(super) fn extend(&mut self, more: Finished) {
        let mut order: Vec<String> =
            self.runs.iter().chain(&more.runs).map(|run| run.scheme.clone()).collect();
        // Runs of the same scheme follow each other.
        order.dedup();
        let place = |run: &RunResult| order.iter().position(|scheme| *scheme == run.scheme);
        self.runs.extend(more.runs);
        self.series.extend(more.series);
        self.time += more.time;
        if self.series.len() == self.runs.len() {
            let mut both: Vec<_> = self.runs.drain(..).zip(self.series.drain(..)).collect();
            both.sort_by_key(|(run, _)| place(run));
            (self.runs, self.series) = both.into_iter().unzip();
        } else {
            self.runs.sort_by_key(place);
        }
    }

    /// Sums up the runs of a scenario.
    pub fn summary(&self, scenario: &Scenario, origin: &Origin) -> Summary {
        let mut summary = Summary::of(origin.name.clone(), origin.build.version, origin.seed, &self.runs);
        summary.commit = origin.build.commit.map(str::to_owned);
        summary.schemes = origin.schemes.clone();
        summary.warnings = origin.warnings.clone();
        summary.remarks = self.unmet.iter().cloned().chain(remarks(scenario, &summary)).collect();
        summary
    }
}

/// Destination of time series, if the scenario has a step for time series.
#[derive(Clone, Copy, Debug)]
pub enum SeriesSink<'a> {
    /// Discarded.
    None,
    /// Written to files during the runs.
    Folder(&'a Output),
    /// Time series are collected in [`Finished::series`], as far as there is room.
    Memory(&'a SeriesRoom),
}

/// Limit on the number of values of time series in memory, for a whole batch.
#[derive(Debug)]
pub struct SeriesRoom {
    most: u64,
    left: AtomicU64,
}

impl SeriesRoom {
    /// Room for `most` values of about 100 bytes.
    pub fn new(most: u64) -> Self {
        SeriesRoom { most, left: AtomicU64::new(most) }
    }

    /// Takes the room for one value.
    fn take(&self) -> Result<(), RunError> {
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        taken.map(drop).map_err(|_| RunError::Series { most: self.most })
    }
}

/// The common settings of all runs.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Catalog that resolves names of schemes and prepares threads for runs.
    pub catalog: &'a dyn Catalog,
    /// Destination of time series.
    pub series: SeriesSink<'a>,
    /// Destinations of the records of a single run.
    pub traces: Traces<'a>,
    /// Observes progress.
    pub progress: &'a dyn ProgressObserver,
}

impl Batch<'_> {
    /// Builds the scenario once with each scheme, so that errors are found before the first run.
    ///
    /// # Errors
    /// [`RunError::Build`].
    pub fn validate(&self, jobs: &[Job]) -> Result<(), RunError> {
        jobs.chunk_by(|a, b| a.scheme == b.scheme).try_for_each(|same| self.build(&same[0]).map(drop))
    }

    /// Executes all runs on `threads` threads. If there are fewer runs, it uses fewer threads.
    ///
    /// # Errors
    /// The first [`RunError`].
    pub fn run_all(&self, jobs: &[Job], threads: usize) -> Result<Finished, RunError> {
        let failed = OnceLock::new();
        let mut ended =
            on_threads(threads.min(jobs.len()), self.catalog, jobs, |job| self.timed(job, &failed))?;
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        ended.sort_unstable_by_key(|(index, _)| *index);
        let mut finished = Finished::default();
        for (_, (run, time)) in ended {
            let Some((run, series)) = run else { continue };
            finished.runs.push(run);
            finished.series.extend(series);
            finished.time += time;
        }
        Ok(finished)
    }

    #[expect(
        clippy::disallowed_types,
        reason = "how long a run takes is for people: no result depends on it"
    )]
    fn timed(&self, job: &Job, failed: &OnceLock<RunError>) -> (Option<Run>, Duration) {
        let start = std::time::Instant::now();
        let run = self.run(job, failed);
        (run, start.elapsed())
    }

    fn build(&self, job: &Job) -> Result<Simulation, RunError> {
        let simulation = Simulation::new(self.scenario, self.catalog, job.seed, job.scheme.as_deref());
        simulation.map_err(|error| RunError::Build(job.scheme.clone(), error))
    }

    /// Executes one run. Returns `None` if the run was ended early or failed. A failure is recorded in `failed`.
    fn run(&self, job: &Job, failed: &OnceLock<RunError>) -> Option<Run> {
        if failed.get().is_some() || self.progress.progress(job, 0.0).is_break() {
            return None;
        }
        match self.try_run(job, failed) {
            Ok(result) => result,
            Err(error) => {
                // Only the first error is reported.
                let _ = failed.set(error);
                None
            }
        }
    }

    fn try_run(&self, job: &Job, failed: &OnceLock<RunError>) -> Result<Option<Run>, RunError> {
        self.catalog.before_run(job.seed);
        let mut simulation = self.build(job)?;
        let step = self.scenario.run.series.filter(|_| !matches!(self.series, SeriesSink::None));
        let series = match (self.series, step) {
            (_, None) | (SeriesSink::None, _) => Series::None,
            (SeriesSink::Folder(output), _) => Series::File(output.series(simulation.scheme(), job.seed)?),
            (SeriesSink::Memory(room), _) => {
                Series::Memory(SeriesTable::new(simulation.scheme(), job.seed), room)
            }
        };
        let broken = Arc::new(AtomicBool::new(false));
        let recorder = self.traces.start(&simulation, &broken)?;
        let (catalog, progress) = (self.catalog, self.progress);
        let mut control = RunControl { job, catalog, progress, failed, series, error: None, broken };
        let result = simulation.run(RunOptions { series: step, recorder }, &mut control);
        if let Some(recorder) = simulation.take_recorder() {
            self.traces.close(recorder)?;
        }
        if let Some(error) = control.error {
            return Err(error);
        }
        if let Some(error) = self.catalog.failure() {
            return Err(RunError::Scheme(error));
        }
        let Some(result) = result else { return Ok(None) };
        let series = control.series.finish()?;
        // The run has already ended.
        let _ = self.progress.progress(job, 1.0);
        Ok(Some((result, series)))
    }
}

/// Calls `work` for each job. Returns the results in any order, each with the position of its job. Each thread takes
/// the next waiting job.
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "each run has one thread and one order of events; only whole runs share a machine"
)]
fn on_threads<T: Send>(
    threads: usize,
    catalog: &dyn Catalog,
    jobs: &[Job],
    work: impl Fn(&Job) -> T + Sync,
) -> Result<Vec<(usize, T)>, RunError> {
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        jobs.get(index).map(|job| (index, job))
    };
    let each = || {
        let mut done = Vec::new();
        catalog.around_thread(Box::new(|| {
            done.extend(std::iter::from_fn(take).map(|(index, job)| (index, work(job))));
        }));
        done
    };
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, each);
        let started: Result<Vec<_>, _> = (0..threads.max(1)).map(start).collect();
        let started = started.inspect_err(|_| next.store(jobs.len(), Ordering::Relaxed));
        let started = started.map_err(|e| RunError::Threads(e.to_string()))?;
        let ended =
            started.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(ended.flatten().collect())
    })
}

/// A completed run.
type Run = (RunResult, Option<RecordBatch>);

/// The writer of one run's time series.
enum Series<'a> {
    None,
    File(SeriesWriter),
    Memory(SeriesTable, &'a SeriesRoom),
}

impl Series<'_> {
    fn finish(self) -> Result<Option<RecordBatch>, OutputError> {
        match self {
            Series::None => Ok(None),
            Series::File(file) => file.finish().map(|()| None),
            Series::Memory(table, _) => Ok(Some(table.finish())),
        }
    }
}

/// Controls one run.
struct RunControl<'a> {
    job: &'a Job,
    catalog: &'a dyn Catalog,
    progress: &'a dyn ProgressObserver,
    /// Failure of another run, if any.
    failed: &'a OnceLock<RunError>,
    series: Series<'a>,
    error: Option<RunError>,
    /// True once writing of the trace has failed.
    broken: Arc<AtomicBool>,
}

impl Control for RunControl<'_> {
    fn progress(&mut self, done: f64) -> ControlFlow<()> {
        let broken = self.broken.load(Ordering::Relaxed) || self.catalog.failure().is_some();
        if broken || self.error.is_some() || self.failed.get().is_some() {
            return ControlFlow::Break(());
        }
        self.progress.progress(self.job, done)
    }

    fn point(&mut self, time_s: f64, subject: &Subject, metric: &'static str, value: f64) {
        if self.error.is_some() {
            return;
        }
        let pushed = match &mut self.series {
            Series::File(file) => file.push(time_s, subject, metric, value).map_err(RunError::from),
            Series::Memory(table, room) => room.take().map(|()| table.push(time_s, subject, metric, value)),
            Series::None => return,
        };
        self.error = pushed.err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_share_seeds() {
        let name = |job: &Job| (job.index, job.scheme.clone().unwrap_or_default(), job.seed);
        let list = jobs(&["a".into(), "b".into()], 7, 2).expect("seeds are small");
        let names: Vec<_> = list.iter().map(name).collect();
        let expected = [(0, "a", 7), (1, "a", 8), (2, "b", 7), (3, "b", 8)];
        assert_eq!(names, expected.map(|(i, scheme, seed)| (i, scheme.to_owned(), seed)));
        assert_eq!(jobs(&[], 1, 3).map(|jobs| jobs.len()), Ok(3));
    }

    #[test]
    fn a_room_for_series_ends() {
        let room = SeriesRoom::new(2);
        assert!(room.take().is_ok() && room.take().is_ok());
        for _ in 0..2 {
            assert!(matches!(room.take(), Err(RunError::Series { most: 2 })));
        }
    }

    #[test]
    fn seeds_end() {
        assert_eq!(jobs(&[], LAST_SEED, 1).map(|jobs| jobs[0].seed), Ok(LAST_SEED));
        for (seed, runs) in [(LAST_SEED, 2), (LAST_SEED + 1, 1), (u64::MAX, 2)] {
            let error = jobs(&[], seed, runs).expect_err("too large");
            assert!(error.contains("last seed is 9223372036854775807"), "{error}");
        }
    }
}
