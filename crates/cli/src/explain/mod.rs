//! `strandcast explain`: why a message or frame of a simulated flow was late.

mod json;
mod result;
mod run;
mod story;
#[cfg(test)]
mod tests;

pub(crate) use run::run;
