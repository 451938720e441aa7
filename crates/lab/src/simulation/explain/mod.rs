//! Why a message was late: everything that happened to it, and to what it waited for.

mod account;
mod recorder;
mod span;
mod waits;
mod wanted;
mod why;

pub use account::{Account, FrameNote, Hold, Hop, MessageAccount, Outcome, Transmission};
pub use recorder::Explainer;
pub use wanted::{ExplainError, Wanted};
pub use why::{Cause, CauseKind};
