//! `strandcast explain`: why a message or frame of a simulated flow was late.

mod json;
mod result;
mod run;
mod story;
#[cfg(test)]
mod tests;
mod words;

pub use json::as_json;
pub(crate) use run::run;
pub use run::watch;
pub use story::story;
