//! Statistics over runs: the same numbers as in the command's tables.

use pyo3::prelude::*;
use strandcast_lab::result::{Across, DEFINITIONS, Stat, deviation, holm, sign_test};

/// `n, mean, ci95, sd, median, low, high, nonzero, equal` of at least one number. `Result.summary` has
/// columns with these names.
type Numbers = (u64, f64, Option<f64>, Option<f64>, f64, f64, f64, u64, u64);

/// Metrics that are 0 in many runs.
pub(crate) const RARE: (&str, &str, &str) = match strandcast_lab::result::RARE {
    [a, b, c] => (a, b, c),
    _ => panic!("there are three"),
};

/// Runs summed up; `None` of none.
#[pyfunction]
pub(crate) fn stat(values: Vec<f64>) -> Option<Numbers> {
    let Stat { mean, ci95, n, median, low, high, nonzero, equal, .. } = Stat::of(&values)?;
    Some((n, mean, ci95, deviation(&values), median, low, high, nonzero, equal))
}

/// The sign test of each list of differences, corrected for their number (Holm).
#[pyfunction]
pub(crate) fn sign_tests(differences: Vec<Vec<f64>>) -> Vec<f64> {
    holm(&differences.iter().map(|one| sign_test(one)).collect::<Vec<_>>())
}

/// A metric's unit; empty: a count or a share.
#[pyfunction]
pub(crate) fn unit(name: &str) -> &'static str {
    strandcast_lab::result::unit(name)
}

/// Every metric: its name, its unit, how flows alike are taken together, and what it counts.
#[pyfunction]
pub(crate) fn metrics() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let together = |across| match across {
        Across::Sum => "sum",
        Across::Mean => "mean",
        Across::Max => "max",
    };
    DEFINITIONS.iter().map(|one| (one.name, unit(one.name), together(one.across), one.meaning)).collect()
}
