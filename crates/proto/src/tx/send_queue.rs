//! Queue of messages that wait for their first or next chunk to be cut. Messages of one importance are sent in order,
//! and the fragments of a message have consecutive TSNs (RFC 9260 §6.9).
//!
//! A request without an importance returns the oldest of all messages. Messages of one ordered stream keep their order,
//! whatever their importance is. The reason is that a message gets its SSN with its first chunk.

use std::collections::{VecDeque, vec_deque};
use std::iter::Peekable;

use bytes::Bytes;

use crate::policy::Importance;
use crate::time::Instant;
use crate::wire::serial::{Ppid, Ssn, StreamId};

/// A message that the application submitted and that waits in the queue.
#[derive(Debug)]
pub(crate) struct QueuedMessage {
    /// Number of the message. Each submitted message has a higher number than earlier messages.
    pub id: u64,
    pub stream: StreamId,
    /// Stream sequence number of the message. The stream sequence number is assigned when the first chunk is cut. A
    /// message that expires before uses no number.
    pub ssn: Option<Ssn>,
    pub ppid: Ppid,
    pub unordered: bool,
    pub expires: Option<Instant>,
    pub importance: Importance,
    pub group: Option<u64>,
    pub payload: Bytes,
    /// Bytes of the message that are already cut into chunks.
    pub sent: usize,
}

impl QueuedMessage {
    pub fn started(&self) -> bool {
        self.ssn.is_some()
    }

    /// Returns the bytes that are not yet cut into chunks.
    pub fn rest(&self) -> usize {
        self.payload.len() - self.sent
    }
}

/// The waiting messages of one importance.
#[derive(Debug, Default)]
struct Class {
    messages: VecDeque<QueuedMessage>,
    /// Payload bytes that are not yet cut into chunks.
    bytes: usize,
    /// Number of messages that may expire.
    lifetimes: usize,
}

/// The queues of messages of one association.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    classes: [Class; Importance::ALL.len()],
    /// Importance of the message that was sent in part, if there is one.
    begun: Option<Importance>,
    /// Payload bytes of all waiting messages; `len` is the number of these messages.
    bytes: usize,
    len: usize,
}

/// A chunk cut from a message.
#[derive(Debug)]
pub(crate) struct Cut {
    pub message: u64,
    pub stream: StreamId,
    pub ssn: Ssn,
    pub ppid: Ppid,
    pub unordered: bool,
    pub expires: Option<Instant>,
    pub importance: Importance,
    pub group: Option<u64>,
    pub payload: Bytes,
    pub begin: bool,
    pub end: bool,
}

impl Class {
    fn push(&mut self, message: QueuedMessage) {
        self.bytes += message.payload.len();
        self.lifetimes += usize::from(message.expires.is_some());
        self.messages.push_back(message);
    }

    fn pop(&mut self) -> Option<QueuedMessage> {
        let m = self.messages.pop_front()?;
        self.bytes -= m.rest();
        self.lifetimes -= usize::from(m.expires.is_some());
        Some(m)
    }

    /// Removes the messages that the function `dead` selects, if no part of them was sent. Calls the function `gone`
    /// for each of them.
    fn remove(&mut self, dead: impl Fn(&QueuedMessage) -> bool, gone: &mut impl FnMut(&QueuedMessage)) {
        let (bytes, lifetimes) = (&mut self.bytes, &mut self.lifetimes);
        self.messages.retain(|m| {
            let dead = !m.started() && dead(m);
            if dead {
                *bytes -= m.payload.len();
                *lifetimes -= usize::from(m.expires.is_some());
                gone(m);
            }
            !dead
        });
    }

    /// Returns whether a message of the ordered stream `stream` waits that was submitted before message `id`.
    fn precedes(&self, id: u64, stream: StreamId) -> bool {
        let earlier = self.messages.iter().take_while(|m| m.id < id);
        earlier.into_iter().any(|m| !m.unordered && m.stream == stream)
    }
}

impl SendQueue {
    pub fn push(&mut self, message: QueuedMessage) {
        self.bytes += message.rest();
        self.len += 1;
        self.classes[message.importance.index()].push(message);
    }

    /// Removes the first message of `importance`.
    fn pop(&mut self, importance: Importance) -> Option<QueuedMessage> {
        let message = self.classes[importance.index()].pop()?;
        self.bytes -= message.rest();
        self.len -= 1;
        Some(message)
    }

    /// Updates the counters after messages were removed.
    fn recount(&mut self) {
        self.bytes = self.classes.iter().map(|c| c.bytes).sum();
        self.len = self.classes.iter().map(|c| c.messages.len()).sum();
    }

