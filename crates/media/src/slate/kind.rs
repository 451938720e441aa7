//! Kinds of slates.

use std::sync::Arc;

use super::clip::Clip;

/// Packets that the outputs receive while no sender plays.
#[derive(Debug, Clone)]
pub enum Slate {
    /// Null packets, with the tables and the clock of the last sender.
    Null,
    /// A clip that is repeated.
    Clip(Arc<Clip>),
}
