//! Effects of a signal on estimates and limits of paths.

use super::signal::Signal;

/// Paths whose estimates and limits a signal changes ([`Policy::moves`](super::Policy::moves)).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Moves {
    /// The signal changes nothing.
    Nothing,
    /// Only the estimates of the path in the signal change.
    Own,
    /// Estimates and limits of any path may change.
    All,
}

impl Moves {
    /// Returns the answer that is correct for most policies. Sent and acknowledged chunks change only their own path.
    /// Arrived packets and the peer's reports of arrivals change no path.
    #[inline]
    pub fn by(signal: &Signal<'_>) -> Moves {
        match signal {
            Signal::Arrived(_) | Signal::PeerArrivals(_) => Moves::Nothing,
            Signal::Sent(_) | Signal::Acked(_) => Moves::Own,
            _ => Moves::All,
        }
    }
}
