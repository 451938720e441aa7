//! Scenarios: networks, flows and background load in one readable file.

mod model;

pub use model::*;
