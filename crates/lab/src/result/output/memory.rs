//! Tables of results in memory, as Arrow columns.

use core::convert::Infallible;

use arrow_array::RecordBatch;

use super::columns::{Cell, Columns};
use super::rows::{
    FRAMES, RUNS, SERIES, SUMMARY, row_of_series, rows_of_frames, rows_of_runs, rows_of_summary,
};
use crate::result::{RunResult, Subject};

/// Content of `runs.parquet`: a row for each metric of each run.
pub fn runs_table(runs: &[RunResult]) -> RecordBatch {
    let mut columns = Columns::new(RUNS);
    never_fails(rows_of_runs(runs, |row| push(&mut columns, row)));
    columns.batch()
}

/// Content of `summary.parquet`. The table has a row for each metric of each scheme, over all runs of the scheme.
pub fn summary_table(runs: &[RunResult]) -> RecordBatch {
    let mut columns = Columns::new(SUMMARY);
    never_fails(rows_of_summary(runs, |row| push(&mut columns, row)));
    columns.batch()
}

/// Content of `frames.parquet`: a row for each frame of each video of each run.
pub fn frames_table(runs: &[RunResult]) -> RecordBatch {
    let mut columns = Columns::new(FRAMES);
    never_fails(rows_of_frames(runs, |row| push(&mut columns, row)));
    columns.batch()
}

/// Time series of a run in memory. The time series have the columns of a file in `series/`.
#[derive(Debug)]
pub struct SeriesTable {
    columns: Columns,
    scheme: String,
    seed: u64,
}

impl SeriesTable {
    /// Creates a table without rows.
    pub fn new(scheme: &str, seed: u64) -> Self {
        SeriesTable { columns: Columns::new(SERIES), scheme: scheme.into(), seed }
    }

    /// Adds a value at a time in seconds from the flows' time 0.
    pub fn push(&mut self, time_s: f64, subject: &Subject, metric: &str, value: f64) {
        let run = (&*self.scheme, self.seed);
        row_of_series(run, (time_s, subject, metric, value), |row| self.columns.push(row));
    }

    /// Returns the table.
    pub fn finish(mut self) -> RecordBatch {
        self.columns.batch()
    }
}

fn push(columns: &mut Columns, row: &[Cell<'_>]) -> Result<(), Infallible> {
    columns.push(row);
    Ok(())
}

fn never_fails(result: Result<(), Infallible>) {
    match result {
        Ok(()) => {}
        Err(never) => match never {},
    }
}
