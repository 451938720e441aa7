//! Record of a message's history and of the messages for which it waited, which explains its delay.

mod blocks;
mod covered;
mod explanation;
mod query;
mod recorder;
mod span;
mod waits;
mod why;

pub use explanation::{DropTrace, Explanation, Hold, Hop, MessageTrace, Outcome, PathStanding, Transmission};
pub use query::{ExplainError, FrameInfo, Query};
pub use recorder::Explainer;
pub use why::{Cause, CauseKind};
