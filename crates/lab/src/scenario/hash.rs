//! Hash that identifies the scenario of a result.

use sha2::{Digest, Sha256};

use super::model::Scenario;
use super::value::hex;

/// SHA-256 in hexadecimal digits. It covers the complete scenario with defaults, and the contents of its traces. The
/// hash depends neither on the formatting nor on the folder of the file.
pub fn hash(scenario: &Scenario) -> String {
    let text = serde_json::to_vec(scenario).expect("a scenario has string keys only");
    hex(&Sha256::digest(&text))
}
