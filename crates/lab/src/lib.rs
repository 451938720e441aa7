//! The lab reads scenario files, builds and runs the simulations that they describe, and measures the results. The
//! caller passes the schemes.
//!
//! A scenario goes through these calls. Each of them takes the result of the previous one:
//!
//! 1. [`scenario::Document::open`] or [`scenario::parse`] reads the scenario. An error is one line with file, line and
//!    key.
//! 2. [`check::check`] analyses the network before a run, and warns of numbers that look wrong.
//! 3. [`simulation::Simulation::new`] builds the simulation for one seed, with schemes from a
//!    [`Catalog`](strandcast_keys::catalog::Catalog). [`run`](simulation::Simulation::run) returns a
//!    [`result::RunResult`]. A `batch::Batch` makes many runs on several threads.
//! 4. [`result::Summary`] summarises runs, and [`result::table`] prints the summary. With the feature `tables` (on by
//!    default), `result::output` writes Parquet and CSV.
//! 5. [`explain::trace_message`] repeats a run and finds the reason why a message or frame was late.
//!
//! If scenario, scheme, seed and [`RESULTS_EPOCH`] are equal, the fingerprint is equal on every machine, with any
//! number of threads.
//!
//! ```
//! use std::path::Path;
//!
//! use strandcast_lab::result::Subject;
//! use strandcast_lab::scenario::parse;
//! use strandcast_lab::simulation::{RunOptions, Simulation};
//! use strandcast_schemes::Presets;
//!
//! let text = r#"
//!     run = { time = "10 s" }
//!     nodes = { camera = {}, studio = {} }
//!     [links.wifi]
//!     from = "camera"
//!     to = "studio"
//!     rate = "4 Mbit/s"
//!     delay = "15 ms"
//!     [links.lte]
//!     from = "camera"
//!     to = "studio"
//!     rate = "3 Mbit/s"
//!     delay = "50 ms"
//!     [flows.video]
//!     from = "camera"
//!     to = "studio"
//!     transport = "sctp"
//!     scheme = "cmt"
//!     app = { kind = "bulk" }
//!     paths = { wifi = { via = ["wifi"] }, lte = { via = ["lte"] } }
//! "#;
//! let scenario = parse(text, "two links", Path::new(""), &[])?;
//! let mut simulation = Simulation::new(&scenario, &Presets, 1, None)?;
//! let result = simulation.run(RunOptions::default(), &mut ()).expect("no caller ends it early");
//! let video = Subject::Flow("video".into());
//! let goodput = result.metrics.iter().find(|m| m.subject == video && m.name == "goodput_bps");
//! let goodput = goodput.ok_or("no goodput")?.value;
//! assert!((5e6..7e6).contains(&goodput), "{goodput}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(feature = "tables")]
pub mod batch;
pub mod check;
pub mod explain;
pub mod listing;
pub mod result;
pub mod scenario;
pub mod simulation;

/// Number of the results epoch. Two results of the same scenario, scheme and seed are comparable only if they belong to
/// the same epoch. The number rises when the fingerprint or the metrics of a golden run change. It also rises when the
/// results of other runs change. `tests/it/golden.rs` enforces this rule, and `tests/epochs.txt` lists the epochs.
pub const RESULTS_EPOCH: u32 = 18;
