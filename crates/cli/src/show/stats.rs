//! `--stats`: one line of JSON per second.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::error::CliError;
use crate::error::why;
use crate::print;

/// The destination of the lines.
#[derive(Debug)]
pub(crate) enum Stats {
    /// No statistics.
    Off,
    /// To standard error.
    Error,
    /// To a file.
    File(File, PathBuf),
}

impl Stats {
    /// Opens the destination given by `--stats`.
    ///
    /// # Errors
    /// [`CliError::Media`]: the file cannot be created.
    pub(crate) fn open(asked: Option<&Option<PathBuf>>) -> Result<Stats, CliError> {
        match asked {
            None => Ok(Stats::Off),
            Some(None) => Ok(Stats::Error),
            Some(Some(path)) => {
                let file = File::create(path);
                let file = file
                    .map_err(|e| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e))))?;
                Ok(Stats::File(file, path.clone()))
            }
        }
    }

    /// Whether these lines use standard error.
    pub(crate) fn on_standard_error(&self) -> bool {
        matches!(self, Stats::Error)
    }

    /// Writes a line. The first write error ends the statistics and is returned as a line to report.
    pub(crate) fn write(&mut self, now: &impl Serialize) -> Option<String> {
        let line = || serde_json::to_string(now).expect("numbers and names always serialise");
        match self {
            Stats::Off => None,
            Stats::Error => {
                print::json_line(&line());
                None
            }
            Stats::File(file, path) => {
                let error = file.write_all((line() + "\n").as_bytes()).err()?;
                let told = format!("statistics stopped: cannot write {}: {}", path.display(), why(&error));
                *self = Stats::Off;
                Some(told)
            }
        }
    }
}
