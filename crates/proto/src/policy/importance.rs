//! What matters of the messages that wait: their importance, and the first of each.

use crate::time::Instant;

/// How much it matters that a message arrives, from least to most. It changes nothing by itself: schedulers see it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Importance {
    /// Nothing else depends on it.
    Disposable,
    /// As any other.
    #[default]
    Normal,
    /// Others depend on it: what comes before the next message of importance [`Key`](Self::Key) suffers without it.
    Reference,
    /// Nothing that follows is of use without it.
    Key,
}

impl Importance {
    /// All, from least to most.
    pub const ALL: [Importance; 4] =
        [Importance::Disposable, Importance::Normal, Importance::Reference, Importance::Key];

    /// Its place in [`Importance::ALL`].
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The first message of one importance that may leave.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct MessageHead {
    /// Its importance.
    pub importance: Importance,
    /// Book size of its next chunk: payload + 16 bytes.
    pub next_len: u64,
    /// When it becomes worthless.
    pub next_expires: Option<Instant>,
    /// The group that it belongs to.
    pub group: Option<u64>,
    /// Payload bytes of all messages of this importance that wait, not yet sent ones of this message included.
    pub bytes: u64,
}

/// The heads of what waits, one for each importance at most.
///
/// None is there while the first message of an importance may not leave: a message of which some chunks were sent goes on
/// before any other begins (RFC 9260 §6.9), and an ordered message waits for earlier ones of its stream that have another
/// importance. The oldest message of all always has one.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Heads([Option<MessageHead>; 4]);

impl Heads {
    /// The head of `importance`.
    #[inline]
    pub fn of(&self, importance: Importance) -> Option<&MessageHead> {
        self.0[importance.index()].as_ref()
    }

    /// All heads, the most important first.
    pub fn iter(&self) -> impl Iterator<Item = &MessageHead> {
        self.0.iter().rev().flatten()
    }
}

impl FromIterator<MessageHead> for Heads {
    fn from_iter<I: IntoIterator<Item = MessageHead>>(heads: I) -> Self {
        let mut all = Heads::default();
        for head in heads {
            all.0[head.importance.index()] = Some(head);
        }
        all
    }
}
