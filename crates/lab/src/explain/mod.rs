//! Explanations of late messages and frames of a simulated flow: the run is repeated and traced, and the explanation is
//! written as text or JSON.

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
