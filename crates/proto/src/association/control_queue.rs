//! Control chunks that wait for a packet.

use std::collections::VecDeque;

use crate::path::FourTuple;
use crate::policy::PathId;
use crate::wire::Chunk;

/// Maximum number of control chunks that wait. Further chunks are dropped. The peer repeats its requests.
const MAX_CONTROL: usize = 256;

/// A control chunk, and its destination.
#[derive(Debug)]
pub(super) struct Control {
    /// Path on which the chunk is sent.
    pub path: PathId,
    /// If set, the chunk is sent to this 4-tuple and not on a path. The 4-tuple is not a path, or not yet a path.
    pub tuple: Option<FourTuple>,
    pub chunk: Chunk,
    /// If true, an AUTH chunk precedes the chunk.
    pub auth: bool,
    /// If true, the chunk is sent in a packet of its own.
    pub alone: bool,
    /// Verification tag of the packet; `None`: the peer's tag. INIT has tag 0. An answer that reflects a tag takes it
    /// from the received packet.
    pub tag: Option<u32>,
}

impl Control {
    /// Returns an entry for `chunk` on `path`. The chunk may share its packet with others.
    pub fn on(path: PathId, chunk: impl Into<Chunk>) -> Self {
        Control { path, tuple: None, chunk: chunk.into(), auth: false, alone: false, tag: None }
    }
}

/// A bounded first-in-first-out queue.
#[derive(Debug, Default)]
pub(super) struct ControlQueue {
    waiting: VecDeque<Control>,
}

impl ControlQueue {
    /// Appends `control`. Returns false if the queue is full. Only requests of a peer can fill it.
    #[must_use]
    pub fn push(&mut self, control: Control) -> bool {
        let room = self.waiting.len() < MAX_CONTROL;
        if room {
            self.waiting.push_back(control);
        }
        room
    }

    /// Queues COOKIE ECHO, which must be the first chunk of its packet (RFC 9260 §5.1 C).
    pub fn push_first(&mut self, control: Control) {
        self.waiting.push_front(control);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn front(&self) -> Option<&Control> {
        self.waiting.front()
    }

    pub fn pop(&mut self) -> Option<Control> {
        self.waiting.pop_front()
    }

    /// Removes and returns the first chunk for a 4-tuple without a path.
    pub fn pop_off_path(&mut self) -> Option<Control> {
        let at = self.waiting.iter().position(|c| c.tuple.is_some())?;
        self.waiting.remove(at)
    }

    /// Drops those chunks for `path` that the function `keep` rejects. Chunks for a 4-tuple without a path stay.
    pub fn drop_on(&mut self, path: PathId, keep: impl Fn(&Control) -> bool) {
        self.waiting.retain(|c| c.path != path || c.tuple.is_some() || keep(c));
    }

    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Releases memory that was needed only for a burst.
    pub fn shrink(&mut self) {
        self.waiting.shrink_to_fit();
    }

    /// # Panics
    /// Panics if the queue exceeds its bound.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_bounded(&self) {
        assert!(self.waiting.len() <= MAX_CONTROL + 1, "{} control chunks", self.waiting.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chunk::CookieAck;

    fn unroutable() -> Control {
        Control { tuple: Some(FourTuple::loopback(1, 2)), ..Control::on(PathId(0), CookieAck) }
    }

    #[test]
    fn what_comes_on_top_of_256_is_refused() {
        let mut queue = ControlQueue::default();
        assert!((0..256).all(|_| queue.push(Control::on(PathId(0), CookieAck))));
        assert!(!queue.push(Control::on(PathId(1), CookieAck)));
        queue.push_first(Control::on(PathId(2), CookieAck));
        assert_eq!(queue.front().map(|c| c.path), Some(PathId(2)), "the handshake continues all the same");
    }

    #[test]
    fn a_path_that_goes_takes_along_what_waits_for_it() {
        let mut queue = ControlQueue::default();
        for control in [Control::on(PathId(0), CookieAck), Control::on(PathId(1), CookieAck), unroutable()] {
            assert!(queue.push(control));
        }
        queue.drop_on(PathId(0), |_| false);
        assert_eq!(queue.pop().map(|c| c.path), Some(PathId(1)));
        assert!(queue.pop_off_path().is_some(), "what goes to a 4-tuple stays");
        assert!(queue.is_empty() && queue.pop_off_path().is_none());
    }
}
