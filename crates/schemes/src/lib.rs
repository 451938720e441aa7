//! Congestion control, scheduling, loss recovery and feedback for multipath SCTP. The crate also has the presets that
//! combine these parts.
//!
//! A scheme is named by a *spec*. A spec is the name of a preset with keys that change the preset, as in
//! `cmt,rtx=ssthresh`. [`presets`] lists the names, and [`Preset::keys`] lists the keys of a preset. [`parse_spec`]
//! reads a spec. For a wrong spec it returns an error of one line, which lists the possible values. A program applies a
//! scheme in two steps. If it leaves out the first step, the transport has other constants than the scheme needs:
//!
//! 1. [`Spec::tune`] sets the values of the transport's configuration that the scheme needs.
//! 2. [`Spec::build`] makes the scheme of one association. The scheme is passed to
//!    [`Connect::scheme`](strandcast_proto::endpoint::Connect::scheme). For associations that peers open,
//!    [`EndpointConfig::accept`](strandcast_proto::endpoint::EndpointConfig::accept) returns it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use strandcast_proto::config::TransportConfig;
//! use strandcast_proto::endpoint::EndpointConfig;
//! use strandcast_proto::seeds::Seeds;
//! use strandcast_schemes::parse_spec;
//!
//! let spec = parse_spec("cmt,rtx=ssthresh")?;
//! assert_eq!(spec.value("rtx").as_deref(), Some("ssthresh"));
//!
//! let mut transport = TransportConfig::default();
//! spec.tune(&mut transport);
//! let scheme = spec.build(&Seeds::new(1, 0));
//! assert_eq!(scheme.name(), "cmt");
//! let server = EndpointConfig {
//!     transport: Arc::new(transport),
//!     accept: Some(Arc::new(move |seeds| spec.build(seeds))),
//!     ..EndpointConfig::default()
//! };
//! assert!(server.accept.is_some());
//!
//! let wrong = parse_spec("cmt,rxt=same").unwrap_err().to_string();
//! assert!(wrong.contains("did you mean rtx"), "{wrong}");
//! # Ok::<(), strandcast_schemes::SpecError>(())
//! ```
//!
//! A program that runs any scheme without depending on this crate uses a
//! [`Catalog`](strandcast_keys::catalog::Catalog). [`Presets`] is the catalog of all presets. `docs/adding-a-scheme.md`
//! describes how to add a scheme in one file.
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

/// Example of the guide, which the documentation tests compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/adding-a-scheme.md")]
struct AddingAScheme;
