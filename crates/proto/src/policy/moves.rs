//! What a signal changes.

use super::signal::Signal;

/// Of which paths a signal changes what is estimated and allowed ([`Policy::moves`](super::Policy::moves)).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Moves {
    /// Of none.
    Nothing,
    /// Of the signal's own path alone.
    Own,
    /// Of others, too.
    All,
}

impl Moves {
    /// What most policies answer: what left and what was acknowledged moves its own path, what arrived moves none.
    pub fn by(signal: &Signal<'_>) -> Moves {
        match signal {
            Signal::Arrived(_) => Moves::Nothing,
            Signal::Sent(_) | Signal::Acked(_) => Moves::Own,
            _ => Moves::All,
        }
    }
}
