//! The policy layer: what a scheme may learn ([`View`], [`Signal`]) and what it decides (the traits).
//!
//! Knowledge flows one way: signals → estimates → loss verdicts → limits → assignments. The core measures and
//! enforces room (window, aggregate, the peer's receive window); everything else is a policy's decision.

#[cfg(any(test, feature = "contract"))]
pub mod contract;
mod driver;
mod head_of_line;
mod parts;
mod path_views;
mod signal;
mod symbols;
mod traits;
mod view;

pub(crate) use driver::Driver;
pub use head_of_line::{Blocked, BlockedBy, HeadOfLine, HeadOfLineConfig, Holder, Rules};
pub use parts::Parts;
pub(crate) use path_views::PathViews;
pub use signal::{
    AckInfo, ChunkInfo, HeartbeatInfo, LinkId, LinkSample, LossCause, LossTrigger, Report, RxInfo, Signal,
    Transmission,
};
pub use symbols::{
    BlockView, RepairOffer, Symbol, SymbolAssignment, SymbolChoice, SymbolKind, SymbolsInFlight,
};
pub use traits::{
    AckDecision, Assignment, Backlog, CongestionControl, Feedback, LossPolicy, MissScope, PathEstimator,
    Policy, Probe, Reach, ReportTrigger, Retransmit, Scheduler, Scheme,
};
pub use view::{Estimate, Limit, PathId, PathSet, PathState, PathView, QUEUE, View};
