//! Simulation of a scenario: its network is built, run and measured.

mod build;
mod byte_ledger;
mod emulation;
mod endpoints;
mod error;
mod explain;
mod links;
mod metrics;
mod names;
mod outages;
mod packets;
mod plan;
mod radios;
mod routes;
mod run;
mod source;
mod survey;
mod tcp;
mod trace;
mod values;
mod video;

pub use build::Simulation;
pub use emulation::{Emulation, End};
pub use endpoints::transport;
pub use error::BuildError;
pub use explain::{
    Cause, CauseKind, DropTrace, ExplainError, Explainer, Explanation, FrameInfo, Hold, Hop, MessageTrace,
    Outcome, PathStanding, Query, Transmission,
};
pub use links::link_config;
pub use metrics::{Metrics, Recorder};
pub use names::Names;
pub use packets::{PacketSink, Packets};
pub use run::{Control, RunOptions};
pub use survey::RadioSurvey;
pub use trace::Trace;
