//! Congestion control, scheduling, loss recovery and feedback for multipath SCTP, and the presets that combine them.
//!
//! [`parse_spec`] turns `cmt,rtx=ssthresh` into a scheme for one association. `docs/adding-a-scheme.md` describes how to add a
//! scheme in one file.
#![forbid(unsafe_code)]

pub mod advice;
mod catalog;
pub mod combinations;
pub mod congestion;
mod connection;
mod error;
pub mod estimate;
pub mod feedback;
mod pairs;
mod part;
pub mod preset;
pub mod recovery;
mod registry;
pub mod schedule;
mod scheme;
mod shelf;
mod spec;

pub use catalog::Presets;
pub use congestion::{WindowSetup, congestion, congestions};
pub use connection::{scheduler, window_and_scheduler};
pub use error::SpecError;
pub use registry::{lookup, presets};
pub use scheme::{Listed, PartName, Preset, Settings};
pub use spec::{Spec, parse_spec, parse_spec_with};
pub use strandcast_keys::{BadValue, Key, Keyed, Values, keys, words};

/// The guide's example is compiled and run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding-a-scheme.md")]
struct AddingAScheme;
