//! Checks of the consistency of the retransmission queue, for tests.

use super::RetransmissionQueue;
use crate::policy::{PathId, PathViews, SymbolsInFlight};
use crate::tx::outstanding::{ChunkState, Outgoing};

impl RetransmissionQueue {
    /// Panics if incrementally updated counters and lists differ from fresh counts. Returns the payload bytes of all
    /// chunks.
    pub fn assert_consistent(&self, ledger: &PathViews) -> usize {
        for v in ledger.paths() {
            assert_eq!((v.in_flight, v.in_flight_chunks), self.count(v.id), "in flight on {:?}", v.id);
        }
        let sum: u64 = ledger.paths().iter().map(|v| v.in_flight).sum();
        let acknowledged: u64 = self.flights.iter().flat_map(|f| &f.unsettled).map(|c| c.len).sum();
        assert_eq!(ledger.in_flight() + acknowledged, sum, "in flight over all paths");
        for c in self.outstanding.iter() {
            let flies = c.info.transmissions.iter().any(|t| t.in_flight);
            assert_eq!(flies, c.state == ChunkState::InFlight, "TSN {}: {:?}", c.info.tsn, c.state);
            if matches!(c.state, ChunkState::Lost(_)) {
                assert!(self.lost.contains(&c.info.tsn), "TSN {} is lost and not listed", c.info.tsn);
            }
            self.assert_listed(c);
        }
        let acked = self.outstanding.iter().filter(|c| c.acked()).count();
        assert_eq!(self.outstanding.gap_acked(), acked, "gap-acknowledged");
        let waiting: Vec<_> = self.outstanding.iter().filter(|c| c.requeued == Some(true)).collect();
        let lost = |c: &&Outgoing| matches!(c.state, ChunkState::Lost(_));
        assert!(waiting.iter().all(lost), "only lost chunks are requeued");
        let bytes: usize = waiting.iter().map(|c| c.payload.len()).sum();
        assert_eq!(self.outstanding.requeued(), bytes as u64, "payload left to the scheduler");
        self.assert_symbols(ledger);
        self.outstanding.iter().map(Outgoing::buffered).sum()
    }

    /// Checks two rules: a chunk in flight on a path is in one of the path's lists, and a chunk that SACKs skip needs
    /// no check.
    fn assert_listed(&self, c: &Outgoing) {
        let tsn = c.info.tsn;
        for t in c.info.transmissions.iter().filter(|t| t.in_flight) {
            let (flight, number) = (&self.flights[t.path.index()], self.outstanding.number(tsn));
            let at = flight.originals.partition_point(|o| o.is_before(tsn));
            let listed = flight.originals.get(at) == Some(&tsn) || flight.retransmitted.contains(number);
            assert!(listed, "TSN {tsn} is in flight and not listed");
        }
        let open = self.outstanding.next_open(tsn, tsn).is_some();
        assert!(open || c.acked() || c.state == ChunkState::Abandoned, "TSN {tsn} is passed over");
        assert!(!open || !c.acked(), "TSN {tsn} is acknowledged and not passed over");
    }

    /// Checks the numbers of symbols that each open block has in flight.
    fn assert_symbols(&self, ledger: &PathViews) {
        for block in ledger.blocks() {
            let mut flies = vec![SymbolsInFlight::default(); ledger.paths().len()];
            for c in self.outstanding.iter() {
                let Some(symbol) = c.info.symbol.filter(|s| s.block == block.number) else { continue };
                for t in c.info.transmissions.iter().filter(|t| t.in_flight) {
                    flies[t.path.index()].count(symbol.kind, 1);
                }
            }
            let kept: Vec<_> = ledger.paths().iter().map(|v| block.on(v.id)).collect();
            assert_eq!(kept, flies, "symbols of block {} in flight by path", block.number);
        }
    }

    fn count(&self, path: PathId) -> (u64, u32) {
        let copies = &self.flights[path.index()].unsettled;
        let mut count = (copies.iter().map(|c| c.len).sum::<u64>(), copies.len() as u32);
        for c in self.outstanding.iter() {
            let n = c.info.transmissions.iter().filter(|t| t.path == path && t.in_flight).count();
            count = (count.0 + c.info.len * n as u64, count.1 + n as u32);
        }
        count
    }
}
