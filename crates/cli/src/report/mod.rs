//! Reports of the demo and of streams. A report is one HTML file that contains everything, with plots as inline SVG,
//! and is readable in light and dark mode.

mod axis;
mod chart;
mod data;
mod ends;
mod page;
mod plots;
mod points;
mod run;
mod stream;
mod stream_page;
#[cfg(test)]
mod tests;

pub(crate) use data::{CodingSample, Failure, PathReport, PathSample, Recording, Sample, Summary, Verdicts};
pub(crate) use page::html;
pub(crate) use run::run;
