//! A token bucket that drops packets beyond its rate.

use strandcast_proto::time::Instant;

/// Tokens of one byte, where a token is 1 bit/s for 1 ns.
const BYTE: u128 = 8 * 1_000_000_000;

/// A policer before a link's queue: it drops packets beyond its rate and burst, and no packet waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// Rate at which tokens are added, in bit/s; above 0.
    pub rate: u64,
    /// Bytes that may pass at once after a pause; a longer packet never passes. Above 0.
    pub burst: u64,
}

/// Tokens of a policer, in bit · ns per second, full at the start.
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

    /// Returns whether a packet of `len` bytes passes. If it passes, its tokens are removed.
    pub fn passes(&mut self, now: Instant, len: usize) -> bool {
        let more = u128::from(self.policer.rate) * (now - self.filled).as_nanos();
        self.tokens = (self.tokens + more).min(u128::from(self.policer.burst) * BYTE);
        self.filled = now;
        let Some(left) = self.tokens.checked_sub(len as u128 * BYTE) else { return false };
        self.tokens = left;
        true
    }
}
