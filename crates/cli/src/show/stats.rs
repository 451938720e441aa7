//! `--stats`: a line of JSON a second.

use super::snapshot::Snapshot;
use crate::error::CliError;
use crate::input::why;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Where the lines go.
#[derive(Debug)]
pub(crate) enum Stats {
    /// Nobody asked.
    Off,
    /// To standard error.
    Error,
    /// To a file.
    File(File, PathBuf),
}

impl Stats {
    /// As `--stats` says.
    ///
    /// # Errors
    /// [`CliError::Media`]: the file cannot be made.
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

    /// Whether standard error is for these lines.
    pub(crate) fn on_standard_error(&self) -> bool {
        matches!(self, Stats::Error)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// [`CliError::Media`]: the disk is full.
    pub(crate) fn write(&mut self, now: &Snapshot) -> Result<(), CliError> {
        let line = || serde_json::to_string(now).expect("numbers and names always serialise") + "\n";
        match self {
            Stats::Off => Ok(()),
            Stats::Error => {
                // A closed standard error ends nothing.
                let _ = std::io::stderr().write_all(line().as_bytes());
                Ok(())
            }
            Stats::File(file, path) => {
                let written = file.write_all(line().as_bytes());
                written.map_err(|e| CliError::Media(format!("cannot write {}: {}", path.display(), why(&e))))
            }
        }
    }
}
