//! The report of a trial: a stream whose two ends are in one process, over links with known properties.
//!
//! The program that made the trial fills a [`Summary`] and a [`Recording`]. [`Summary::html`] makes the page, and
//! [`Summary::lines`] the lines of text for a terminal. The command's demo is such a program.

mod data;
mod lines;
mod page;
mod plots;
#[cfg(test)]
mod tests;

pub use data::{CodingSample, PathReport, PathSample, Recording, Sample, Summary, Verdicts};
