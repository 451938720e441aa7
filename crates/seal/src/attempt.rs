//! A handshake that this side began. The same message 1 goes out on all paths and is repeated until the peer answers
//! it.

use strandcast_proto::path::FourTuple;
use strandcast_proto::time::{Duration, Instant};

use crate::context::Context;
use crate::handshake::{Answer, Initiator};
use crate::identity::Peer;
use crate::keys::{Completed, HandshakeId, RouteBytes};

/// The wait for an answer before message 1 is repeated. The first wait has this length. Each further wait is twice as
/// long, up to the next constant, or for a handshake that continues a session up to the one after it.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT_OF_SESSION: Duration = Duration::from_secs(2);
/// Age at which a second handshake begins in addition to an unanswered one. Under a flood, a responder may have dropped
/// the first one, and it does not compute the same message a second time.
const FRESH_AFTER: Duration = Duration::from_secs(2);

/// A handshake in progress.
pub(crate) struct Attempt {
    initiator: Initiator,
    /// The handshake whose session the new handshake continues.
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
    /// Sends message 1 with `packet` inside to `tuples`. If `route` is `None`, random route bytes are used. Returns
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

    /// Handles a retry from `from`. The cookie in the retry is valid for that address only. Returns true for the first
    /// retry. The caller then starts its wait for an answer again, because the earlier message will get no answer.
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

    /// Reads message 2. Returns the keys, the answer and the packet, or `None` if `datagram` does not answer this
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

    /// Repeats message 1 if it is time for that. Returns whether a new handshake should begin.
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
