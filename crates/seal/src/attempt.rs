//! A handshake that this side began: one message 1, the same on all paths, repeated until it is answered.

use strandcast_proto::path::FourTuple;
use strandcast_proto::time::{Duration, Instant};

use crate::context::Context;
use crate::handshake::{Answer, Initiator};
use crate::identity::Peer;
use crate::keys::{Completed, HandshakeId};

/// The first wait for an answer; each is twice as long as the one before, to one of these two.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT_OF_SESSION: Duration = Duration::from_secs(2);
/// A handshake that was not answered for so long begins anew, beside those before it: a responder that is flooded may have
/// forgotten them, and takes no message a second time.
const FRESH_AFTER: Duration = Duration::from_secs(2);

/// A handshake under way.
pub(crate) struct Attempt {
    initiator: Initiator,
    /// The handshake whose session is to go on.
    pub continues: Option<HandshakeId>,
    /// Where message 1 goes.
    tuples: Vec<FourTuple>,
    began: Instant,
    next: Instant,
    wait: Duration,
    /// Its responder has asked for a cookie.
    resumed: bool,
}

impl Attempt {
    /// Sends message 1 to `tuples`, with `packet` in it. `None` if that can't be.
    pub fn begin(
        now: Instant,
        peer: &Peer,
        continues: Option<HandshakeId>,
        packet: &[u8],
        tuples: Vec<FourTuple>,
        cx: &mut Context,
    ) -> Option<Self> {
        let (identity, ciphers) = (&cx.config.identity, cx.config.ciphers);
        let initiator = Initiator::start(identity, peer, ciphers, continues, packet, &mut cx.random).ok()?;
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

    /// What datagrams name it by.
    pub fn id(&self) -> [u8; 8] {
        self.initiator.id()
    }

    /// How long ago it began.
    pub fn age(&self, now: Instant) -> Duration {
        now - self.began
    }

    /// Where message 1 goes.
    pub fn tuples(&self) -> &[FourTuple] {
        &self.tuples
    }

    /// Message 1 goes there, too.
    pub fn add(&mut self, tuple: FourTuple, cx: &mut Context) {
        if !self.tuples.contains(&tuple) {
            self.tuples.push(tuple);
            cx.outbox.send(tuple, self.initiator.message().to_vec());
        }
    }

    /// This side's own address changed.
    pub fn retarget(&mut self, from: &FourTuple, to: FourTuple, cx: &mut Context) {
        self.tuples.retain(|t| t != from);
        self.add(to, cx);
    }

    /// A retry, which came from `from`: a cookie is good for one address. Whether it is the first, from where the wait for
    /// an answer begins anew: the message before it will get none.
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

    /// Message 2, if it is that: keys, answer and packet.
    pub fn read(&mut self, datagram: &[u8]) -> Option<(Completed, Answer, Vec<u8>)> {
        self.initiator.read(datagram).ok()
    }

    /// The 4-tuple that an answer from `from` belongs to.
    pub fn answered_on(&self, from: &FourTuple) -> Option<FourTuple> {
        let here = |t: &&FourTuple| (t.link, t.local) == (from.link, from.local);
        let same = self.tuples.iter().find(|t| *t == from);
        same.or_else(|| self.tuples.iter().find(here)).copied()
    }

    /// When something is to be done.
    pub fn deadline(&self) -> Instant {
        self.next.min(self.began + FRESH_AFTER)
    }

    /// Repeats message 1 if that is due. Whether it is time for a new handshake.
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
