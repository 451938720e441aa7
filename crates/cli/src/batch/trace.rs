//! `simulate --trace`.

use super::error::RunError;
use std::any::Any;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use strandcast_lab::result::output::OutputError;
use strandcast_lab::simulation::{Recorder, Simulation, Trace};

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// Begins the trace of a run; `broken` turns true when it cannot be written any more.
///
/// # Errors
/// The file cannot be made.
pub(super) fn open(
    simulation: &Simulation,
    path: &Path,
    broken: &Arc<AtomicBool>,
) -> Result<Box<dyn Recorder>, RunError> {
    let file = File::create(path).map_err(|source| cannot_write(path, source))?;
    let file = Telling { file, broken: Arc::clone(broken) };
    Ok(Box::new(Trace::new(simulation, Box::new(BufWriter::with_capacity(BUFFER, file)))))
}

/// A file that tells when it is broken.
#[derive(Debug)]
struct Telling {
    file: File,
    broken: Arc<AtomicBool>,
}

impl Write for Telling {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        // The writer above tries again when it was only interrupted.
        if written.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
            self.broken.store(true, Ordering::Relaxed);
        }
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
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

fn cannot_write(path: &Path, source: io::Error) -> RunError {
    RunError::Output(OutputError { path: path.into(), source })
}
