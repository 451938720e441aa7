//! Memory that a peer can occupy.

use super::Receiver;
use crate::coding::Decoding;
use crate::wire::StreamId;
use crate::wire::chunk::DataHeader;

/// Allowance for received data and their bookkeeping, in bytes of heap. Received data and their bookkeeping may take
/// this amount in addition to twice the receive buffer.
const SLACK: usize = 640 << 10;
/// Bytes of an association's allowed heap that are reserved for the next TSN in order. The chunk with this TSN may make
/// all other held data readable.
const FOR_THE_NEXT: usize = 32 << 10;
/// Divisor of the allowed heap. The advertised window is not reduced while at most the allowed heap divided by this
/// number is in use.
const PLENTY: usize = 4;

/// Decision whether a chunk is accepted.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// The chunk is accepted.
    Yes,
    /// The chunk is not accepted now. A chunk that is not accepted is handled as if it had not arrived.
    NotNow,
    /// The chunk can never be accepted, because no other chunk could release room for it.
    Never,
}

impl Receiver {
    /// Sets the heap in bytes that the association may hold. If `copy` is true, payloads are copied out of their
    /// datagrams regardless of their size.
    pub fn allow(&mut self, heap: usize, copy: bool) {
        (self.allowed, self.copies) = (heap, copy);
    }

    /// Returns the heap in bytes that outgoing messages may still take.
    #[inline]
    pub fn spare(&self) -> usize {
        self.allowed.saturating_sub(self.heap())
    }

    /// Returns the heap in bytes of received data, their bookkeeping and their decoder.
    #[inline]
    pub fn heap(&self) -> usize {
        self.chunks_heap() + self.decoding.as_ref().map_or(0, Decoding::heap)
    }

    /// Returns the heap in bytes of received data that the application has not read, with their bookkeeping.
    #[inline]
    pub(super) fn chunks_heap(&self) -> usize {
        self.reassembly.heap() + self.tracker.heap()
    }

    /// Returns the heap in bytes that decoding takes or will take next.
    fn decoding_heap(&self) -> usize {
        self.decoding.as_ref().map_or(0, |decoding| decoding.heap() + decoding.wants())
    }

    /// Returns the maximum heap in bytes of received data, without regard to the heap of the endpoint.
    fn most(&self) -> usize {
        2 * self.size.size + SLACK
    }

    /// Returns whether the receive buffer accepts a chunk. The chunk with the next TSN is accepted even if the buffer
    /// is full, up to twice the buffer's size. The reason is that this chunk may make all other held data readable.
    pub(super) fn room_for(&self, h: &DataHeader, len: usize, sent: usize) -> Room {
        let stream = StreamId(h.stream_id.0.min(self.streams.saturating_sub(1)));
        let adds = self.reassembly.heap_of(stream, len, h.beginning && h.ending);
        let received = self.chunks_heap() + adds;
        let all = received + self.decoding_heap() + sent;
        let next = h.tsn == self.tracker.cum_tsn() + 1 && !self.reassembly.readable();
        if next && received > self.most() {
            return Room::Never;
        }
        let buffered = self.reassembly.buffered_bytes() + len;
        let fits = next || (buffered <= self.size.size && received <= self.most());
        let kept_free = if next { 0 } else { FOR_THE_NEXT.min(self.allowed / 4) };
        if fits && all <= self.allowed - kept_free { Room::Yes } else { Room::NotNow }
    }

    /// Returns the number of payload bytes that can still be accepted. The returned number is the free space of the
    /// buffer, or less if heap is scarce.
    pub(super) fn window(&self, sent: usize) -> usize {
        let rx = self;
        let buffered = rx.reassembly.buffered_bytes();
        let free = self.size.size.saturating_sub(buffered);
        let allowed = self.most().min(rx.allowed.saturating_sub(sent + self.decoding_heap()));
        let spare = allowed.saturating_sub(self.chunks_heap() + FOR_THE_NEXT.min(allowed / 4));
        let content = rx.reassembly.heap_by_content();
        if content < allowed / PLENTY || content < 2 * buffered {
            return free.min(spare / 2);
        }
        // Further data are assumed to have chunks like the present ones.
        free.min((spare as u128 * buffered as u128 / content as u128) as usize)
    }
}
