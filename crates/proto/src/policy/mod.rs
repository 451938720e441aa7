//! The policy layer: what a scheme may learn ([`View`], [`Signal`]) and what it decides (the traits).
//!
//! Knowledge flows one way: signals → estimates → loss verdicts → limits → assignments. The core measures and
//! enforces room (window, aggregate, the peer's receive window); everything else is a policy's decision.

mod act;
mod advice;
mod arrivals;
mod driver;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod head_of_line;
mod importance;
mod parts;
mod path_views;
mod signal;
mod symbols;
mod tariff;
mod traits;
mod view;
mod waiting;

pub(crate) use act::Queued;
pub use act::{Act, Flight};
pub use advice::Advice;
pub use arrivals::{PathArrivals, PeerArrivals, PeerTime};
#[cfg(not(feature = "fixture"))]
pub(crate) use driver::Driver;
#[cfg(feature = "fixture")]
pub use driver::Driver;
pub use head_of_line::{Blocked, BlockedBy, HeadOfLine, HeadOfLineConfig, Holder, Rules};
pub use importance::{Head, Heads, Importance};
pub use parts::Parts;
#[cfg(not(feature = "fixture"))]
pub(crate) use path_views::PathViews;
#[cfg(feature = "fixture")]
pub use path_views::PathViews;
pub use signal::{
    AckInfo, ChunkInfo, HeartbeatInfo, Judged, LinkId, LinkSample, LossCause, LossTrigger, Report, RxInfo,
    Signal, Transmission,
};
pub use symbols::{
    BlockView, RepairOffer, Symbol, SymbolAssignment, SymbolChoice, SymbolKind, SymbolsInFlight,
};
pub use tariff::Tariff;
pub use traits::{
    AckDecision, Assignment, Backlog, CongestionControl, Feedback, LossPolicy, MOST_ACTS, MissScope,
    PathEstimator, Policy, Probe, Reach, ReportTrigger, Retransmit, Scheduler, Scheme,
};
pub use view::{Estimate, Limit, PathId, PathSet, PathState, PathView, QUEUE, View};
pub use waiting::{MOST_WAITING, Waiting};
