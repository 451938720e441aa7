//! The send buffer: messages that wait to be sent, and the bytes that are not yet acknowledged.

use bytes::Bytes;

use crate::association::buffer_size::SendSize;
use crate::association::right_sizing::Buffer;
use crate::config::TransportConfig;
use crate::policy::{Heads, Importance, MessageHead, Queued};
use crate::time::{Duration, Instant};
use crate::tx::{Cut, QueuedMessage, SendQueue, next_chunk};
use crate::wire::{Ppid, Ssn, StreamId};

/// Options of a message.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct SendOptions {
    /// Stream of the message.
    pub stream: u16,
    /// Payload protocol identifier. Only the application uses it.
    pub ppid: u32,
    /// If true, the message is delivered once it is complete, regardless of its order.
    pub unordered: bool,
    /// Time after which the sender gives up the message. If the peer does not support RFC 3758, the sender completes a
    /// message that it has already sent in part.
    pub lifetime: Option<Duration>,
    /// Importance of the message, for schemes that use it ([`crate::policy::Backlog::heads`]). With coded blocks, and
    /// with other schemes, messages leave in the order in which they were submitted.
    pub importance: Importance,
    /// Group of messages that are useful only together, such as the packets of a frame. A scheme may give up a whole
    /// group, whether or not its messages have a lifetime ([`crate::policy::Act::Drop`]). The sender then also gives up
    /// messages of the group that are submitted later.
    pub group: Option<u64>,
}

/// Reason for refusing a message.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The association does not exist or is closing.
    #[error("the association is closed or closing")]
    Closed,
    /// The send buffer is full ([`crate::config::TransportConfig::send_buffer`]). `Event::Writable` follows when there
    /// is room.
    #[error("the send buffer is full")]
    Full,
    /// The stream is not open.
    #[error("stream {0} was not opened")]
    NoSuchStream(u16),
    /// A message in coded blocks must be shorter than 16 MiB ([`crate::coding::Coding::Blocks`]).
    #[error("a message of {0} bytes is too long for coded blocks")]
    TooLong(usize),
    /// SCTP has no empty messages.
    #[error("a message needs at least one byte")]
    Empty,
}

/// The send buffer; see the [module](self).
#[derive(Debug)]
pub(super) struct SendBuffer {
    queue: SendQueue,
    /// Next SSN of each outbound stream.
    next_ssn: Vec<u16>,
    next_message: u64,
    /// Payload bytes of messages that are not yet fully acknowledged.
    bytes: usize,
    /// Limit of `bytes`.
    size: SendSize,
    /// True if a message was refused because the buffer was full.
    refused: bool,
}

impl SendBuffer {
    pub fn new(config: &TransportConfig) -> Self {
        SendBuffer {
            queue: SendQueue::default(),
            next_ssn: vec![0; usize::from(config.outbound_streams)],
            next_message: 0,
            bytes: 0,
            size: SendSize::new(config),
            refused: false,
        }
    }

    /// Drops all messages that wait to be sent.
    pub fn clear(&mut self) {
        self.queue = SendQueue::default();
    }

    pub fn shrink(&mut self) {
        self.queue.shrink();
    }

    /// Queues a message. Returns the number of the message.
    #[inline]
    pub fn push(&mut self, now: Instant, payload: Bytes, options: SendOptions) -> u64 {
        let id = self.pass_over();
        self.bytes += payload.len();
        self.size.most = self.size.most.max(self.bytes);
        self.queue.push(QueuedMessage {
            id,
            stream: StreamId(options.stream),
            ssn: None,
            ppid: Ppid(options.ppid),
            unordered: options.unordered,
            expires: options.lifetime.map(|l| now + l),
            importance: options.importance,
            group: options.group,
            payload,
            sent: 0,
        });
        id
    }

    /// Cuts the next chunk, of at most `max` payload bytes, from the first message of `importance`. `None` selects the
    /// oldest message.
    #[inline]
    pub fn cut(&mut self, importance: Option<Importance>, max: usize) -> Option<Cut> {
        let next_ssn = &mut self.next_ssn;
        self.queue.cut(importance, max, |stream| take_ssn(next_ssn, stream))
    }

