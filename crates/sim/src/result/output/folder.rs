//! The folder of a scenario's results.

use std::io::Write;
use std::path::PathBuf;

use super::columns::{Cell, Kind, Table};
use super::file::{Pending, create_folder};
use super::{Format, OutputError};
use crate::result::summary::samples;
use crate::result::{RunResult, Subject, Summary};

const RUNS: &[(&str, Kind)] = &[
    ("scheme", Kind::Text),
    ("seed", Kind::Count),
    ("subject_kind", Kind::Text),
    ("subject", Kind::Text),
    ("part", Kind::Text),
    ("metric", Kind::Text),
    ("value", Kind::Number),
];
const SUMMARY: &[(&str, Kind)] = &[
    ("scheme", Kind::Text),
    ("subject_kind", Kind::Text),
    ("subject", Kind::Text),
    ("part", Kind::Text),
    ("metric", Kind::Text),
    ("n", Kind::Count),
    ("mean", Kind::Number),
    ("ci95", Kind::Number),
    ("sd", Kind::Number),
    ("median", Kind::Number),
];
const SERIES: &[(&str, Kind)] = &[
    ("scheme", Kind::Text),
    ("seed", Kind::Count),
    ("time_s", Kind::Number),
    ("subject_kind", Kind::Text),
    ("subject", Kind::Text),
    ("part", Kind::Text),
    ("metric", Kind::Text),
    ("value", Kind::Number),
];

/// A folder for results: `series/` (a file a run), and in the end `runs`, `summary` and `result.json`. Every file appears
/// whole or not at all.
#[derive(Clone, Debug)]
pub struct Output {
    folder: PathBuf,
    format: Format,
}

impl Output {
    /// Makes the folder if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(folder: PathBuf, format: Format) -> Result<Self, OutputError> {
        create_folder(&folder)?;
        Ok(Output { folder, format })
    }

    /// Begins the time series of a run; from several threads at once, for runs of different scheme or seed.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn series(&self, scheme: &str, seed: u64) -> Result<SeriesWriter, OutputError> {
        let folder = self.folder.join("series");
        create_folder(&folder)?;
        let table = Table::create(&folder, &format!("{}-{seed}", file_name(scheme)), self.format, SERIES)?;
        Ok(SeriesWriter { table, scheme: scheme.into(), seed })
    }

    /// Writes what is known when all runs are over.
    ///
    /// # Errors
    /// The first file that could not be written; those before it stay.
    pub fn finish(&self, summary: &Summary, runs: &[RunResult]) -> Result<(), OutputError> {
        self.write_runs(runs)?;
        self.write_summary(runs)?;
        let (pending, mut file) = Pending::create(self.folder.join("result.json"))?;
        file.write_all(summary.json().as_bytes()).map_err(|error| pending.error(error))?;
        pending.complete()
    }

    fn write_runs(&self, runs: &[RunResult]) -> Result<(), OutputError> {
        let mut table = Table::create(&self.folder, "runs", self.format, RUNS)?;
        for run in runs {
            for metric in &run.metrics {
                let words = metric.subject.words();
                let [kind, subject, part] = words.each_ref().map(|word| Cell::Text(word));
                let value = Cell::Number(Some(metric.value).filter(|value| value.is_finite()));
                let (scheme, seed) = (Cell::Text(&run.scheme), Cell::Count(run.seed));
                table.push(&[scheme, seed, kind, subject, part, Cell::Text(metric.name), value])?;
            }
        }
        table.finish()
    }

    fn write_summary(&self, runs: &[RunResult]) -> Result<(), OutputError> {
        let mut table = Table::create(&self.folder, "summary", self.format, SUMMARY)?;
        for sample in samples(runs) {
            let words = sample.subject.words();
            let [kind, subject, part] = words.each_ref().map(|word| Cell::Text(word));
            let (stat, (sd, median)) = (sample.stat(), sample.spread());
            table.push(&[
                Cell::Text(sample.scheme),
                kind,
                subject,
                part,
                Cell::Text(sample.name),
                Cell::Count(stat.n),
                Cell::Number(Some(stat.mean)),
                Cell::Number(stat.ci95),
                Cell::Number(sd),
                Cell::Number(median),
            ])?;
        }
        table.finish()
    }
}

/// Writes a run's time series while it runs; in memory is only what is not yet a full part of the file.
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
    /// The disk is full, or the like; drop the writer then, and the unfinished file is gone.
    pub fn push(
        &mut self,
        time_s: f64,
        subject: &Subject,
        metric: &str,
        value: f64,
    ) -> Result<(), OutputError> {
        let words = subject.words();
        let [kind, name, part] = words.each_ref().map(|word| Cell::Text(word));
        let (scheme, seed) = (Cell::Text(&self.scheme), Cell::Count(self.seed));
        let (time, value) = (Cell::Number(Some(time_s)), Cell::Number(Some(value)));
        self.table.push(&[scheme, seed, time, kind, name, part, Cell::Text(metric), value])
    }

    /// Ends the file.
    ///
    /// # Errors
    /// What is left could not be written; the file is gone.
    pub fn finish(self) -> Result<(), OutputError> {
        self.table.finish()
    }
}

/// A scheme as part of a file's name: what is no letter, digit, `.`, `=` or `-` becomes `_`.
fn file_name(scheme: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || ['.', '=', '-'].contains(&c);
    scheme.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}
