//! What waits to be sent for the first time, for parts that act.

use super::importance::Importance;
use crate::time::Instant;
use crate::tx::{ByAge, SendQueue, chunks_of};

/// Runs that [`Flight::waiting`](super::Flight::waiting) shows at the most.
pub const MOST_WAITING: usize = 256;
/// Messages that it looks at for them.
const MOST_MESSAGES: usize = 4096;

/// Messages that wait one behind the other and have the same importance and group; without a group, the same lifetime's end.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The number of the first one: numbers rise with each message that is handed in.
    pub message: u64,
    /// How much they matter.
    pub importance: Importance,
    /// The group that they belong to.
    pub group: Option<u64>,
    /// When the last of them becomes worthless; `None`: one of them never does.
    pub expires: Option<Instant>,
    /// Bytes of what was not sent yet, with 16 for the header of each chunk, and that of repair where symbols go beside it.
    pub bytes: u64,
    /// Some of the first one was sent.
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

/// The runs of a send queue, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Runs<'a> {
    messages: core::iter::Take<ByAge<'a>>,
    /// Payload of a chunk at the most, and what else it has in the books.
    chunk: (usize, usize),
    /// The first message of the next run.
    next: Option<Waiting>,
}

impl<'a> Runs<'a> {
    /// Of `queue`, whose chunks have at most `max` bytes of payload, and `beside` more in the books.
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
