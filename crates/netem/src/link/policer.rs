//! Policer: a token bucket that drops packets that exceed its rate.

use strandcast_proto::time::Instant;

/// Number of tokens for one byte. A token is 1 bit/s for 1 ns.
const BYTE: u128 = 8 * 1_000_000_000;

/// A policer that precedes a link's queue. The policer drops packets that exceed its rate and burst, and delays no
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// Rate in bit/s at which tokens are added. The rate must be above 0.
    pub rate: u64,
    /// Number of bytes that may pass at one time after an idle time. A longer packet never passes. The permitted number
    /// of bytes must be above 0.
    pub burst: u64,
}

/// Tokens of a policer, in bit · ns per second. The bucket is full at the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    policer: Policer,
    tokens: u128,
    filled: Instant,
}

impl Bucket {
    pub fn new(policer: Policer) -> Self {
        Bucket { policer, tokens: u128::from(policer.burst) * BYTE, filled: Instant::ZERO }
    }

    /// Returns whether a packet of `len` bytes passes the policer. If the packet passes, its tokens are removed.
    pub fn passes(&mut self, now: Instant, len: usize) -> bool {
        let more = u128::from(self.policer.rate) * (now - self.filled).as_nanos();
        self.tokens = (self.tokens + more).min(u128::from(self.policer.burst) * BYTE);
        self.filled = now;
        let Some(left) = self.tokens.checked_sub(len as u128 * BYTE) else { return false };
        self.tokens = left;
        true
    }
}
