//! What the side that connects keeps beside a session: the handshake under way, keys to confirm, silence.

use std::collections::VecDeque;

use strandcast_proto::path::FourTuple;
use strandcast_proto::time::{Duration, Instant};

use crate::attempt::Attempt;
use crate::context::Keyset;
use crate::identity::Peer;

/// A handshake renews the keys after so long.
const RENEW_AFTER: Duration = Duration::from_secs(3600);
/// So long after something was sent and nothing came, the peer is asked for a sign of life.
const PING_AFTER: Duration = Duration::from_millis(500);
/// So long after it, it is asked whether it still knows the session.
const SILENT_AFTER: Duration = Duration::from_secs(1);
/// Pings under keys to confirm: the first wait, doubled each time up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Attempts whose answers may be under way: a round trip may take as long as they are begun in. A responder keeps
/// handshakes half open for longer than that.
const MOST_ATTEMPTS: usize = 6;
/// A responder forgets keys that nothing came under, sooner if it is flooded: to wait longer is of no use, unless the round
/// trip is long.
const CONFIRM_WITHIN: Duration = Duration::from_secs(3);

/// Keys that the responder may not have any more, until something comes under them: the responder keeps them for a few
/// seconds before it has opened a datagram.
#[derive(Debug)]
pub(crate) struct Confirming {
    until: Instant,
    next: Instant,
    wait: Duration,
}

impl Confirming {
    /// Begins with a ping after `after`. The handshake took `took`.
    pub fn new(now: Instant, after: Duration, took: Duration) -> Self {
        Confirming { until: now + CONFIRM_WITHIN.max(2 * took), next: now + after, wait: FIRST_WAIT }
    }

    /// Whether it took too long.
    pub fn is_over(&self, now: Instant) -> bool {
        now >= self.until
    }

    /// Whether a ping is due; the next one is scheduled.
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

/// What the side that connects keeps beside a session.
pub(crate) struct Opening {
    pub peer: Peer,
    /// The packet that opens the session's association, and where it goes.
    pub packet: Vec<u8>,
    pub tuples: Vec<FourTuple>,
    /// The attempt under way is the last one; answers to those before it may come yet.
    attempts: VecDeque<Attempt>,
    /// Keys of a handshake that continues the session. They replace the current ones when something came under them.
    pub next: Option<Keyset>,
    /// The newest keys are not confirmed.
    pub confirming: Option<Confirming>,
    /// When the first datagram left after the last that came; whether a sign of life was asked for.
    unanswered: Option<(Instant, bool)>,
    renew_at: Instant,
    /// Somebody said that the peer runs without a seal, or speaks another version, and that was reported.
    pub hinted: bool,
}

impl Opening {
    pub fn new(peer: Peer) -> Self {
        Opening {
            peer,
            packet: Vec::new(),
            tuples: Vec::new(),
            attempts: VecDeque::new(),
            next: None,
            confirming: None,
            unanswered: None,
            renew_at: Instant::MAX,
            hinted: false,
        }
    }

    /// The attempt under way.
    pub fn attempt(&mut self) -> Option<&mut Attempt> {
        self.attempts.back_mut()
    }

    /// The attempt that a datagram names.
    pub fn attempt_named(&mut self, id: &[u8; 8]) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.id() == *id)
    }

    /// Another attempt is under way; the name of one that makes room for it.
    pub fn add_attempt(&mut self, attempt: Attempt) -> Option<[u8; 8]> {
        let oldest = (self.attempts.len() >= MOST_ATTEMPTS).then(|| self.attempts.pop_front()).flatten();
        self.attempts.push_back(attempt);
        oldest.map(|attempt| attempt.id())
    }

    /// The attempt with this name is under way again, in place of a younger one: the responder has asked for its cookie.
    pub fn resume(&mut self, id: &[u8; 8]) {
        if let Some(attempt) =
            self.attempts.iter().position(|a| a.id() == *id).and_then(|at| self.attempts.remove(at))
        {
            self.attempts.push_back(attempt);
        }
    }

    /// Gives all attempts up; their names.
    pub fn end_attempts(&mut self) -> impl Iterator<Item = [u8; 8]> {
        core::mem::take(&mut self.attempts).into_iter().map(|attempt| attempt.id())
    }

    /// There are new keys.
    pub fn keyed(&mut self, now: Instant) {
        // What the first handshake needed.
        (self.packet, self.tuples) = Default::default();
        self.renew_at = now + RENEW_AFTER;
    }

    /// Something was sent. Whether it is the first since something came.
    pub fn sent(&mut self, now: Instant) -> bool {
        let first = self.unanswered.is_none();
        if first {
            self.unanswered = Some((now, false));
        }
        first
    }

    /// Something authentic came.
    pub fn on_received(&mut self) {
        self.unanswered = None;
    }

    /// Whether a sign of life is to be asked for now; once a silence.
    pub fn ask(&mut self, now: Instant) -> bool {
        match &mut self.unanswered {
            Some((since, asked)) if !*asked && now >= *since + PING_AFTER => {
                *asked = true;
                true
            }
            _ => false,
        }
    }

    /// Whether a handshake is to begin that continues the session.
    pub fn wants_handshake(&self, now: Instant) -> bool {
        let silent = self.unanswered.is_some_and(|(since, _)| now >= since + SILENT_AFTER);
        self.attempts.is_empty() && self.confirming.is_none() && (silent || now >= self.renew_at)
    }

    /// When something is to be done.
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
