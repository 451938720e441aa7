//! Kinds of slates.

use std::sync::Arc;

use super::clip::Clip;

/// Packets that the outputs get while no sender plays.
#[derive(Debug, Clone)]
pub enum Slate {
    /// Null packets, with the tables and the clock of the last sender.
    Null,
    /// A clip, again and again.
    Clip(Arc<Clip>),
}
