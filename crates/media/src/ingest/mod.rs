//! The sender's half: bytes of a transport stream in, messages with their send times out.

mod machine;
mod schedule;
#[cfg(test)]
mod tests;

pub use machine::{Ingest, IngestError, IngestStats};
