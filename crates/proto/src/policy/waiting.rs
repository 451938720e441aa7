//! Data that wait for their first transmission, for parts that act spontaneously.

use super::importance::Importance;
use crate::time::Instant;
use crate::tx::{ByAge, SendQueue, chunks_of};

/// Maximum number of runs of messages that [`Flight::waiting`](super::Flight::waiting) returns.
pub const MOST_WAITING: usize = 256;
/// Maximum number of messages that [`Flight::waiting`](super::Flight::waiting) visits.
const MOST_MESSAGES: usize = 4096;

/// Consecutive waiting messages with equal importance and group. Messages without a group must also have equal ends of
/// their lifetimes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Number of the first message of the run. Numbers increase with each submitted message.
    pub message: u64,
    /// Importance of the messages.
    pub importance: Importance,
    /// Group of the messages.
    pub group: Option<u64>,
    /// Time at which the last of the messages becomes useless; `None` if one of them never does.
    pub expires: Option<Instant>,
    /// Number of unsent bytes. The number of unsent bytes includes 16 bytes for the header of each chunk, and the
    /// repair header if repair symbols are sent.
    pub bytes: u64,
    /// True if a part of the first message was sent.
    pub begun: bool,
}

impl Waiting {
    fn goes_on_with(&self, next: &Waiting) -> bool {
        let same = self.importance == next.importance && self.group == next.group;
        same && (self.group.is_some() || self.expires == next.expires)
    }

    fn add(&mut self, next: &Waiting) {
        self.expires = self.expires.zip(next.expires).map(|(a, b)| a.max(b));
        self.bytes += next.bytes;
    }
}

/// Runs of messages in a send queue, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    messages: core::iter::Take<ByAge<'a>>,
    /// Maximum payload of a chunk, and the number of bytes that a chunk counts in addition to its payload.
    chunk: (usize, usize),
    /// First message of the next run.
    next: Option<Waiting>,
}

impl<'a> Runs<'a> {
    /// Creates the runs of `queue`, whose chunks have at most `max` bytes of payload. Each chunk counts `beside` bytes
    /// in addition.
    pub fn new(queue: &'a SendQueue, max: usize, beside: usize) -> Self {
        let messages = queue.by_age().take(MOST_MESSAGES);
        let mut runs = Runs { messages, chunk: (max, beside), next: None };
        runs.next = runs.message();
        runs
    }

    fn message(&mut self) -> Option<Waiting> {
        let m = self.messages.next()?;
        let (max, beside) = self.chunk;
        let bytes = (m.rest() + chunks_of(m, max) * beside) as u64;
        let (importance, group, expires) = (m.importance, m.group, m.expires);
        Some(Waiting { message: m.id, importance, group, expires, bytes, begun: m.started() })
    }
}

impl Iterator for Runs<'_> {
    type Item = Waiting;

    fn next(&mut self) -> Option<Waiting> {
        let mut run = self.next.take()?;
        while let Some(message) = self.message() {
            if !run.goes_on_with(&message) {
                self.next = Some(message);
                break;
            }
            run.add(&message);
        }
        Some(run)
    }
}
