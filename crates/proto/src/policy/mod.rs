//! The policy layer: the input of a scheme ([`View`], [`Signal`]) and the scheme's decisions (the traits).
//!
//! Information flows in one direction: signals → estimates → loss verdicts → limits → assignments. The core measures.
//! The core also enforces the limits of data in flight: windows, the limit over all paths, and the peer's receive
//! window. Policies decide everything else.

mod act;
mod advice;
mod arrivals;
mod blocked;
mod driver;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
mod give_up;
mod head_of_line;
mod ids;
mod importance;
mod miss_scope;
mod moves;
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
pub use blocked::{Blocked, BlockedBy};
#[cfg(not(feature = "fixture"))]
pub(crate) use driver::Driver;
#[cfg(feature = "fixture")]
pub use driver::Driver;
pub use give_up::GiveUp;
pub use head_of_line::{HeadOfLine, HeadOfLineConfig, Holder, Rules};
pub use ids::{LinkId, PathId, PathSet};
pub use importance::{Heads, Importance, MessageHead};
pub use miss_scope::{MissScope, Reach};
pub use moves::Moves;
pub use parts::Parts;
#[cfg(not(feature = "fixture"))]
pub(crate) use path_views::PathViews;
#[cfg(feature = "fixture")]
pub use path_views::PathViews;
pub use signal::{
    AckInfo, ChunkInfo, DeclaredLost, HeartbeatInfo, LinkSample, LossCause, LossTrigger, Report, RxInfo,
    Signal, Transmission,
};
pub use symbols::{
    BlockView, RepairOffer, Symbol, SymbolAssignment, SymbolChoice, SymbolKind, SymbolsInFlight,
};
pub use tariff::Tariff;
pub use traits::{
    AckDecision, Assignment, Backlog, CongestionControl, Feedback, LossPolicy, MOST_ACTS, PathEstimator,
    Policy, Probe, ReportTrigger, Retransmit, Scheduler, Scheme,
};
pub use view::{Estimate, Limit, PathState, PathView, QUEUE, SILENCE, SUSPECTED, View};
pub use waiting::{MOST_WAITING, Waiting};
