//! Results: meters of flows and links, summaries of runs, and files.

mod histogram;
pub mod meter;
mod model;
mod names;
#[cfg(feature = "tables")]
pub mod output;
mod remarks;
mod stat;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod topology;

pub use histogram::Histogram;
pub use model::{Diagnostic, Frame, Metric, RunResult, Subject, jain};
pub use names::{Across, DEFINITIONS, Definition, RARE, definition, is_rare, unit};
pub use remarks::remarks;
pub use stat::{FEWEST, Interval, Stat, clopper_pearson, deviation, holm, median, sign_test, t_975};
pub use summary::{
    Build, By, FlowStats, LinkStats, Origin, RunName, SCHEMA, ScenarioName, Speed, Stats, Summary,
};
pub use table::table;
pub use topology::{RadioMap, RouteKind, RouteTaken, Topology};
