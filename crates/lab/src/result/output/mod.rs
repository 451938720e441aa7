//! Results as files: long tables in Parquet or CSV, and `result.json`.

mod columns;
mod file;
mod folder;
mod memory;
mod rows;
#[cfg(test)]
mod tests;

pub use arrow_array::RecordBatch;
pub use columns::Format;
pub use file::OutputError;
pub use folder::{Output, SeriesWriter};
pub use memory::{SeriesTable, frames_table, runs_table, summary_table};
