//! What a peer can make us hold.

use super::Receiver;
use crate::coding::Decoding;
use crate::wire::StreamId;
use crate::wire::chunk::DataHeader;

/// Received data and their bookkeeping may take this much heap beyond twice the receive buffer, bytes.
const SLACK: usize = 640 << 10;
/// Of what an association may hold, this much is for the next TSN alone: it may let everything else go.
const FOR_THE_NEXT: usize = 32 << 10;
/// Heap that is no reason to advertise less than the buffer has free: a share of what is allowed.
const PLENTY: usize = 4;

/// Whether a chunk is taken.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// It is.
    Yes,
    /// Not now: it is as if it had never come.
    NotNow,
    /// Never: no other chunk could make room for it.
    Never,
}

impl Receiver {
    /// Lets the association hold `heap` bytes from now on; `copy`: payloads are copied out of their datagrams whatever their
    /// size.
    pub fn allow(&mut self, heap: usize, copy: bool) {
        (self.allowed, self.copies) = (heap, copy);
    }

    /// Heap that what waits to be sent may take, bytes.
    pub fn spare(&self) -> usize {
        self.allowed.saturating_sub(self.heap())
    }

    /// Heap of received data, their bookkeeping and what decodes them, bytes.
    pub fn heap(&self) -> usize {
        self.chunks_heap() + self.decoding.as_ref().map_or(0, Decoding::heap)
    }

    /// Heap of received data that were not read and of their bookkeeping, bytes.
    pub(super) fn chunks_heap(&self) -> usize {
        self.reassembly.heap() + self.tracker.heap()
    }

    /// Heap that decoding takes or is about to take, bytes.
    fn decoding_heap(&self) -> usize {
        self.decoding.as_ref().map_or(0, |decoding| decoding.heap() + decoding.wants())
    }

    /// The most that received data may take, whatever the endpoint has.
    fn most(&self) -> usize {
        2 * self.size.size + SLACK
    }

    /// Whether the receive buffer takes a chunk. The next TSN in order is taken beyond it, up to twice its size, as it may
    /// be the one that lets everything else go.
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

    /// Bytes of payload that can still be taken: what the buffer has free, less where the heap it would take is scarce.
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
        // What comes will be of such chunks as are there.
        free.min((spare as u128 * buffered as u128 / content as u128) as usize)
    }
}