    /// Removes and returns the whole oldest message. The bytes of the message count as used until
    /// [`delivered`](Self::delivered) is called.
    pub fn take(&mut self) -> Option<QueuedMessage> {
        self.queue.take()
    }

    /// Returns the length of the chunk that [`Self::cut`] would return, and the message of this chunk.
    pub fn next_chunk(&self, importance: Option<Importance>, max: usize) -> Option<(usize, &QueuedMessage)> {
        self.queue.next(importance).map(|m| (next_chunk(m, max), m))
    }

    /// Returns the first waiting message of each importance. A chunk has at most `max` bytes of payload. Each chunk
    /// counts `beside` bytes in addition.
    pub fn heads(&self, max: usize, beside: usize) -> Heads {
        let heads = Importance::ALL.iter().filter_map(|i| self.queue.head(*i));
        let shown = heads.map(|m| MessageHead {
            importance: m.importance,
            next_len: (next_chunk(m, max) + beside) as u64,
            next_expires: m.expires,
            group: m.group,
            bytes: self.queue.bytes_of(m.importance) as u64,
        });
        shown.collect()
    }

    /// Returns the waiting data, for the parts of a scheme that act spontaneously. Chunk sizes are those of
    /// [`SendBuffer::heads`].
    pub fn waiting(&self, max: usize, beside: usize) -> Queued<'_> {
        Queued { messages: &self.queue, max, beside }
    }

    pub fn head_expired(&self, now: Instant) -> bool {
        self.queue.head_expired(now)
    }

    /// Drops unsent messages whose lifetime is over. Calls the function `gone` for each of them.
    pub fn expire(&mut self, now: Instant, gone: impl FnMut(&QueuedMessage)) {
        let before = self.queue.bytes();
        self.queue.expire(now, gone);
        self.bytes -= before - self.queue.bytes();
    }

    /// Returns the message that was sent in part.
    pub fn begun(&self) -> Option<&QueuedMessage> {
        self.queue.partial()
    }

    /// Returns the number of the message that was sent in part, if the message's lifetime is over.
    pub fn begun_and_late(&self, now: Instant) -> Option<u64> {
        self.begun().filter(|m| m.expires.is_some_and(|e| e <= now)).map(|m| m.id)
    }

    /// Drops the unsent messages of `group`. Calls the function `gone` for each of them.
    pub fn drop_group(&mut self, group: u64, gone: impl FnMut(&QueuedMessage)) {
        let before = self.queue.bytes();
        self.queue.drop_group(group, gone);
        self.bytes -= before - self.queue.bytes();
    }

    /// Counts a message that is given up at submission. Returns the number of this message.
    pub fn pass_over(&mut self) -> u64 {
        let id = self.next_message;
        self.next_message += 1;
        id
    }

    /// Drops the first message of `importance`, if it has a lifetime and no part of it was sent.
    pub fn give_up(&mut self, importance: Option<Importance>) -> Option<QueuedMessage> {
        self.queue.give_up(importance).inspect(|m| self.bytes -= m.payload.len())
    }

    /// Drops the unsent rest of `message`, if a part of it was sent.
    pub fn drop_rest(&mut self, message: u64) -> Option<QueuedMessage> {
        self.begun().filter(|m| m.id == message)?;
        let rest = self.queue.drop_rest()?;
        self.bytes -= rest.payload.len() - rest.sent;
        Some(rest)
    }

    /// Releases `bytes` payload bytes, which were acknowledged cumulatively or abandoned.
    pub fn delivered(&mut self, bytes: usize) {
        self.bytes -= bytes;
    }

    /// Records that the buffer refused a message.
    pub fn refuse(&mut self) {
        self.refused = true;
    }

    /// Returns whether the buffer refused a message and has not yet notified the application of room.
    pub fn refused(&self) -> bool {
        self.refused
    }

    /// Returns whether the application must now be notified that the buffer has room again.
    pub fn room_returns(&mut self) -> bool {
        let returns = self.refused && self.bytes <= self.size.size / 4 * 3;
        self.refused &= !returns;
        returns
    }

    /// See [`SendSize::fit`].
    pub fn fit(&mut self, now: Instant, need: u64, least: usize, most: usize) {
        self.size.fit(now, need, least, most);
    }

    /// Returns the bytes that the buffer may hold.
    pub fn size(&self) -> usize {
        self.size.size
    }

    /// Payload bytes of messages not yet fully acknowledged.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Payload bytes that were sent and are not yet acknowledged cumulatively.
    pub fn outstanding(&self) -> usize {
        self.bytes.saturating_sub(self.queue.bytes())
    }

    /// Payload bytes not yet sent.
    pub fn queued(&self) -> usize {
        self.queue.bytes()
    }

    /// Number of messages that are not completely sent.
    pub fn messages(&self) -> usize {
        self.queue.len()
    }

    /// Messages that are not completely sent, oldest first.
    pub fn by_age(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.queue.by_age()
    }

    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub fn heap(&self) -> usize {
        self.bytes + self.queue.len() * size_of::<QueuedMessage>()
    }

    pub fn streams(&self) -> usize {
        self.next_ssn.len()
    }

    pub fn limit_streams(&mut self, streams: u16) {
        self.next_ssn.resize(usize::from(streams), 0);
    }

    /// Returns the first stream of a queued message that is not open.
    pub fn first_beyond(&self) -> Option<StreamId> {
        self.queue.first_beyond(StreamId(self.next_ssn.len() as u16))
    }

    pub fn describe(&self) -> Buffer {
        Buffer { size: self.size.size, used: self.bytes, most_used: self.size.most }
    }
}

