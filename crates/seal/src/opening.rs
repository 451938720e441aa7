//! The initiator's part of a session: the current handshake, unconfirmed keys, and the detection of a silent peer.

use std::collections::VecDeque;

use strandcast_proto::path::FourTuple;
use strandcast_proto::time::{Duration, Instant};

use crate::attempt::Attempt;
use crate::context::Keyset;
use crate::identity::Peer;
use crate::keys::RouteBytes;

/// Age of keys at which a handshake renews them.
const RENEW_AFTER: Duration = Duration::from_secs(3600);
/// Time without an arrival, after a datagram was sent, before the peer is pinged.
const PING_AFTER: Duration = Duration::from_millis(500);
/// Time without an arrival before a handshake checks whether the peer still has the session.
const SILENT_AFTER: Duration = Duration::from_secs(1);
/// Wait between pings while new keys are unconfirmed. The first wait has this length. Each further wait is twice as
/// long, up to `LONGEST_WAIT`.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of attempts that wait for an answer at one time. The round trip of an accepted answer may therefore
/// last as long as the period in which this number of attempts begins. A responder keeps a half-open handshake for a
/// longer time.
const MOST_ATTEMPTS: usize = 6;
/// Time within which new keys must be confirmed, unless the round trip takes longer. A responder drops unconfirmed keys
/// after a few seconds, or earlier under a flood. A longer wait would therefore not help.
const CONFIRM_WITHIN: Duration = Duration::from_secs(3);

/// New keys that the responder may already have dropped. The new keys are confirmed when a datagram under these keys
/// arrives. A responder keeps them for only a few seconds before it has received a datagram under them.
#[derive(Debug)]
pub(crate) struct Confirming {
    until: Instant,
    next: Instant,
    wait: Duration,
}

impl Confirming {
    /// Starts the confirmation of new keys. The first ping is sent after `after`. `took` is the time that the handshake
    /// took.
    pub fn new(now: Instant, after: Duration, took: Duration) -> Self {
        Confirming { until: now + CONFIRM_WITHIN.max(2 * took), next: now + after, wait: FIRST_WAIT }
    }

    /// Returns whether the confirmation has taken too long.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }

    /// Returns whether a ping must be sent now. If a ping must be sent, schedules the next ping.
    pub fn ping(&mut self, now: Instant) -> bool {
        let due = now >= self.next;
        if due {
            self.next = now + self.wait;
            self.wait = (self.wait * 2).min(LONGEST_WAIT);
        }
        due
    }

    fn deadline(&self) -> Instant {
        self.next.min(self.until)
    }
}

/// State of the initiator's part of a session.
pub(crate) struct Opening {
    pub peer: Peer,
    /// Packet that opens the session's association, and the 4-tuples to which it is sent.
    pub packet: Vec<u8>,
    pub tuples: Vec<FourTuple>,
    /// Route bytes of the session. The first attempt uses random route bytes. Later attempts use the route bytes of the
    /// last message 2.
    pub route: Option<RouteBytes>,
    /// Attempts of a handshake, oldest first. The last of them is the current attempt. Answers to the earlier attempts
    /// may still arrive.
    attempts: VecDeque<Attempt>,
    /// Keys of a handshake that continues the session. The new keys replace the current keys when a datagram under them
    /// arrives.
    pub next: Option<Keyset>,
    /// Confirmation of the newest keys; `None` once they are confirmed.
    pub confirming: Option<Confirming>,
    /// Time of the first datagram sent since the last arrival, and whether a ping was sent since then.
    unanswered: Option<(Instant, bool)>,
    renew_at: Instant,
    /// True if a hint was already reported. A hint says that the peer runs without a seal, or that it has another
    /// version.
    pub hinted: bool,
}

impl Opening {
    pub fn new(peer: Peer) -> Self {
        Opening {
            peer,
            packet: Vec::new(),
            tuples: Vec::new(),
            route: None,
            attempts: VecDeque::new(),
            next: None,
            confirming: None,
            unanswered: None,
            renew_at: Instant::MAX,
            hinted: false,
        }
    }

    /// Returns the current attempt.
    pub fn attempt(&mut self) -> Option<&mut Attempt> {
        self.attempts.back_mut()
    }

    /// Returns the attempt that has the id in a datagram.
    pub fn attempt_named(&mut self, id: &[u8; 8]) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.id() == *id)
    }

    /// Adds an attempt, which becomes the current one. If an older attempt is dropped to make room, returns its id.
    pub fn add_attempt(&mut self, attempt: Attempt) -> Option<[u8; 8]> {
        self.route = Some(attempt.route());
        let oldest = (self.attempts.len() >= MOST_ATTEMPTS).then(|| self.attempts.pop_front()).flatten();
        self.attempts.push_back(attempt);
        oldest.map(|attempt| attempt.id())
    }

    /// Makes the attempt with this id the current one, because the responder demanded a cookie from it.
    pub fn resume(&mut self, id: &[u8; 8]) {
        if let Some(attempt) =
            self.attempts.iter().position(|a| a.id() == *id).and_then(|at| self.attempts.remove(at))
        {
            self.attempts.push_back(attempt);
        }
    }

    /// Drops all attempts and returns their ids.
    pub fn end_attempts(&mut self) -> impl Iterator<Item = [u8; 8]> {
        core::mem::take(&mut self.attempts).into_iter().map(|attempt| attempt.id())
    }

    /// Prepares this state for new keys.
    pub fn keyed(&mut self, now: Instant) {
        // Needed for the first handshake only.
        (self.packet, self.tuples) = Default::default();
        self.renew_at = now + RENEW_AFTER;
    }

    /// Records that a datagram was sent. Returns true if it is the first one since a datagram arrived.
    pub fn sent(&mut self, now: Instant) -> bool {
        let first = self.unanswered.is_none();
        if first {
            self.unanswered = Some((now, false));
        }
        first
    }

    /// Records that an authentic datagram arrived.
    pub fn on_received(&mut self) {
        self.unanswered = None;
    }

    /// Returns whether a ping must be sent now. There is one ping per silence.
    pub fn ask(&mut self, now: Instant) -> bool {
        match &mut self.unanswered {
            Some((since, asked)) if !*asked && now >= *since + PING_AFTER => {
                *asked = true;
                true
            }
            _ => false,
        }
    }

    /// Returns whether a handshake that continues the session must begin.
    pub fn wants_handshake(&self, now: Instant) -> bool {
        let silent = self.unanswered.is_some_and(|(since, _)| now >= since + SILENT_AFTER);
        self.attempts.is_empty() && self.confirming.is_none() && (silent || now >= self.renew_at)
    }

    /// Returns the next time at which a timer expires.
    pub fn deadline(&self) -> Option<Instant> {
        let silence =
            self.unanswered.map(|(since, asked)| since + if asked { SILENT_AFTER } else { PING_AFTER });
        let next = match (self.attempts.back(), &self.confirming) {
            (Some(attempt), _) => Some(attempt.deadline()),
            (None, Some(confirming)) => Some(confirming.deadline()),
            (None, None) => silence.into_iter().chain([self.renew_at]).min(),
        };
        next.filter(|at| *at < Instant::MAX)
    }
}
