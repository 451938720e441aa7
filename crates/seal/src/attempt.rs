//! A handshake that this side began. One message 1 is sent on all paths, and repeated until the peer answers it.

use strandcast_proto::path::FourTuple;
use strandcast_proto::time::{Duration, Instant};

use crate::context::Context;
use crate::handshake::{Answer, Initiator};
use crate::identity::Peer;
use crate::keys::{Completed, HandshakeId, RouteBytes};

/// Time from the first message 1 to its repetition, if no answer arrives. Each further wait is twice as long, up to
/// `LONGEST_WAIT`, or up to `LONGEST_WAIT_OF_SESSION` for a handshake that continues a session.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT_OF_SESSION: Duration = Duration::from_secs(2);
/// Age of an unanswered handshake at which a second handshake begins in addition. Under a flood, a responder may have
/// dropped the first handshake. A responder does not process the same message 1 again.
const FRESH_AFTER: Duration = Duration::from_secs(2);

/// A handshake in progress that this side began.
pub(crate) struct Attempt {
    initiator: Initiator,
    /// The earlier handshake of the session that the new handshake continues.
    pub continues: Option<HandshakeId>,
    /// 4-tuples to which message 1 is sent.
    tuples: Vec<FourTuple>,
    began: Instant,
    next: Instant,
    wait: Duration,
    /// True if the responder demanded a cookie.
    resumed: bool,
}

impl Attempt {
    /// Sends a message 1 that carries `packet` to `tuples`. If `route` is `None`, the route bytes are random. Returns
    /// `None` if the packet is too long or if the peer's key is invalid.
    pub fn begin(
        now: Instant,
        peer: &Peer,
        continues: Option<HandshakeId>,
        route: Option<RouteBytes>,
        packet: &[u8],
        tuples: Vec<FourTuple>,
        cx: &mut Context,
    ) -> Option<Self> {
        let (identity, ciphers) = (&cx.config.identity, cx.config.ciphers);
        let initiator =
            Initiator::start(identity, peer, ciphers, continues, route, packet, &mut cx.random).ok()?;
        let (began, next, wait) = (now, now + FIRST_WAIT, FIRST_WAIT);
        let attempt = Attempt { initiator, continues, tuples, began, next, wait, resumed: false };
        cx.outbox.stats.begun += 1;
        attempt.send(cx);
        Some(attempt)
    }

    fn send(&self, cx: &mut Context) {
        for tuple in &self.tuples {
            cx.outbox.send(*tuple, self.initiator.message().to_vec());
        }
    }

    /// Returns the initiator's id, by which datagrams name the handshake.
    pub fn id(&self) -> [u8; 8] {
        self.initiator.id()
    }

    /// Returns the route bytes of message 1.
    pub fn route(&self) -> RouteBytes {
        RouteBytes::of_id(self.id())
    }

    /// Returns the age of the attempt.
    pub fn age(&self, now: Instant) -> Duration {
        now - self.began
    }

    /// Returns the 4-tuples to which message 1 is sent.
    pub fn tuples(&self) -> &[FourTuple] {
        &self.tuples
    }

    /// Sends message 1 to a further destination.
    pub fn add(&mut self, tuple: FourTuple, cx: &mut Context) {
        if !self.tuples.contains(&tuple) {
            self.tuples.push(tuple);
            cx.outbox.send(tuple, self.initiator.message().to_vec());
        }
    }

    /// Updates the address of this side on a path.
    pub fn retarget(&mut self, from: &FourTuple, to: FourTuple, cx: &mut Context) {
        self.tuples.retain(|t| t != from);
        self.add(to, cx);
    }

    /// Handles a retry that came from `from`. The cookie in the retry is valid only for that address. Returns true if
    /// this is the first retry. The caller then restarts its wait for an answer, because the earlier message 1 will get
    /// no answer.
    pub fn on_retry(&mut self, now: Instant, from: &FourTuple, datagram: &[u8], cx: &mut Context) -> bool {
        if !self.tuples.contains(from) || !self.initiator.on_retry(datagram) {
            return false;
        }
        cx.outbox.send(*from, self.initiator.message().to_vec());
        let first = !core::mem::replace(&mut self.resumed, true);
        if first {
            (self.began, self.next, self.wait) = (now, now + FIRST_WAIT, FIRST_WAIT);
        }
        first
    }

    /// Reads message 2. Returns the keys, the answer and the SCTP packet. Returns `None` if `datagram` does not answer
    /// this handshake.
    pub fn read(&mut self, datagram: &[u8]) -> Option<(Completed, Answer, Vec<u8>)> {
        self.initiator.read(datagram).ok()
    }

    /// Returns the 4-tuple of message 1 to which an answer from `from` belongs.
    pub fn answered_on(&self, from: &FourTuple) -> Option<FourTuple> {
        let here = |t: &&FourTuple| (t.link, t.local) == (from.link, from.local);
        let same = self.tuples.iter().find(|t| *t == from);
        same.or_else(|| self.tuples.iter().find(here)).copied()
    }

    /// Returns the time of the next repetition of message 1.
    pub fn deadline(&self) -> Instant {
        self.next.min(self.began + FRESH_AFTER)
    }

    /// Repeats message 1 if its repetition is due. Returns whether a new handshake should begin.
    pub fn on_timeout(&mut self, now: Instant, cx: &mut Context) -> bool {
        if now >= self.began + FRESH_AFTER {
            return true;
        }
        if now >= self.next {
            let longest = if self.continues.is_some() { LONGEST_WAIT_OF_SESSION } else { LONGEST_WAIT };
            self.wait = (self.wait * 2).min(longest);
            self.next = now + self.wait;
            self.send(cx);
        }
        false
    }
}
