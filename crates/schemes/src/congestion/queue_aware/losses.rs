//! Test whether losses depend on the window: the window is cut, and if the share of losses stays, the path itself
//! causes them.

use strandcast_proto::policy::AckInfo;
use strandcast_proto::wire::Tsn;

/// Loss share beyond the known one that a short queue does not explain.
const EXCESS: f64 = 0.03;
/// Least number of chunks over which a loss share is taken; it is also at least two windows.
const SAMPLE: u32 = 100;
/// Fewer losses than these may be chance.
pub(super) const CHANCE: u32 = 4;

/// Share of the path's chunks that are lost, and share that are lost at any window.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) acked: u32,
    pub(super) lost: u32,
    /// Loss share of the last whole sample.
    pub(super) share: f64,
    /// Lost by the path itself.
    pub(super) known: f64,
    pub(super) test: Option<Test>,
}

/// A test has reduced the window, to show whether losses decrease.
#[derive(Debug)]
pub(super) struct Test {
    /// Losses count from the acknowledgement of this TSN on.
    pub(super) after: Option<Tsn>,
    pub(super) share: f64,
    pub(super) cwnd: u64,
}

impl Losses {
    pub(super) fn restart(&mut self) {
        (self.acked, self.lost) = (0, 0);
    }

    /// The share in a sample that is not whole yet, half a sample at least.
    pub(super) fn so_far(&self) -> f64 {
        let total = self.acked.saturating_add(self.lost).max(SAMPLE / 2);
        if self.lost < CHANCE { 0.0 } else { f64::from(self.lost) / f64::from(total) }
    }

    /// The share of late.
    pub(super) fn recent(&self) -> f64 {
        self.share.max(self.so_far())
    }

    /// Returns whether `share` is more than the path is known to lose.
    pub(super) fn excessive(&self, share: f64) -> bool {
        share > self.known * 1.5 + EXCESS
    }

    /// Window to restore when a test has shown that losses do not depend on the window.
    pub(super) fn on_acked(&mut self, ack: &AckInfo, window_chunks: u32) -> Option<u64> {
        if let Some(Test { after: after @ Some(_), .. }) = &mut self.test {
            if after.is_some_and(|t| ack.highest_newly_acked.is_some_and(|h| h.is_after(t))) {
                *after = None;
                self.restart();
            }
            return None;
        }
        self.acked = self.acked.saturating_add(ack.newly_acked_chunks);
        let total = self.acked.saturating_add(self.lost);
        if total < SAMPLE.max(window_chunks.saturating_mul(2)) {
            return None;
        }
        self.share = f64::from(self.lost) / f64::from(total);
        self.restart();
        match self.test.take() {
            Some(test) if self.share > test.share / 2.0 => {
                self.known = self.share.min(test.share).max(self.known);
                Some(test.cwnd)
            }
            _ => {
                self.known = self.known.min(self.share.max(self.known * 0.9));
                None
            }
        }
    }
}

/// A queue that slow start has filled loses many chunks of one window, a radio one or two: the window is cut once there
/// are [`CHANCE`].
#[derive(Debug)]
pub(super) struct Suspicion {
    /// The window in question ends with the acknowledgement of this TSN.
    pub highest: Tsn,
    /// Threshold if the suspicion holds.
    pub ssthresh: u64,
    pub lost: u32,
}
