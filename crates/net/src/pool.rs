//! Receive buffers. Datagrams are slices of large buffers, called arenas, and are not copied. An arena is used again
//! once its last slice is dropped.
//!
//! The kernel writes a batch to the free space of the current arena. The batch is split off as [`BytesMut`]. If the
//! batch is sealed, it is decrypted in place. The batch is then converted to [`bytes::Bytes`], and the transport cuts
//! it into slices for the application. A full arena waits in a queue until all of its slices are dropped, and is then
//! used again. In normal operation, no memory is therefore allocated. One slice keeps its whole arena in memory (256
//! KiB). A caller that keeps bytes for a long time should therefore copy them. The transport copies data while
//! [`RecvPool::is_scarce`] is true.

use std::collections::VecDeque;

use bytes::BytesMut;

/// Room for the longest batch. UDP's length field has 16 bits, and generic receive offload does not exceed it.
const SLOT: usize = 1 << 16;
/// Bytes per arena. An arena has room for four full batches, and is small enough to stay in the cache of a processor
/// core.
const ARENA: usize = 4 * SLOT;
/// Maximum number of arenas that slices may keep in memory. The total is 8 MiB. A total of 8 MiB is more than the
/// receive window and the playout buffer of one stream need.
const MAX_RETAINED_ARENAS: usize = 32;

/// The receive buffers of one driver. Several sockets may share them.
#[derive(Debug, Default)]
pub struct RecvPool {
    current: BytesMut,
    /// Full arenas that slices may still use.
    retired: VecDeque<BytesMut>,
    /// Full arenas that no slice uses.
    free: Vec<BytesMut>,
    allocated: u64,
}

impl RecvPool {
    /// An empty pool. The first arena is allocated when something is received.
    pub fn new() -> Self {
        RecvPool::default()
    }

    /// Number of arenas that were allocated. It does not change while slices are dropped as fast as datagrams arrive.
    pub fn arenas_allocated(&self) -> u64 {
        self.allocated
    }

    /// Returns whether slices keep most arenas in memory. Received data should then be copied if it is kept.
    pub fn is_scarce(&self) -> bool {
        self.retired.len() >= MAX_RETAINED_ARENAS
    }

    /// Returns room for the next batch.
    pub(crate) fn slot(&mut self) -> &mut [u8] {
        if self.current.capacity() < SLOT {
            self.next_arena();
        }
        // Zeroes only the bytes of the last batch, because the bytes before them are already initialised and still
        // empty.
        self.current.resize(SLOT, 0);
        &mut self.current
    }

    /// Splits off the first `len` bytes of the slot, which was just filled.
    pub(crate) fn take(&mut self, len: usize) -> BytesMut {
        self.current.split_to(len)
    }

    /// Moves the current arena to the queue of full arenas. Then continues with a free arena or a new one.
    fn next_arena(&mut self) {
        if self.allocated > 0 {
            let mut full = std::mem::take(&mut self.current);
            full.clear();
            self.retired.push_back(full);
        }
        for _ in 0..self.retired.len() {
            let mut arena = self.retired.pop_front().expect("the loop runs at most once for each");
            if arena.try_reclaim(ARENA) {
                self.free.push(arena);
            } else {
                self.retired.push_back(arena);
            }
        }
        if let Some(arena) = self.free.pop() {
            self.free.truncate(MAX_RETAINED_ARENAS.saturating_sub(self.retired.len()));
            self.current = arena;
            return;
        }
        self.allocated += 1;
        self.current = BytesMut::with_capacity(ARENA);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    /// Receives a batch whose bytes are all `fill`.
    fn receive(pool: &mut RecvPool, fill: u8, len: usize) -> Bytes {
        pool.slot()[..len].fill(fill);
        pool.take(len).freeze()
    }

    #[test]
    fn batches_keep_their_bytes_while_later_ones_arrive() {
        let mut pool = RecvPool::new();
        let kept: Vec<Bytes> = (0..200).map(|i| receive(&mut pool, i, 20_000)).collect();
        for (i, batch) in kept.iter().enumerate() {
            assert!(batch.len() == 20_000 && batch.iter().all(|&b| usize::from(b) == i));
        }
    }

    #[test]
    fn arenas_are_reused_once_their_slices_are_dropped() {
        let mut pool = RecvPool::new();
        let mut held = VecDeque::new();
        for i in 0..10_000u32 {
            held.push_back(receive(&mut pool, i as u8, 1400));
            if held.len() > 700 {
                held.pop_front();
            }
        }
        // 700 datagrams of 1400 bytes need at most 6 arenas at a time, because each arena wastes less than a slot at
        // its end. Another arena is being filled, and a further one may be partly read.
        assert!(pool.arenas_allocated() <= 8, "{}", pool.arenas_allocated());
    }

    #[test]
    fn slots_are_always_whole() {
        let mut pool = RecvPool::new();
        for len in [0, 1, SLOT, 1400, SLOT - 1, SLOT, SLOT, SLOT, SLOT] {
            assert_eq!(pool.slot().len(), SLOT);
            assert_eq!(pool.take(len).len(), len);
        }
    }

    #[test]
    fn copying_once_arenas_are_scarce_bounds_their_number() {
        let mut pool = RecvPool::new();
        let mut held = Vec::new();
        for _ in 0..100_000 {
            let batch = receive(&mut pool, 1, 20_000);
            let kept = batch.slice(..256);
            held.push(if pool.is_scarce() { Bytes::copy_from_slice(&kept) } else { kept });
        }
        assert!(pool.arenas_allocated() <= MAX_RETAINED_ARENAS as u64 + 2, "{}", pool.arenas_allocated());
        drop(held);
        for _ in 0..20 {
            receive(&mut pool, 1, SLOT);
        }
        assert!(!pool.is_scarce(), "the arenas were reclaimed");
        assert!(pool.free.len() <= MAX_RETAINED_ARENAS);
    }
}
