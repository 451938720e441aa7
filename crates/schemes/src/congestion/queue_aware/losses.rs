//! Test whether losses depend on the window. The test reduces the window. If the share of losses does not change, the
//! path causes the losses.

use strandcast_proto::policy::AckInfo;
use strandcast_proto::wire::Tsn;

/// Excess of the loss share over the known share. A larger excess shows a full queue, even if that queue is short.
const EXCESS: f64 = 0.03;
/// Least number of chunks over which a loss share is measured. The number is also at least two windows.
const SAMPLE: u32 = 100;
/// Number of losses below which losses may be chance.
pub(super) const CHANCE: u32 = 4;

/// Share of the path's chunks that are lost, and the share that is lost at any size of the window.
#[derive(Debug, Default)]
pub(super) struct Losses {
    pub(super) acked: u32,
    pub(super) lost: u32,
    /// Loss share of the last whole sample.
    pub(super) share: f64,
    /// Share that the path loses at any size of the window.
    pub(super) known: f64,
    pub(super) test: Option<Test>,
}

/// A running test. The test has reduced the window to find out whether losses decrease.
#[derive(Debug)]
pub(super) struct Test {
    /// TSN of a chunk. Once it is acknowledged, losses count for the test.
    pub(super) after: Option<Tsn>,
    pub(super) share: f64,
    pub(super) cwnd: u64,
}

impl Losses {
    pub(super) fn restart(&mut self) {
        (self.acked, self.lost) = (0, 0);
    }

    /// Loss share of an unfinished sample. The sample counts as at least half of a full sample.
    pub(super) fn so_far(&self) -> f64 {
        let total = self.acked.saturating_add(self.lost).max(SAMPLE / 2);
        if self.lost < CHANCE { 0.0 } else { f64::from(self.lost) / f64::from(total) }
    }

    /// Recent loss share.
    pub(super) fn recent(&self) -> f64 {
        self.share.max(self.so_far())
    }

    /// Returns whether `share` exceeds the share that the path is known to lose.
    pub(super) fn excessive(&self, share: f64) -> bool {
        share > self.known * 1.5 + EXCESS
    }

    /// Evaluates an acknowledgement. If a test has shown that losses do not depend on the window, returns the window to
    /// restore.
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

/// Losses in a window of slow start whose cause is not known yet. If slow start has filled a queue, the queue loses
/// many chunks of one window. A radio loses one or two chunks. The window is reduced once [`CHANCE`] chunks are lost.
#[derive(Debug)]
pub(super) struct Suspicion {
    /// TSN whose acknowledgement ends the window in question.
    pub highest: Tsn,
    /// Threshold if the queue was full.
    pub ssthresh: u64,
    pub lost: u32,
}
