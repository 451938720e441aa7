//! Hash that names the scenario of a result.

use sha2::{Digest, Sha256};

use super::model::Scenario;
use super::value::hex;

/// SHA-256 in hexadecimal digits of all that a scenario says, defaults included, and of the contents of its traces: the
/// same however the file is written and wherever it lies.
pub fn hash(scenario: &Scenario) -> String {
    let text = serde_json::to_vec(scenario).expect("a scenario has string keys only");
    hex(&Sha256::digest(&text))
}
