//! The sender's half: bytes of a transport stream in, messages with their send times out.

mod machine;
#[cfg(test)]
mod tests;

pub use machine::{Ingest, IngestError, IngestStats};
