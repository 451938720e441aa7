//! Congestion control, scheduling, loss recovery and feedback for multipath SCTP, and the presets that combine them.
//!
//! [`parse_spec`] turns `cmt,rtx=ssthresh` into a scheme for one association. How to add a scheme in one file is told in
//! `docs/adding-a-scheme.md`.
#![forbid(unsafe_code)]

mod catalog;
pub mod combinations;
pub mod congestion;
mod error;
pub mod estimate;
pub mod feedback;
pub mod preset;
pub mod recovery;
mod registry;
pub mod schedule;
mod spec;

pub use catalog::Presets;
pub use congestion::{WindowSetup, congestion, congestions};
pub use error::SpecError;
pub use registry::{Key, Params, Preset, Values, lookup, presets};
pub use spec::{Spec, parse_spec, parse_spec_with};

/// The guide's example is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding-a-scheme.md")]
struct AddingAScheme;
