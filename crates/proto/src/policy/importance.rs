//! Importance of messages, and the first waiting message of each importance.

use crate::time::Instant;

/// Importance of a message, from least to most. Schedulers may use the importance; the core ignores it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Importance {
    /// No other message depends on this message.
    Disposable,
    /// An ordinary message.
    #[default]
    Normal,
    /// Other messages depend on this message. If this message is missing, all messages before the next one of
    /// importance [`Key`](Self::Key) are impaired.
    Reference,
    /// All later messages depend on this message.
    Key,
}

impl Importance {
    /// All importances, from least to most.
    pub const ALL: [Importance; 4] =
        [Importance::Disposable, Importance::Normal, Importance::Reference, Importance::Key];

    /// Returns the index in [`Importance::ALL`].
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The first message of one importance that may be sent.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct MessageHead {
    /// Importance of the message.
    pub importance: Importance,
    /// Counted bytes of the message's next chunk: payload + 16 bytes.
    pub next_len: u64,
    /// Time at which the message becomes useless.
    pub next_expires: Option<Instant>,
    /// Group of the message.
    pub group: Option<u64>,
    /// Payload bytes of all waiting messages of this importance. The unsent bytes of this message are included.
    pub bytes: u64,
}

/// The first waiting message of each importance.
///
/// An importance has no entry while its first message may not be sent. There are two reasons: a message that was begun
/// continues before any other begins (RFC 9260 §6.9), and an ordered message waits for earlier messages of its stream
/// with another importance. The oldest of all messages always has an entry.
#[derive(Copy, Clone, PartialEq, Default, Debug)]
pub struct Heads([Option<MessageHead>; 4]);

impl Heads {
    /// Returns the first message of `importance`.
    #[inline]
    pub fn of(&self, importance: Importance) -> Option<&MessageHead> {
        self.0[importance.index()].as_ref()
    }

    /// Returns all entries, the most important first.
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
