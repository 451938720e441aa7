//! Results as files: long tables in Parquet or CSV, and `result.json`.

mod columns;
mod file;
mod folder;
#[cfg(test)]
mod tests;

pub use columns::Format;
pub use file::OutputError;
pub use folder::{Output, SeriesWriter};
