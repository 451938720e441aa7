//! The folder of a scenario's results.

use std::io::Write;
use std::path::PathBuf;

use super::columns::Table;
use super::file::{Pending, create_folder};
use super::rows::{
    FRAMES, RUNS, SERIES, SUMMARY, row_of_series, rows_of_frames, rows_of_runs, rows_of_summary,
};
use super::{Format, OutputError};
use crate::result::{RunResult, Subject, Summary};

/// A folder for results. `series/` has a file per run. At the end, it also has `runs`, `summary` and `result.json`. For
/// videos with frames, it has `frames`. For the first run with radios, it has `topology.json`. Every file appears
/// either completely or not at all.
#[derive(Clone, Debug)]
pub struct Output {
    folder: PathBuf,
    format: Format,
}

impl Output {
    /// Creates the folder if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn create(folder: PathBuf, format: Format) -> Result<Self, OutputError> {
        create_folder(&folder)?;
        Ok(Output { folder, format })
    }

    /// Begins the time series of a run. Several threads may call it at the same time for runs that differ in scheme or
    /// seed.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn series(&self, scheme: &str, seed: u64) -> Result<SeriesWriter, OutputError> {
        let folder = self.folder.join("series");
        create_folder(&folder)?;
        let table = Table::create(&folder, &format!("{}-{seed}", file_name(scheme)), self.format, SERIES)?;
        Ok(SeriesWriter { table, scheme: scheme.into(), seed })
    }

    /// Writes the results of all runs.
    ///
    /// # Errors
    /// The first file that could not be written. Files that were written earlier remain.
    pub fn finish(&self, summary: &Summary, runs: &[RunResult]) -> Result<(), OutputError> {
        self.write_runs(runs)?;
        self.write_summary(runs)?;
        if runs.iter().any(|run| !run.frames.is_empty()) {
            self.write_frames(runs)?;
        }
        if let Some(topology) = runs.iter().find_map(|run| run.topology.as_ref()) {
            let (pending, mut file) = Pending::create(self.folder.join("topology.json"))?;
            let text = serde_json::to_vec(topology).expect("a topology has string keys only");
            file.write_all(&text).map_err(|error| pending.error(error))?;
            pending.complete()?;
        }
        let (pending, mut file) = Pending::create(self.folder.join("result.json"))?;
        file.write_all(summary.json().as_bytes()).map_err(|error| pending.error(error))?;
        pending.complete()
    }

    fn write_runs(&self, runs: &[RunResult]) -> Result<(), OutputError> {
        let mut table = Table::create(&self.folder, "runs", self.format, RUNS)?;
        rows_of_runs(runs, |row| table.push(row))?;
        table.finish()
    }

    fn write_frames(&self, runs: &[RunResult]) -> Result<(), OutputError> {
        let mut table = Table::create(&self.folder, "frames", self.format, FRAMES)?;
        rows_of_frames(runs, |row| table.push(row))?;
        table.finish()
    }

    fn write_summary(&self, runs: &[RunResult]) -> Result<(), OutputError> {
        let mut table = Table::create(&self.folder, "summary", self.format, SUMMARY)?;
        rows_of_summary(runs, |row| table.push(row))?;
        table.finish()
    }
}

/// Writes a run's time series while it runs. Only the last, incomplete part of the file is in memory.
#[derive(Debug)]
pub struct SeriesWriter {
    table: Table,
    scheme: String,
    seed: u64,
}

impl SeriesWriter {
    /// Adds a value at a time in seconds from the flows' time 0.
    ///
    /// # Errors
    /// A write failed, for example because the disk is full. Dropping the writer then deletes the unfinished file.
    pub fn push(
        &mut self,
        time_s: f64,
        subject: &Subject,
        metric: &str,
        value: f64,
    ) -> Result<(), OutputError> {
        row_of_series((&self.scheme, self.seed), (time_s, subject, metric, value), |row| self.table.push(row))
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The last rows could not be written. The file is deleted.
    pub fn finish(self) -> Result<(), OutputError> {
        self.table.finish()
    }
}

/// Returns the name of a scheme as part of a file name. Every character becomes `_`, except letters, digits, `.`, `=`
/// and `-`.
fn file_name(scheme: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || ['.', '=', '-'].contains(&c);
    scheme.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}
