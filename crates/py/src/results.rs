//! Results and their tables. Consumers read the tables by Arrow's C data interface without a copy.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::SchemaRef;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use strandcast_lab::batch::Finished;
use strandcast_lab::result::output::{SeriesTable, frames_table, runs_table, summary_table};
use strandcast_lab::result::{Build, Origin};
use strandcast_lab::scenario::Scenario;

/// Identification of this build.
#[cfg(feature = "command")]
pub(crate) const BUILD: Build = strandcast_cli::BUILD;
#[cfg(not(feature = "command"))]
pub(crate) const BUILD: Build = Build { version: env!("CARGO_PKG_VERSION"), commit: None };

/// Results of runs.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct Results {
    finished: Finished,
    origin: Origin,
    scenario: Scenario,
}

#[pymethods]
impl Results {
    /// A row for each metric of each run.
    fn runs(&self) -> Table {
        Table::one(runs_table(&self.finished.runs))
    }

    /// A row for each metric of each scheme.
    fn summary(&self) -> Table {
        Table::one(summary_table(&self.finished.runs))
    }

    /// A row for each point of time of each metric.
    fn series(&self) -> Table {
        match self.finished.series.as_slice() {
            [] => Table::one(SeriesTable::new("", 0).finish()),
            [first, ..] => Table { schema: first.schema(), batches: self.finished.series.clone() },
        }
    }

    /// A row for each frame of each video of each run.
    fn frames(&self) -> Table {
        Table::one(frames_table(&self.finished.runs))
    }

    /// JSON as `simulate --json` prints it.
    fn json(&self) -> String {
        self.finished.summary(&self.scenario, &self.origin).json()
    }

    /// Scheme, seed and the run's fingerprint, of each run.
    fn fingerprints(&self) -> Vec<(&str, u64, String)> {
        let runs = self.finished.runs.iter();
        runs.map(|run| (&*run.scheme, run.seed, run.fingerprint.to_string())).collect()
    }

    /// Whole runs cannot be pickled, but their tables can.
    fn __reduce__(&self) -> PyResult<()> {
        let how = "pickle its tables (runs, summary, series, frames) or its json instead";
        Err(PyTypeError::new_err(format!("results of runs cannot be pickled: {how}")))
    }

    /// Processor time of all runs, seconds.
    fn time_s(&self) -> f64 {
        self.finished.time.as_secs_f64()
    }
}

impl Results {
    pub(crate) fn new(finished: Finished, origin: Origin, scenario: Scenario) -> Self {
        Results { finished, origin, scenario }
    }
}

/// A table for consumers of the Arrow C data interface.
#[pyclass(frozen, module = "strandcast._native")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn one(batch: RecordBatch) -> Self {
        Table { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    /// Arrow's C stream interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Arrow permits a producer to ignore the requested schema.
        drop(requested_schema);
        let batches = RecordBatchIterator::new(self.batches.clone().into_iter().map(Ok), self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}
