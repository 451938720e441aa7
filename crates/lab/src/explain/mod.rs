//! Explanations of late messages and frames of a simulated flow. The run is repeated and traced. The explanation is
//! text or JSON.

mod dropped;
mod json;
#[cfg(test)]
mod tests;
mod text;
mod trace;
mod words;

pub use json::as_json;
pub use text::report;
pub use trace::trace_message;
