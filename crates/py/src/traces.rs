//! Reads traces in the formats that scenarios use.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use pyo3::prelude::*;
use strandcast_netem::link::Opportunities;
use strandcast_netem::number::{Trace, TraceError};

use crate::error;
use crate::results::Table;

/// Reads a trace with lines `seconds,value`. Its columns are `time_s` and `value`. Errors call the
/// trace `file`.
#[pyfunction]
pub(crate) fn csv_trace(py: Python<'_>, text: &str, file: &str) -> PyResult<Table> {
    let trace = Trace::from_csv(text).map_err(|e| wrong(py, file, &e))?;
    let columns = trace.points().iter().map(|(time, value)| (time.as_secs_f64(), *value)).unzip();
    Ok(table(columns))
}

/// Reads a mahimahi trace. Its columns are `time_s` and `value`, the number of bytes that may leave at
/// that time.
#[pyfunction]
pub(crate) fn mahimahi_trace(py: Python<'_>, text: &str, file: &str) -> PyResult<Table> {
    let trace = Opportunities::parse(text).map_err(|e| wrong(py, file, &e))?;
    let bytes = Opportunities::BYTES as f64;
    Ok(table(trace.moments().map(|time| (time.as_secs_f64(), bytes)).unzip()))
}

fn table((times, values): (Vec<f64>, Vec<f64>)) -> Table {
    let column = |numbers: Vec<f64>| Arc::new(Float64Array::from(numbers)) as ArrayRef;
    let columns = [("time_s", column(times)), ("value", column(values))];
    Table::one(RecordBatch::try_from_iter(columns).expect("both columns are equally long"))
}

fn wrong(py: Python<'_>, file: &str, error: &TraceError) -> PyErr {
    error::trace(py, file, error.line, &error.problem)
}
