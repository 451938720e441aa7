//! The sender's half, which turns bytes of a transport stream into messages with send times.

mod machine;
mod schedule;
#[cfg(test)]
mod tests;

pub use machine::{Ingest, IngestError, IngestStats};
