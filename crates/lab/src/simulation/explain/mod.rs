//! Why a message was late: everything that happened to it, and to what it waited for.

mod blocks;
mod covered;
mod explanation;
mod query;
mod recorder;
mod span;
mod waits;
mod why;

pub use explanation::{Explanation, FrameInfo, Hold, Hop, MessageTrace, Outcome, Transmission};
pub use query::{ExplainError, Query};
pub use recorder::Explainer;
pub use why::{Cause, CauseKind};
