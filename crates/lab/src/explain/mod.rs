//! Why a message or frame of a simulated flow was late: the run is repeated and traced, and told as text or JSON.

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
