//! `strandcast simulate`: reads the arguments, runs the scenario and writes the results.

use std::io::{IsTerminal, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;

use strandcast::files::spare_keys;
use strandcast_keys::catalog::SharedCatalog;
use strandcast_lab::batch::{
    Batch, Finished, Job, MOST_RUNS, PacketFile, RunError, SeriesSink, Traces, jobs, split,
};
use strandcast_lab::result::output::{Format, Output, OutputError};
use strandcast_lab::result::{Origin, ScenarioName, Speed, table};

use super::output;
use super::packets;
use super::progress::Progress;
use crate::BUILD;
use crate::args::SimulateArgs;
use crate::error::CliError;
use crate::loaded::LoadedScenario;
use crate::print;
use crate::signals::{self, stopped};

/// Name of the table of radio frames in a folder of results.
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
    jobs: Vec<Job>,
    origin: Origin,
    output: Option<Output>,
    /// File for the radio frames of a traced run.
    frames: Option<PathBuf>,
    packets: Option<PacketFile>,
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
            loaded.mark_compared()?;
        }
        let seed = args.seed.unwrap_or(loaded.scenario.run.seed);
        let usual = args.until.as_ref().map_or(loaded.scenario.run.runs, |_| MOST_RUNS);
        let schemes = schemes.unwrap_or_default();
        let jobs = jobs(&schemes, seed, args.runs.unwrap_or(usual)).map_err(CliError::Usage)?;
        args.trace.as_deref().map_or(Ok(()), spare_keys)?;
        let single = [("--trace", args.trace.is_some()), ("--pcap", args.pcap.is_some())];
        if let Some((option, _)) = single.iter().find(|(_, given)| *given && jobs.len() > 1) {
            let message =
                format!("{option} takes one run, not {}; add --runs 1 and at most one --scheme", jobs.len());
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
        let origin = Origin { name, build: BUILD, seed, schemes, warnings: Vec::new() };
        let mut plan =
            Plan { args, catalog, loaded, jobs, origin, output: None, frames, packets: None, progress };
        plan.batch().validate(&plan.jobs).map_err(|e| plan.error(e))?;
        plan.origin.warnings = plan.loaded.warnings(&*plan.catalog, &plan.origin.schemes)?;
        let shown = plan.origin.warnings.iter().filter(|_| !plan.args.quiet);
        shown.for_each(|warning| print::line(&format!("warning: {warning}")));
        plan.output = plan.open_output()?;
        plan.packets = plan.args.pcap.as_deref().map(packets::open).transpose()?;
        Ok(plan)
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
            traces: Traces {
                events: self.args.trace.as_deref(),
                frames: self.frames.as_deref(),
                packets: self.packets.as_ref(),
            },
            progress: &*self.progress,
        }
    }

    fn run(&self) -> Result<Finished, CliError> {
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = self.args.jobs.map_or(cores, |jobs| jobs as usize);
        let most = self.jobs.len() / self.origin.schemes.len().max(1);
        let made = match &self.args.until {
            None => self.batch().run_all(&self.jobs, threads),
            Some(until) => {
                self.batch().run_until(&self.origin.schemes, self.origin.seed, most as u32, until, threads)
            }
        };
        made.map_err(|e| self.error(e))
    }

    fn error(&self, error: RunError) -> CliError {
        match error {
            RunError::Build(scheme, error) => self.loaded.wrong(scheme.as_deref(), &error),
            RunError::Output(error) => media(error),
            RunError::Series { .. } => CliError::Unmet(error.to_string()),
            RunError::Threads(error) => CliError::Media(error),
            RunError::Scheme(error) => CliError::Unmet(error),
            RunError::Until(error) => CliError::Usage(format!("--until: {error}")),
        }
    }

    /// Prints and writes the results of the finished runs.
    fn tell(&self, finished: &Finished) -> Result<(), CliError> {
        let (runs, all) = (&finished.runs, self.jobs.len());
        if runs.is_empty() {
            return Err(CliError::Interrupted("interrupted before a run had ended".into()));
        }
        let mut summary = finished.summary(&self.loaded.scenario, &self.origin);
        let hops: u64 = runs.iter().map(|run| run.packet_hops).sum();
        let packet_hops_per_s = hops as f64 / finished.time.as_secs_f64().max(1e-9);
        summary.speed = Some(Speed { packet_hops_per_s });
        if let Some(output) = &self.output {
            output.finish(&summary, runs).map_err(media)?;
        }
        if self.args.json {
            print::json(&summary.json())?
        } else {
            print::text(&table(&summary))?
        }
        if runs.len() < all && (self.args.until.is_none() || self.progress.is_stopped()) {
            return Err(CliError::Interrupted(format!("interrupted after {} of {all} runs", runs.len())));
        }
        Ok(())
    }
}

fn media(error: OutputError) -> CliError {
    CliError::Media(error.to_string())
}
