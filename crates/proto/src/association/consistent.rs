//! Do the books agree? For tests.

use super::state::{Association, State};
use crate::policy::{PathId, PathState};
use crate::tx::{ChunkState, Outgoing};

impl Association {
    /// Panics when counters that are kept step by step differ from what they count, or when something waits for a
    /// timer that does not run.
    pub fn assert_consistent(&self) {
        for v in self.paths.views() {
            let (bytes, chunks) = self.count_in_flight(v.id);
            assert_eq!((v.in_flight, v.in_flight_chunks), (bytes, chunks), "in flight on {:?}", v.id);
            // Timers of closed paths do not run.
            let armed = self.paths[v.id.index()].t3.is_some() && v.state != PathState::Closed;
            assert!(chunks == 0 || armed || self.state == State::Closed, "no T3 on {:?}", v.id);
        }
        let sum: u64 = self.paths.views().iter().map(|v| v.in_flight).sum();
        let acknowledged: u64 = self.paths.iter().flat_map(|p| &p.unsettled).map(|c| c.len).sum();
        assert_eq!(self.paths.seen().in_flight() + acknowledged, sum, "in flight over all paths");
        let mut payload = self.tx.queue.bytes();
        for c in self.tx.outstanding.iter() {
            payload += c.payload.len();
            let flies = c.info.transmissions.iter().any(|t| t.in_flight);
            assert_eq!(flies, c.state == ChunkState::InFlight, "TSN {}: {:?}", c.info.tsn, c.state);
            if matches!(c.state, ChunkState::Lost(_)) {
                assert!(self.tx.lost.contains(&c.info.tsn), "TSN {} is lost and not listed", c.info.tsn);
            }
        }
        if self.state != State::Closed {
            assert_eq!(self.tx.buffered, payload, "payload queued and outstanding");
        }
        self.assert_listed();
        let acked = self.tx.outstanding.iter().filter(|c| c.acked()).count();
        assert_eq!(self.tx.outstanding.gap_acked(), acked, "gap-acknowledged");
        let waiting: Vec<_> = self.tx.outstanding.iter().filter(|c| c.requeued == Some(true)).collect();
        let lost = |c: &&Outgoing| matches!(c.state, ChunkState::Lost(_));
        assert!(waiting.iter().all(lost), "only lost chunks are requeued");
        let bytes: usize = waiting.iter().map(|c| c.payload.len()).sum();
        assert_eq!(self.tx.outstanding.requeued(), bytes as u64, "payload left to the scheduler");
        self.assert_bounded();
    }

    /// What is in flight on a path is in one of its lists, and what SACKs pass over needs no look.
    fn assert_listed(&self) {
        for c in self.tx.outstanding.iter() {
            let tsn = c.info.tsn;
            for t in c.info.transmissions.iter().filter(|t| t.in_flight) {
                let (path, number) = (&self.paths[t.path.index()], self.tx.outstanding.number(tsn));
                let at = path.originals.partition_point(|o| o.is_before(tsn));
                let listed = path.originals.get(at) == Some(&tsn) || path.retransmitted.contains(number);
                assert!(listed, "TSN {tsn} is in flight and not listed");
            }
            let open = self.tx.outstanding.next_open(tsn, tsn).is_some();
            assert!(open || c.acked() || c.state == ChunkState::Abandoned, "TSN {tsn} is passed over");
            assert!(!open || !c.acked(), "TSN {tsn} is acknowledged and not passed over");
        }
    }

    /// The number and the HMAC of what signs `bytes` as either side would (RFC 4895), once there are keys.
    pub(crate) fn sign(&self, bytes: &[u8]) -> Option<(u16, smallvec::SmallVec<[u8; 32]>)> {
        self.auth.as_ref().map(|keys| (keys.hmac.number(), keys.sign(bytes)))
    }

    /// What a peer can make us hold has bounds.
    fn assert_bounded(&self) {
        let (heap, granted) = (self.rx.reassembly.heap() + self.rx.tracker.heap(), self.rx.size.size);
        assert!(heap <= 2 * granted + (1 << 20), "{heap} bytes for a receive buffer of {granted}");
        self.control.assert_bounded();
        assert!(self.events.len() <= 4096, "{} events", self.events.len());
    }

    fn count_in_flight(&self, path: PathId) -> (u64, u32) {
        let copies = &self.paths[path.index()].unsettled;
        let mut count = (copies.iter().map(|c| c.len).sum::<u64>(), copies.len() as u32);
        for c in self.tx.outstanding.iter() {
            let n = c.info.transmissions.iter().filter(|t| t.path == path && t.in_flight).count();
            count = (count.0 + c.info.len * n as u64, count.1 + n as u32);
        }
        count
    }
}
