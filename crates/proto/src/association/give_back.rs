//! Memory that bursts and backlogs needed, given back when nothing goes on.

use super::Association;

impl Association {
    /// Queues keep their room while data flow, so that packets cost no allocation. Called when a path was idle for a
    /// heartbeat interval.
    pub(super) fn give_back(&mut self) {
        if self.tx.outstanding.is_empty() && self.tx.queue.is_empty() {
            let tx = &mut self.tx;
            tx.outstanding.shrink();
            tx.queue.shrink();
            tx.lost.shrink_to_fit();
            (tx.acks, tx.scratch) = (Vec::new(), Vec::new());
            for p in self.paths.iter_mut() {
                p.originals.shrink_to_fit();
                p.owed.shrink_to_fit();
                p.retransmitted.shrink();
            }
        }
        self.rx.reassembly.shrink();
        self.rx.tracker.shrink();
        self.rx.gaps = Vec::new();
        self.control.shrink();
        self.events.shrink_to_fit();
        self.report_scratch = Vec::new();
    }
}
