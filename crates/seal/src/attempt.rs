//! A handshake that this side began: one message 1, identical on all paths, repeated until it is answered.

use strandcast_proto::path::FourTuple;
use strandcast_proto::time::{Duration, Instant};

use crate::context::Context;
use crate::handshake::{Answer, Initiator};
use crate::identity::Peer;
use crate::keys::{Completed, HandshakeId, RouteBytes};

/// Bounds of the wait for an answer: it starts at the first and doubles up to the second.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT_OF_SESSION: Duration = Duration::from_secs(2);
/// Age after which an unanswered handshake is joined by a new one: a responder under a flood may have dropped
/// the old one and does not compute the same message a second time.
const FRESH_AFTER: Duration = Duration::from_secs(2);

/// A handshake under way.
pub(crate) struct Attempt {
    initiator: Initiator,
    /// Handshake whose session is to be continued.
    pub continues: Option<HandshakeId>,
    /// Destinations of message 1.
    tuples: Vec<FourTuple>,
    began: Instant,
    next: Instant,
    wait: Duration,
    /// True once the responder has asked for a cookie.
    resumed: bool,
}

impl Attempt {
    /// Sends message 1 to `tuples` with `packet` in it. Without `route` it draws its route bytes. Returns `None` if the packet or the peer's key does
    /// not allow it.
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

    /// Initiator's id, by which datagrams name the handshake.
    pub fn id(&self) -> [u8; 8] {
        self.initiator.id()
    }

    /// Route bytes of message 1.
    pub fn route(&self) -> RouteBytes {
        RouteBytes::of_id(self.id())
    }

    /// Age of the attempt.
    pub fn age(&self, now: Instant) -> Duration {
        now - self.began
    }

    /// Destinations of message 1.
    pub fn tuples(&self) -> &[FourTuple] {
        &self.tuples
    }

    /// Sends message 1 to another destination as well.
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

    /// Handles a retry from `from`, whose cookie is valid for that address alone. Returns true for the first
    /// retry: the caller restarts its wait for an answer, because the earlier message will not get one.
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

    /// Reads message 2 and returns keys, answer and packet. Returns `None` if `datagram` does not answer this
    /// handshake.
    pub fn read(&mut self, datagram: &[u8]) -> Option<(Completed, Answer, Vec<u8>)> {
        self.initiator.read(datagram).ok()
    }

    /// Returns the 4-tuple to which an answer from `from` belongs.
    pub fn answered_on(&self, from: &FourTuple) -> Option<FourTuple> {
        let here = |t: &&FourTuple| (t.link, t.local) == (from.link, from.local);
        let same = self.tuples.iter().find(|t| *t == from);
        same.or_else(|| self.tuples.iter().find(here)).copied()
    }

    /// Time of the next repetition.
    pub fn deadline(&self) -> Instant {
        self.next.min(self.began + FRESH_AFTER)
    }

    /// Repeats message 1 if that is due. Returns whether a new handshake should begin.
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
