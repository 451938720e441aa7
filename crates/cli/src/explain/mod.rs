//! `strandcast explain`: why a message or frame of a simulated flow was late.

mod dropped;
mod json;
mod result;
mod run;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use json::as_json;
pub(crate) use run::run;
pub use run::trace_message;
pub use text::report;
