//! A scenario at work: its network is built, run and measured.

mod build;
mod endpoints;
mod explain;
mod ledger;
mod links;
mod meters;
mod names;
mod plan;
mod run;
mod source;
mod tcp;
mod trace;
mod values;
mod video;

pub use build::{BuildError, Simulation};
pub use endpoints::transport;
pub use explain::{
    Account, Cause, CauseKind, ExplainError, Explainer, FrameNote, Hold, Hop, MessageAccount, Outcome,
    Transmission, Wanted,
};
pub use links::link_config;
pub use meters::{Meters, Recorder};
pub use names::Names;
pub use run::{Control, RunOptions};
pub use trace::Trace;