    /// Returns the payload bytes that are not yet cut into chunks.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the payload bytes of one importance that are not yet cut into chunks.
    pub fn bytes_of(&self, importance: Importance) -> usize {
        self.classes[importance.index()].bytes
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn fronts(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.classes.iter().filter_map(|c| c.messages.front())
    }

    /// Returns the message of which a part was sent. If there is no such message, returns the oldest one.
    pub fn first(&self) -> Option<&QueuedMessage> {
        match self.begun {
            Some(importance) => self.classes[importance.index()].messages.front(),
            None => self.fronts().min_by_key(|m| m.id),
        }
    }

    /// Returns the first message of `importance`, if it may be sent now. The rules are those of
    /// [`crate::policy::Heads`]. For an ordered message, each older message of other importances is visited.
    pub fn head(&self, importance: Importance) -> Option<&QueuedMessage> {
        let head = self.classes[importance.index()].messages.front()?;
        if self.begun.is_some_and(|begun| begun != importance) {
            return None;
        }
        let waits = !head.started()
            && !head.unordered
            && Importance::ALL.iter().any(|other| {
                *other != importance && self.classes[other.index()].precedes(head.id, head.stream)
            });
        Some(head).filter(|_| !waits)
    }

    /// Returns the first message of `importance`. For `None` the result is that of [`SendQueue::first`].
    pub fn next(&self, importance: Option<Importance>) -> Option<&QueuedMessage> {
        importance.map_or_else(|| self.first(), |importance| self.head(importance))
    }

    /// Cuts the next chunk, of at most `max` bytes, from the message of [`SendQueue::next`]. The function `next_ssn`
    /// returns the next sequence number of an ordered stream.
    pub fn cut(
        &mut self,
        importance: Option<Importance>,
        max: usize,
        next_ssn: impl FnOnce(StreamId) -> Ssn,
    ) -> Option<Cut> {
        let importance = self.next(importance)?.importance;
        let class = &mut self.classes[importance.index()];
        let m = class.messages.front_mut()?;
        let begin = !m.started();
        let ssn = match m.ssn {
            Some(ssn) => ssn,
            None if m.unordered => Ssn(0),
            None => next_ssn(m.stream),
        };
        m.ssn = Some(ssn);
        let len = chunk_len(m.rest(), max);
        let payload = m.payload.slice(m.sent..m.sent + len);
        m.sent += len;
        class.bytes -= len;
        self.bytes -= len;
        let end = m.rest() == 0;
        let cut = Cut {
            message: m.id,
            stream: m.stream,
            ssn,
            ppid: m.ppid,
            unordered: m.unordered,
            expires: m.expires,
            importance,
            group: m.group,
            payload,
            begin,
            end,
        };
        if end {
            self.pop(importance);
        }
        self.begun = (!end).then_some(importance);
        Some(cut)
    }

    /// Removes the messages whose lifetime is over, if no part of them was sent. Calls the function `gone` for each of
    /// them. A message that was sent in part stays; [`SendQueue::drop_rest`] removes it.
    pub fn expire(&mut self, now: Instant, mut gone: impl FnMut(&QueuedMessage)) {
        let may = self.classes.iter_mut().filter(|c| c.lifetimes > 0);
        may.for_each(|c| c.remove(|m| m.expires.is_some_and(|e| e <= now), &mut gone));
        self.recount();
    }

    /// Removes the messages of `group` of which no part was sent. Calls the function `gone` for each of them.
    pub fn drop_group(&mut self, group: u64, mut gone: impl FnMut(&QueuedMessage)) {
        self.classes.iter_mut().for_each(|c| c.remove(|m| m.group == Some(group), &mut gone));
        self.recount();
    }

    /// Removes and returns the oldest message, of which no part was sent.
    pub fn take(&mut self) -> Option<QueuedMessage> {
        let first = self.first().filter(|m| !m.started())?.importance;
        self.pop(first)
    }

    /// Returns whether [`SendQueue::expire`] could drop the first message of an importance. The check is cheap enough
    /// for a call per packet.
    pub fn head_expired(&self, now: Instant) -> bool {
        self.fronts().any(|m| m.expires.is_some_and(|e| e <= now))
    }

    /// Removes and returns the message of [`SendQueue::next`], if it has a lifetime and no part of it was sent.
    pub fn give_up(&mut self, importance: Option<Importance>) -> Option<QueuedMessage> {
        let next = self.next(importance).filter(|m| !m.started() && m.expires.is_some())?;
        let importance = next.importance;
        self.pop(importance)
    }

    /// Returns the message that was sent in part.
    pub fn partial(&self) -> Option<&QueuedMessage> {
        self.classes[self.begun?.index()].messages.front()
    }

    /// Drops the rest of the message that was sent in part.
    pub fn drop_rest(&mut self) -> Option<QueuedMessage> {
        let begun = self.begun.take()?;
        self.pop(begun)
    }

    /// Returns the stream of the first message whose stream id is `streams` or more.
    pub fn first_beyond(&self, streams: StreamId) -> Option<StreamId> {
        let mut all = self.classes.iter().flat_map(|c| c.messages.iter().map(|m| m.stream));
        all.find(|s| s.0 >= streams.0)
    }

    /// Returns all messages, oldest first.
    pub fn by_age(&self) -> ByAge<'_> {
        ByAge(self.classes.each_ref().map(|c| c.messages.iter().peekable()))
    }

