//! `strandcast simulate`, from its arguments to its results.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;

use strandcast::files::spare_keys;
use strandcast_keys::catalog::SharedCatalog;
use strandcast_lab::batch::{
    Batch, Finished, Job, RunError, SeriesSink, is_of_scheme, jobs, mark_compared, split,
};
use strandcast_lab::result::output::{Format, Output, OutputError};
use strandcast_lab::result::{ScenarioName, Speed, Summary, remarks, table};

use super::output;
use super::progress::Progress;
use crate::args::SimulateArgs;
use crate::error::CliError;
use crate::loaded::LoadedScenario;
use crate::print;
use crate::signals::{self, stopped};

/// The table of frames on the air in a folder of results.
const FRAMES: &str = "transmissions.csv";

/// Runs a scenario as often as requested.
///
/// # Errors
/// [`CliError`].
pub(crate) async fn run(args: SimulateArgs, catalog: SharedCatalog) -> Result<(), CliError> {
    let mut stop = signals::watch()?;
    let plan = Plan::new(args, catalog)?;
    let progress = Arc::clone(&plan.progress);
    let work = tokio::task::spawn_blocking(move || {
        let finished = plan.run();
        plan.progress.clear();
        finished.map(|finished| (plan, finished))
    });
    tokio::pin!(work);
    let ended = tokio::select! {
        ended = &mut work => ended,
        () = stopped(&mut stop) => {
            progress.stop();
            work.await
        }
    };
    let (plan, finished) = ended.map_err(|e| CliError::Media(format!("a run failed: {e}")))??;
    plan.tell(&finished)
}

/// The settings of all runs.
struct Plan {
    args: SimulateArgs,
    catalog: SharedCatalog,
    loaded: LoadedScenario,
    name: ScenarioName,
    jobs: Vec<Job>,
    seed: u64,
    output: Option<Output>,
    /// Where the frames of a traced run go.
    frames: Option<PathBuf>,
    progress: Arc<Progress>,
}

impl Plan {
    fn new(args: SimulateArgs, catalog: SharedCatalog) -> Result<Self, CliError> {
        let mut loaded = LoadedScenario::open(&args.file, &args.set)?;
        let name = ScenarioName::of(&loaded.scenario, &loaded.hash, &args.file, &args.set);
        if let Some(step) = args.series {
            loaded.scenario.run.series = Some(step);
        }
        let schemes =
            args.scheme.as_deref().map(|list| split(list, &*catalog)).transpose().map_err(CliError::Usage)?;
        if schemes.is_some() {
            compared(&mut loaded)?;
        }
        let seed = args.seed.unwrap_or(loaded.scenario.run.seed);
        let runs = args.runs.unwrap_or(loaded.scenario.run.runs);
        let jobs = jobs(&schemes.unwrap_or_default(), seed, runs).map_err(CliError::Usage)?;
        args.trace.as_deref().map_or(Ok(()), spare_keys)?;
        if args.trace.is_some() && jobs.len() > 1 {
            let message =
                format!("--trace takes one run, not {}; add --runs 1 and at most one --scheme", jobs.len());
            return Err(CliError::Usage(message));
        }
        if args.out.is_none() && (args.csv || args.series.is_some()) {
            let option = if args.csv { "--csv" } else { "--series" };
            return Err(CliError::Usage(format!("{option} needs a folder to write to; add --out FOLDER")));
        }
        let quiet = args.quiet || (args.json && stdout().is_terminal());
        let progress = Arc::new(Progress::new(jobs.len(), quiet));
        let radios = args.trace.is_some() && !loaded.scenario.radio.is_empty();
        let frames = args.out.as_ref().filter(|_| radios).map(|folder| folder.join(FRAMES));
        let mut plan = Plan { args, catalog, loaded, name, jobs, seed, output: None, frames, progress };
        plan.batch().validate(&plan.jobs).map_err(|e| plan.error(e))?;
        plan.warn();
        plan.output = plan.open_output()?;
        Ok(plan)
    }

    /// Prints warnings on standard error, so that results are unchanged.
    fn warn(&self) {
        // With compared schemes, the scenario's own scheme need not be valid.
        let checked = self.loaded.check(&*self.catalog).ok().filter(|_| !self.args.quiet);
        checked
            .iter()
            .flat_map(|checked| &checked.warnings)
            .for_each(|w| print::line(&format!("warning: {w}")));
    }

    fn open_output(&self) -> Result<Option<Output>, CliError> {
        let Some(folder) = &self.args.out else { return Ok(None) };
        let format = if self.args.csv { Format::Csv } else { Format::Parquet };
        let output = Output::create(folder.clone(), format).map_err(media)?;
        output::keep(&self.loaded.scenario, &self.args.file, folder)?;
        Ok(Some(output))
    }

    fn batch(&self) -> Batch<'_> {
        Batch {
            scenario: &self.loaded.scenario,
            catalog: &*self.catalog,
            series: self.output.as_ref().map_or(SeriesSink::None, SeriesSink::Folder),
            trace: self.args.trace.as_deref(),
            frames: self.frames.as_deref(),
            progress: &*self.progress,
        }
    }

    fn run(&self) -> Result<Finished, CliError> {
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = self.args.jobs.map_or(cores, |jobs| jobs as usize);
        self.batch().run_all(&self.jobs, threads).map_err(|e| self.error(e))
    }

    fn error(&self, error: RunError) -> CliError {
        match error {
            // For compared flows the argument is wrong, not the file.
            RunError::Build(Some(scheme), error) if is_of_scheme(&self.loaded.scenario, &error.key) => {
                CliError::Usage(format!("--scheme {scheme}: {}", error.message))
            }
            RunError::Build(_, error) => self.loaded.build_error(&error),
            RunError::Output(error) => media(error),
            RunError::Threads(error) => CliError::Media(error),
            RunError::Scheme(error) => CliError::Unmet(error),
        }
    }

    /// Prints and writes the results of the finished runs.
    fn tell(&self, finished: &Finished) -> Result<(), CliError> {
        let (runs, all) = (&finished.runs, self.jobs.len());
        if runs.is_empty() {
            return Err(CliError::Interrupted("interrupted before a run had ended".into()));
        }
        let version = env!("CARGO_PKG_VERSION");
        let mut summary = Summary::of(self.name.clone(), version, self.seed, runs);
        let hops: u64 = runs.iter().map(|run| run.packet_hops).sum();
        let packet_hops_per_s = hops as f64 / finished.time.as_secs_f64().max(1e-9);
        summary.speed = Some(Speed { packet_hops_per_s });
        summary.remarks = remarks(&self.loaded.scenario, &summary);
        if let Some(output) = &self.output {
            output.finish(&summary, runs).map_err(media)?;
        }
        if self.args.json {
            print::json(&summary.json())?
        } else {
            print::text(&table(&summary))?
        }
        if runs.len() < all {
            return Err(CliError::Interrupted(format!("interrupted after {} of {all} runs", runs.len())));
        }
        Ok(())
    }
}

/// Ensures that a flow is marked for comparison.
///
/// # Errors
/// The choice is ambiguous.
pub(crate) fn compared(loaded: &mut LoadedScenario) -> Result<(), CliError> {
    mark_compared(&mut loaded.scenario).map_err(|e| loaded.error(&e.key, &e.message))
}

fn media(error: OutputError) -> CliError {
    CliError::Media(error.to_string())
}
