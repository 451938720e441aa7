//! Scenarios: networks, flows and background load in one readable file.

mod constants;
mod document;
mod error;
mod files;
mod hash;
mod input;
mod keys;
mod model;
mod number;
mod profiles;
mod read;
mod reference;
mod route;
mod schema;
mod set;
mod table;
mod traces;
mod tree;
mod units;
mod warning;
mod written;

pub use document::{Document, load, parse};
pub use error::ScenarioError;
pub use hash::hash;
pub use input::{LARGEST_SCENARIO, LARGEST_TRACE};
pub use model::*;
pub use profiles::sctp as sctp_profile;
pub use reference::reference;
pub use route::{Hop, WayError};
pub use schema::schema;
pub use units::amount;
pub use warning::Warning;
pub use written::written;