    /// Releases memory that was needed only for a backlog.
    pub fn shrink(&mut self) {
        self.classes.iter_mut().for_each(|c| c.messages.shrink_to_fit());
    }
}

/// The messages of a queue, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct ByAge<'a>([Peekable<vec_deque::Iter<'a, QueuedMessage>>; Importance::ALL.len()]);

impl<'a> Iterator for ByAge<'a> {
    type Item = &'a QueuedMessage;

    fn next(&mut self) -> Option<&'a QueuedMessage> {
        let fronts = self.0.iter_mut().filter_map(|class| Some((class.peek()?.id, class)));
        fronts.min_by_key(|(id, _)| *id)?.1.next()
    }
}

/// Returns the number of chunks that are still to be cut from `message`. A chunk holds at most `max` bytes.
pub(crate) fn chunks_of(message: &QueuedMessage, max: usize) -> usize {
    if message.rest() <= max { 1 } else { message.rest().div_ceil(max.max(1)) }
}

/// Returns the bytes of the next chunk of `message`. A chunk holds at most `max` bytes.
pub(crate) fn next_chunk(message: &QueuedMessage, max: usize) -> usize {
    chunk_len(message.rest(), max)
}

/// Returns the bytes of the next chunk of a message of which `rest` bytes remain. The message is cut into as few chunks
/// as possible. The chunks have about equal length, because packets of equal length can leave as one batch. The lengths
/// of all chunks except the last are multiples of four, so these chunks need no padding.
fn chunk_len(rest: usize, max: usize) -> usize {
    match rest.div_ceil(max.max(1)) {
        0 | 1 => rest,
        chunks => rest.div_ceil(chunks).next_multiple_of(4).min(max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unsent_message_with_a_lifetime_is_given_up() {
        let mut queue = SendQueue::default();
        let message = |id, expires: Option<u64>| QueuedMessage {
            id,
            stream: StreamId(0),
            ssn: None,
            ppid: Ppid(0),
            unordered: true,
            expires: expires.map(Instant::from_millis),
            importance: Importance::Normal,
            group: None,
            payload: Bytes::from_static(&[0; 1000]),
            sent: 0,
        };
        queue.push(message(0, Some(50)));
        queue.push(message(1, Some(60)));
        queue.push(message(2, None));
        assert_eq!(queue.give_up(None).map(|m| m.payload.len()), Some(1000));
        queue.cut(None, 600, |_| Ssn(0)).expect("the first half of the second message");
        assert!(queue.give_up(None).is_none() && queue.len() == 2, "some of it was sent");
        queue.drop_rest();
        assert!(queue.give_up(None).is_none() && queue.bytes() == 1000, "it has no lifetime");
    }

    #[test]
    fn chunks_are_few_and_about_as_long() {
        for max in [256, 1344, 1444] {
            for len in 1..10_000 {
                let (mut rest, mut cut) = (len, Vec::new());
                while rest > 0 {
                    cut.push(chunk_len(rest, max));
                    rest -= cut[cut.len() - 1];
                }
                assert_eq!(cut.len(), len.div_ceil(max), "{len} in {max}");
                let (last, before) = cut.split_last().expect("not empty");
                assert!(
                    before.iter().all(|c| c % 4 == 0 && (last..=&max).contains(&c)),
                    "{len} in {max}: {cut:?}"
                );
                assert!(before.iter().all(|c| c - last < 4 * cut.len()), "{len} in {max}: {cut:?}");
            }
        }
    }

    /// Returns a queue of messages of 1000 bytes, each given by its stream, whether it is ordered, and its importance.
    fn queue(messages: &[(u16, bool, Importance)]) -> SendQueue {
        let mut queue = SendQueue::default();
        for (id, (stream, ordered, importance)) in messages.iter().enumerate() {
            queue.push(QueuedMessage {
                id: id as u64,
                stream: StreamId(*stream),
                ssn: None,
                ppid: Ppid(0),
                unordered: !ordered,
                expires: None,
                importance: *importance,
                group: Some(id as u64 / 2),
                payload: Bytes::from_static(&[0; 1000]),
                sent: 0,
            });
        }
        queue
    }

    fn cut(queue: &mut SendQueue, importance: Option<Importance>, max: usize) -> Option<u64> {
        queue.cut(importance, max, |_| Ssn(0)).map(|c| c.message)
    }

    #[test]
    fn the_oldest_goes_first_unless_an_importance_is_named() {
        use Importance::{Disposable, Key, Normal};
        let mut queue =
            queue(&[(0, false, Normal), (0, false, Key), (0, false, Disposable), (0, false, Key)]);
        assert_eq!(cut(&mut queue, Some(Key), 1000), Some(1));
        assert_eq!(cut(&mut queue, None, 1000), Some(0));
        assert_eq!(cut(&mut queue, Some(Normal), 1000), None, "none of it is left");
        assert_eq!((cut(&mut queue, None, 1000), cut(&mut queue, None, 1000)), (Some(2), Some(3)));
        assert!(queue.is_empty() && queue.bytes() == 0);
    }

    #[test]
    fn a_message_goes_on_before_another_begins() {
        use Importance::{Key, Normal};
        let mut queue = queue(&[(0, false, Normal), (0, false, Key)]);
        assert_eq!(cut(&mut queue, None, 500), Some(0));
        assert!(queue.head(Key).is_none() && queue.head(Normal).is_some());
        assert_eq!((cut(&mut queue, Some(Key), 500), cut(&mut queue, None, 500)), (None, Some(0)));
        assert_eq!(cut(&mut queue, Some(Key), 500), Some(1));
        assert_eq!(queue.drop_rest().map(|m| (m.id, m.sent)), Some((1, 500)));
        assert!(queue.partial().is_none() && queue.is_empty());
    }

    /// The key message of stream 0 waits for the older message of its stream. The key message of stream 1 and unordered
    /// messages do not wait.
    #[test]
    fn an_ordered_message_overtakes_none_of_its_stream() {
        use Importance::{Key, Normal, Reference};
        let mut ordered = queue(&[(0, true, Normal), (0, true, Key), (1, true, Reference)]);
        assert!(ordered.head(Key).is_none() && ordered.head(Reference).is_some());
        assert_eq!(cut(&mut ordered, Some(Normal), 1000), Some(0));
        assert_eq!(cut(&mut ordered, Some(Key), 1000), Some(1));
        let unordered = queue(&[(0, true, Normal), (0, false, Key)]);
        assert!(unordered.head(Key).is_some());
    }

    #[test]
    fn messages_by_age_whatever_their_importance() {
        use Importance::{Disposable, Key, Normal};
        let of = [(0, false, Normal), (0, false, Key), (0, false, Disposable), (0, false, Key)];
        let mut queue = queue(&of);
        let ids = |queue: &SendQueue| queue.by_age().map(|m| m.id).collect::<Vec<_>>();
        assert_eq!(ids(&queue), [0, 1, 2, 3]);
        cut(&mut queue, Some(Key), 1000);
        cut(&mut queue, None, 600);
        assert_eq!(ids(&queue), [0, 2, 3]);
        let first = queue.by_age().next().expect("its second half");
        // Chunks of a message are alike: two of 500 bytes, not of 600 and 400.
        assert_eq!((first.rest(), chunks_of(first, 500), chunks_of(first, 499)), (500, 1, 2));
    }

    #[test]
    fn a_group_is_dropped_but_for_what_was_begun() {
        use Importance::{Key, Normal};
        let mut queue = queue(&[(0, false, Normal), (0, false, Key), (0, false, Normal), (0, false, Normal)]);
        cut(&mut queue, None, 500);
        let dropped = |queue: &mut SendQueue, group| {
            let mut gone = Vec::new();
            queue.drop_group(group, |m| gone.push(m.id));
            gone
        };
        assert_eq!((dropped(&mut queue, 0), queue.len(), queue.bytes()), (vec![1], 3, 2500));
        assert_eq!((dropped(&mut queue, 1), dropped(&mut queue, 1), queue.len()), (vec![2, 3], vec![], 1));
    }
}
