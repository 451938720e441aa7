//! Statistics over runs, with the same numbers as the tables of the command.

use pyo3::prelude::*;
use strandcast_lab::result::{Across, DEFINITIONS, Stat, deviation, holm, sign_test};

/// Returns `n, mean, ci95, sd, median, low, high, nonzero, equal` of at least one number.
/// `Result.summary` has columns with these names.
type Numbers = (u64, f64, Option<f64>, Option<f64>, f64, f64, f64, u64, u64);

/// Metrics that are 0 in many runs.
pub(crate) const RARE: (&str, &str, &str) = match strandcast_lab::result::RARE {
    [a, b, c] => (a, b, c),
    _ => panic!("there are three"),
};

/// Returns the summary over runs, or `None` if there are no runs.
#[pyfunction]
pub(crate) fn stat(values: Vec<f64>) -> Option<Numbers> {
    let Stat { mean, ci95, n, median, low, high, nonzero, equal, .. } = Stat::of(&values)?;
    Some((n, mean, ci95, deviation(&values), median, low, high, nonzero, equal))
}

/// Returns the results of the sign test for each list of differences. They are corrected for the number
/// of lists (Holm).
#[pyfunction]
pub(crate) fn sign_tests(differences: Vec<Vec<f64>>) -> Vec<f64> {
    holm(&differences.iter().map(|one| sign_test(one)).collect::<Vec<_>>())
}

/// Returns the unit of a metric. The text is empty for a count or a share.
#[pyfunction]
pub(crate) fn unit(name: &str) -> &'static str {
    strandcast_lab::result::unit(name)
}

/// Returns every metric: its name, its unit, how the values of similar flows are combined, and its
/// meaning.
#[pyfunction]
pub(crate) fn metrics() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    let together = |across| match across {
        Across::Sum => "sum",
        Across::Mean => "mean",
        Across::Max => "max",
    };
    DEFINITIONS.iter().map(|one| (one.name, unit(one.name), together(one.across), one.meaning)).collect()
}
