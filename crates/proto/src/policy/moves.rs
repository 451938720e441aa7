//! Effects of a signal.

use super::signal::Signal;

/// The paths whose estimates and limits a signal changes ([`Policy::moves`](super::Policy::moves)).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Moves {
    /// No path.
    Nothing,
    /// Only the estimates of the signal's own path change.
    Own,
    /// Estimates and limits of other paths may change as well.
    All,
}

impl Moves {
    /// Returns the answer of most policies: sent and acknowledged chunks change only their own path, and arrivals and
    /// reports of the peer's arrivals change no path.
    #[inline]
    pub fn by(signal: &Signal<'_>) -> Moves {
        match signal {
            Signal::Arrived(_) | Signal::PeerArrivals(_) => Moves::Nothing,
            Signal::Sent(_) | Signal::Acked(_) => Moves::Own,
            _ => Moves::All,
        }
    }
}