fn take_ssn(next: &mut [u16], stream: StreamId) -> Ssn {
    let slot = &mut next[usize::from(stream.0)];
    let ssn = Ssn(*slot);
    *slot = slot.wrapping_add(1);
    ssn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(size: usize) -> SendBuffer {
        SendBuffer::new(&TransportConfig { send_buffer: size, ..TransportConfig::default() })
    }

    /// After a refusal, one `Event::Writable` follows, when a quarter of the buffer is free again.
    #[test]
    fn room_is_told_of_once_and_only_after_a_refusal() {
        let mut b = buffer(4000);
        b.push(Instant::ZERO, Bytes::from_static(&[0; 4000]), SendOptions::default());
        b.cut(None, 4000).expect("a message waits");
        assert!(!b.room_returns(), "no message was refused");
        b.refuse();
        b.delivered(999);
        assert!(!b.room_returns() && b.refused(), "less than a quarter is free");
        b.delivered(1);
        assert!(b.room_returns() && !b.room_returns());
    }

    #[test]
    fn bytes_count_until_they_are_acknowledged() {
        let mut b = buffer(10_000);
        b.push(Instant::ZERO, Bytes::from_static(&[0; 3000]), SendOptions::default());
        b.cut(None, 1000).expect("a message waits");
        assert_eq!((b.bytes(), b.outstanding(), b.queued()), (3000, 1000, 2000));
        b.delivered(1000);
        assert_eq!((b.bytes(), b.outstanding(), b.queued()), (2000, 0, 2000));
        let rest = b.drop_rest(0).expect("it was begun");
        assert_eq!((rest.sent, b.bytes(), b.is_empty()), (1000, 0, true));
    }

    #[test]
    fn ssns_count_ordered_messages_of_a_stream() {
        let mut b = buffer(10_000);
        let message = |stream, unordered| SendOptions { stream, unordered, ..SendOptions::default() };
        b.limit_streams(2);
        for (stream, unordered) in [(0, false), (1, false), (0, true), (0, false)] {
            b.push(Instant::ZERO, Bytes::from_static(&[0; 10]), message(stream, unordered));
        }
        let ssns: Vec<_> = core::iter::from_fn(|| b.cut(None, 100)).map(|c| (c.stream.0, c.ssn.0)).collect();
        assert_eq!(ssns, [(0, 0), (1, 0), (0, 0), (0, 1)]);
    }
}
