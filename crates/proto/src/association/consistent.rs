//! Do the books agree? For tests.

use super::lifecycle::State;
use super::state::Association;
use crate::policy::PathState;

impl Association {
    /// Panics when counters that are kept step by step differ from what they count, or when something waits for a
    /// timer that does not run.
    pub fn assert_consistent(&self) {
        let closed = self.cx.state == State::Closed;
        for (p, v) in self.cx.paths.rows() {
            // Timers of closed paths do not run.
            let armed = p.t3.is_some() && v.state != PathState::Closed;
            assert!(v.in_flight_chunks == 0 || armed || closed, "no T3 on {:?}", v.id);
        }
        self.tx.assert_consistent(&self.cx);
        self.rx.assert_bounded();
        self.cx.control.assert_bounded();
        assert!(self.cx.events.len() <= 4096, "{} events", self.cx.events.len());
    }

    /// The number and the HMAC of what signs `bytes` as either side would (RFC 4895), once there are keys.
    pub(crate) fn sign(&self, bytes: &[u8]) -> Option<(u16, smallvec::SmallVec<[u8; 32]>)> {
        self.cx.peer.keys.as_ref().map(|keys| (keys.hmac.number(), keys.sign(bytes)))
    }
}
