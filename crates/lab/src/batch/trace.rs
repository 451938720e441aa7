//! Traces of runs: `simulate --trace`.

use std::any::Any;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::RunError;
use crate::result::output::OutputError;
use crate::simulation::{Recorder, Simulation, Trace};

/// Write buffer in bytes.
const BUFFER: usize = 1 << 16;

/// Starts the trace of a run, with a table of its frames if there is a path for it; `broken` turns true when writing fails.
///
/// # Errors
/// The file cannot be created.
pub(super) fn open(
    simulation: &Simulation,
    (path, frames): (&Path, Option<&Path>),
    broken: &Arc<AtomicBool>,
) -> Result<Box<dyn Recorder>, RunError> {
    let create = |path: &Path| -> Result<Box<dyn Write + Send>, RunError> {
        let file = File::create(path).map_err(|source| cannot_write(path, source))?;
        let file = MonitoredFile { file, broken: Arc::clone(broken) };
        Ok(Box::new(BufWriter::with_capacity(BUFFER, file)))
    };
    let trace = Trace::new(simulation, create(path)?);
    Ok(Box::new(match frames {
        Some(frames) => trace.with_frames(create(frames)?),
        None => trace,
    }))
}

/// A file that records write errors.
#[derive(Debug)]
struct MonitoredFile {
    file: File,
    broken: Arc<AtomicBool>,
}

impl Write for MonitoredFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        // The buffered writer retries after interruptions.
        if written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
            self.broken.store(true, Ordering::Relaxed);
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Finishes the trace.
///
/// # Errors
/// A line could not be written.
pub(super) fn close(recorder: Box<dyn Recorder>, path: &Path) -> Result<(), RunError> {
    let trace: Box<dyn Any> = recorder;
    let trace: Trace = *trace.downcast().expect("the recorder is the one the run was given");
    trace.finish().map_err(|source| cannot_write(path, source))
}

fn cannot_write(path: &Path, source: io::Error) -> RunError {
    RunError::Output(OutputError { path: path.into(), source })
}
