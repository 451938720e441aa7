//! Record of the history of a message, and of the messages for which it waited. The record explains the delay.

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
