//! Messages that wait for their (next) chunk: first in, first out, fragments of a message in one run of TSNs
//! (RFC 9260 §6.9).

use std::collections::VecDeque;

use bytes::Bytes;

use crate::time::Instant;
use crate::wire::serial::{Ppid, Ssn, StreamId};

/// A message the application handed in.
#[derive(Debug)]
pub(crate) struct QueuedMessage {
    pub id: u64,
    pub stream: StreamId,
    /// Assigned with the first chunk: an expired message must not use up a sequence number.
    pub ssn: Option<Ssn>,
    pub ppid: Ppid,
    pub unordered: bool,
    pub expires: Option<Instant>,
    pub payload: Bytes,
    /// Bytes already cut into chunks.
    pub sent: usize,
}

impl QueuedMessage {
    pub fn started(&self) -> bool {
        self.ssn.is_some()
    }
}

/// The queue of messages of one association.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    messages: VecDeque<QueuedMessage>,
    bytes: usize,
    /// Some message may expire.
    lifetimes: usize,
}

/// A chunk cut from the first message.
#[derive(Debug)]
pub(crate) struct Cut {
    pub message: u64,
    pub stream: StreamId,
    pub ssn: Ssn,
    pub ppid: Ppid,
    pub unordered: bool,
    pub expires: Option<Instant>,
    pub payload: Bytes,
    pub begin: bool,
    pub end: bool,
}

impl SendQueue {
    pub fn push(&mut self, message: QueuedMessage) {
        self.bytes += message.payload.len();
        self.lifetimes += usize::from(message.expires.is_some());
        self.messages.push_back(message);
    }

    /// Payload bytes not yet cut into chunks.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn len(&self) -> usize {
        self.messages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Payload of the next chunk if no chunk holds more than `max` bytes, and its message's expiry.
    pub fn next_chunk(&self, max: usize) -> Option<(usize, Option<Instant>)> {
        self.messages.front().map(|m| (chunk_len(m.payload.len() - m.sent, max), m.expires))
    }

    /// Cuts the next chunk of at most `max` bytes; `next_ssn` gives an ordered stream's next sequence number.
    pub fn cut(&mut self, max: usize, next_ssn: impl FnOnce(StreamId) -> Ssn) -> Option<Cut> {
        let m = self.messages.front_mut()?;
        let begin = !m.started();
        let ssn = match m.ssn {
            Some(ssn) => ssn,
            None if m.unordered => Ssn(0),
            None => next_ssn(m.stream),
        };
        m.ssn = Some(ssn);
        let len = chunk_len(m.payload.len() - m.sent, max);
        let payload = m.payload.slice(m.sent..m.sent + len);
        m.sent += len;
        self.bytes -= len;
        let end = m.sent == m.payload.len();
        let cut = Cut {
            message: m.id,
            stream: m.stream,
            ssn,
            ppid: m.ppid,
            unordered: m.unordered,
            expires: m.expires,
            payload,
            begin,
            end,
        };
        if end {
            self.pop();
        }
        Some(cut)
    }

    /// Removes messages whose lifetime is over and of which nothing was sent yet, oldest first; returns how many.
    /// A message in the middle of its chunks is left to [`SendQueue::drop_rest`].
    pub fn expire(&mut self, now: Instant) -> usize {
        if self.lifetimes == 0 {
            return 0;
        }
        let before = self.messages.len();
        let (bytes, lifetimes) = (&mut self.bytes, &mut self.lifetimes);
        self.messages.retain(|m| {
            let dead = !m.started() && m.expires.is_some_and(|e| e <= now);
            if dead {
                *bytes -= m.payload.len();
                *lifetimes -= 1;
            }
            !dead
        });
        before - self.messages.len()
    }

    /// Removes the first message, of which nothing was sent yet.
    pub fn take(&mut self) -> Option<QueuedMessage> {
        self.messages.front().filter(|m| !m.started())?;
        self.pop()
    }

    /// Whether the first message could be dropped by [`SendQueue::expire`]: cheap enough to ask for each packet.
    pub fn head_expired(&self, now: Instant) -> bool {
        self.messages.front().is_some_and(|m| m.expires.is_some_and(|e| e <= now))
    }

    /// Removes the first message if it has a lifetime and nothing of it was sent yet; its bytes.
    pub fn give_up(&mut self) -> Option<usize> {
        self.messages.front().filter(|m| !m.started() && m.expires.is_some())?;
        self.pop().map(|m| m.payload.len())
    }

    /// The message of which some chunks were sent and some not.
    pub fn partial(&self) -> Option<&QueuedMessage> {
        self.messages.front().filter(|m| m.started())
    }

    /// Forgets the rest of a partly sent message.
    pub fn drop_rest(&mut self) -> Option<QueuedMessage> {
        self.partial()?;
        self.pop()
    }

    /// The stream of the first message whose stream id is not below `streams`.
    pub fn first_beyond(&self, streams: StreamId) -> Option<StreamId> {
        self.messages.iter().map(|m| m.stream).find(|s| s.0 >= streams.0)
    }

    /// Gives memory back that a backlog needed.
    pub fn shrink(&mut self) {
        self.messages.shrink_to_fit();
    }

    fn pop(&mut self) -> Option<QueuedMessage> {
        let m = self.messages.pop_front()?;
        self.bytes -= m.payload.len() - m.sent;
        self.lifetimes -= usize::from(m.expires.is_some());
        Some(m)
    }
}

/// Bytes of the next chunk of a message of which `rest` bytes remain: as few chunks as can be, all about as long, since
/// packets of one length leave as one batch. But for the last, a multiple of four, so that nothing is padding.
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
            payload: Bytes::from_static(&[0; 1000]),
            sent: 0,
        };
        queue.push(message(0, Some(50)));
        queue.push(message(1, Some(60)));
        queue.push(message(2, None));
        assert_eq!(queue.give_up(), Some(1000));
        queue.cut(600, |_| Ssn(0)).expect("the first half of the second message");
        assert_eq!((queue.give_up(), queue.len()), (None, 2), "some of it was sent");
        queue.drop_rest();
        assert_eq!((queue.give_up(), queue.len(), queue.bytes()), (None, 1, 1000), "it has no lifetime");
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
}
