//! `simulate --trace`.

use super::runner::RunError;
use std::any::Any;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use strandcast_sim::result::output::OutputError;
use strandcast_sim::simulation::{Recorder, Simulation, Trace};

/// Begins the trace of a run.
///
/// # Errors
/// The file cannot be made.
pub(super) fn open(simulation: &Simulation, path: &Path) -> Result<Box<dyn Recorder>, RunError> {
    let file = File::create(path).map_err(|source| cannot_write(path, source))?;
    Ok(Box::new(Trace::new(simulation, Box::new(BufWriter::new(file)))))
}

/// Ends it.
///
/// # Errors
/// A line could not be written.
pub(super) fn close(recorder: Box<dyn Recorder>, path: &Path) -> Result<(), RunError> {
    let trace: Box<dyn Any> = recorder;
    let trace: Trace = *trace.downcast().expect("the recorder is the one the run was given");
    trace.finish().map_err(|source| cannot_write(path, source))
}

fn cannot_write(path: &Path, source: std::io::Error) -> RunError {
    RunError::Output(OutputError { path: path.into(), source })
}
