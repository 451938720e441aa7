//! Jitter of the length of the primary path's retransmission queue (RAF-rtx of Cao et al. 2016, section 2.3).
//!
//! | paper | here |
//! |---|---|
//! | Q, the retransmission count, 0 ≤ Q ≤ cwnd | [`RetransmissionQueue::lost`], [`RetransmissionQueue::acked`], [`RetransmissionQueue::abandoned`] |
//! | eqs 13, 14: Q's distance from its mean, in units of its range | [`RetransmissionQueue::sample`], by [`Deviation`] |
//! | eq. 15: positive and rising | [`RetransmissionQueue::unreliable`] |
//!
//! `ASSUMED`: Q is the number of chunks that wait in the retransmission queue, plus the chunks that were sent from it
//! and are not yet acknowledged. A sample is taken with each SACK. m is 20 (key `m`).

use strandcast_proto::policy::ChunkInfo;

use super::Deviation;

/// Q and its jitter.
#[derive(Clone, Debug)]
pub struct RetransmissionQueue {
    count: u32,
    deviation: Deviation,
}

impl RetransmissionQueue {
    /// Makes the state. The jitter is computed over the last `m` samples.
    pub fn new(m: usize) -> Self {
        RetransmissionQueue { count: 0, deviation: Deviation::new(m) }
    }

    /// Records that a chunk was lost. A chunk that is lost again is already in the queue.
    pub fn lost(&mut self, chunk: &ChunkInfo) {
        self.count = self.count.saturating_add(u32::from(chunk.losses == 1));
    }

    /// Records that this number of chunks from the queue was acknowledged.
    pub fn acked(&mut self, chunks: u32) {
        self.count = self.count.saturating_sub(chunks);
    }

    /// Records that a chunk will not be sent again.
    pub fn abandoned(&mut self, chunk: &ChunkInfo) {
        self.count = self.count.saturating_sub(u32::from(chunk.losses > 0));
    }

    /// Adds a sample of Q, which is limited to `window` chunks.
    pub fn sample(&mut self, window: u64) {
        self.deviation.push(self.count.min(u32::try_from(window).unwrap_or(u32::MAX)).into());
    }

    /// Returns whether the path's condition is unreliable.
    pub fn unreliable(&self) -> bool {
        self.deviation.unreliable()
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::policy::fixture::chunk;

    use super::*;

    /// Returns the verdict after each sample of Q. The samples have the values `counts`.
    fn verdicts(counts: &[u32]) -> Vec<bool> {
        let mut queue = RetransmissionQueue::new(20);
        let mut after = |q: &u32| {
            queue.count = *q;
            queue.sample(1000);
            queue.unreliable()
        };
        counts.iter().map(&mut after).collect()
    }

    #[test]
    fn eqs_13_to_15_by_hand() {
        assert_eq!(verdicts(&[0, 1, 0, 3]), [false, true, false, true], "0, 1/2, -1/3, 2/3");
        assert_eq!(verdicts(&[0, 0, 1, 3]), [false, false, true, false], "0, 0, 2/3, 2/3: not rising");
        assert_eq!(verdicts(&[3, 1, 0, 0]), [false; 4], "0, -1/2, -4/9, -1/3: rising, but negative");
        assert_eq!(verdicts(&[2; 30]), [false; 30], "max = min");
    }

    #[test]
    fn the_queue_holds_what_was_lost_and_is_not_settled() {
        let mut queue = RetransmissionQueue::new(20);
        let again = |losses| ChunkInfo { losses, ..chunk(7, &[0]) };
        queue.lost(&again(1));
        queue.lost(&again(1));
        queue.lost(&again(2));
        assert_eq!(queue.count, 2, "one of them was lost twice");
        queue.abandoned(&again(2));
        queue.abandoned(&again(0));
        assert_eq!(queue.count, 1, "what was never lost was not in it");
        queue.acked(5);
        assert_eq!(queue.count, 0);
    }

    /// Section 2.3 requires 0 ≤ Q ≤ cwnd.
    #[test]
    fn no_more_than_a_window_counts() {
        let mut queue = RetransmissionQueue::new(20);
        let mut sample = |count, window| {
            queue.count = count;
            queue.sample(window);
            queue.unreliable()
        };
        assert!(!sample(4, 4));
        assert!(!sample(9, 4), "4 again");
        assert!(sample(9, 9));
    }
}
