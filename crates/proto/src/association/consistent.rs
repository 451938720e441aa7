//! Checks of the consistency of an association's state, for tests.

use super::context::Context;
use super::event::Event;
use super::lifecycle::State;
use super::state::Association;
use crate::policy::PathState;

impl Association {
    /// Panics if an incrementally updated counter differs from a fresh count. Also panics if a part of the association
    /// waits for a timer that does not run.
    pub fn assert_consistent(&self) {
        assert_context(&self.cx);
        self.tx.assert_consistent(&self.cx);
        self.rx.assert_bounded();
    }

    /// Returns the key number and the HMAC of `bytes` for both sides (RFC 4895). `None` until there are keys.
    pub fn sign(&self, bytes: &[u8]) -> Option<(u16, smallvec::SmallVec<[u8; 32]>)> {
        self.cx.peer.keys.as_ref().map(|keys| (keys.hmac.number(), keys.sign(bytes)))
    }
}

/// Returns how many list entries the handling of one packet may read. The entries are unacknowledged chunks and blocks
/// of TSNs.
pub fn entries(association: &Association) -> usize {
    association.tx.outstanding() + association.rx.blocks()
}

fn assert_context(cx: &Context) {
    cx.control.assert_bounded();
    // The number of dropped messages is bounded by the size of the send buffer.
    let events = cx.events.iter().filter(|event| !matches!(event, Event::Dropped(_))).count();
    assert!(events <= 4096, "{events} events");
    let closed = cx.state == State::Closed;
    for (p, v) in cx.paths.rows() {
        // Timers of closed paths do not run.
        let armed = p.t3.is_some() && v.state != PathState::Closed;
        assert!(v.in_flight_chunks == 0 || armed || closed, "no T3 on {:?}", v.id);
    }
}
