//! The send buffer: messages that wait, and how many bytes wait or are not yet acknowledged.

use bytes::Bytes;

use crate::association::buffer_size::SendSize;
use crate::association::right_sizing::Buffer;
use crate::config::TransportConfig;
use crate::policy::{Heads, Importance, MessageHead, Queued};
use crate::time::{Duration, Instant};
use crate::tx::{Cut, QueuedMessage, SendQueue, next_chunk};
use crate::wire::{Ppid, Ssn, StreamId};

/// How a message is sent.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct SendOptions {
    /// Which stream.
    pub stream: u16,
    /// Payload protocol identifier, the application's own business.
    pub ppid: u32,
    /// Deliver as soon as complete, whatever came before.
    pub unordered: bool,
    /// Give the message up when this time has passed; sent reliably if the peer has no RFC 3758, once it was begun.
    pub lifetime: Option<Duration>,
    /// How much it matters that it arrives, for schemes that look at it ([`crate::policy::Backlog::heads`]): with others, and
    /// where messages leave in coded blocks, messages leave in the order in which they were handed in.
    pub importance: Importance,
    /// What it is of no use without, and they without it, as the packets of a frame. A scheme may give up a whole group, whether
    /// or not its messages have a lifetime ([`crate::policy::Act::Drop`]); what comes later of it goes no further.
    pub group: Option<u64>,
}

/// Why a message was not taken.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// There is no such association, or it is closing.
    #[error("the association is closed or closing")]
    Closed,
    /// More than the send buffer holds waits ([`crate::config::TransportConfig::send_buffer`]); `Event::Writable` follows.
    #[error("the send buffer is full")]
    Full,
    /// The stream was not opened.
    #[error("stream {0} was not opened")]
    NoSuchStream(u16),
    /// Blocks hold messages of less than 16 MiB ([`crate::coding::Coding::Blocks`]).
    #[error("a message of {0} bytes is too long for coded blocks")]
    TooLong(usize),
    /// SCTP has no empty messages.
    #[error("a message needs at least one byte")]
    Empty,
}

/// See the [module](self).
#[derive(Debug)]
pub(super) struct SendBuffer {
    queue: SendQueue,
    /// Next SSN of each outbound stream.
    next_ssn: Vec<u16>,
    next_message: u64,
    /// Payload bytes of messages not yet fully acknowledged.
    bytes: usize,
    /// How many there may be.
    size: SendSize,
    /// The application met a full buffer.
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

    /// Drops what waits.
    pub fn clear(&mut self) {
        self.queue = SendQueue::default();
    }

    pub fn shrink(&mut self) {
        self.queue.shrink();
    }

    /// Takes a message; its number.
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

    /// Cuts the next chunk, of at most `max` payload bytes, from the first message of `importance`; `None`: the oldest.
    #[inline]
    pub fn cut(&mut self, importance: Option<Importance>, max: usize) -> Option<Cut> {
        let next_ssn = &mut self.next_ssn;
        self.queue.cut(importance, max, |stream| take_ssn(next_ssn, stream))
    }

    /// Takes the oldest message whole; its bytes count until they are [`delivered`](Self::delivered).
    pub fn take(&mut self) -> Option<QueuedMessage> {
        self.queue.take()
    }

    /// Length of the chunk that [`Self::cut`] would give, and the message that it is of.
    pub fn next_chunk(&self, importance: Option<Importance>, max: usize) -> Option<(usize, &QueuedMessage)> {
        self.queue.next(importance).map(|m| (next_chunk(m, max), m))
    }

    /// The heads of what waits. Chunks have at most `max` bytes of payload, and `beside` more in the books.
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

    /// What waits, for parts that act; chunks as in [`SendBuffer::heads`].
    pub fn waiting(&self, max: usize, beside: usize) -> Queued<'_> {
        Queued { messages: &self.queue, max, beside }
    }

    pub fn head_expired(&self, now: Instant) -> bool {
        self.queue.head_expired(now)
    }

    /// Drops messages whose lifetime is over and of which nothing was sent; `gone` gets each of them.
    pub fn expire(&mut self, now: Instant, gone: impl FnMut(&QueuedMessage)) {
        let before = self.queue.bytes();
        self.queue.expire(now, gone);
        self.bytes -= before - self.queue.bytes();
    }

    /// The message of which some was sent and some not.
    pub fn begun(&self) -> Option<&QueuedMessage> {
        self.queue.partial()
    }

    /// Its number, if its lifetime is over.
    pub fn begun_and_late(&self, now: Instant) -> Option<u64> {
        self.begun().filter(|m| m.expires.is_some_and(|e| e <= now)).map(|m| m.id)
    }

    /// Drops the messages of `group` of which nothing was sent; `gone` gets each of them.
    pub fn drop_group(&mut self, group: u64, gone: impl FnMut(&QueuedMessage)) {
        let before = self.queue.bytes();
        self.queue.drop_group(group, gone);
        self.bytes -= before - self.queue.bytes();
    }

    /// Takes a message that goes no further; its number.
    pub fn pass_over(&mut self) -> u64 {
        let id = self.next_message;
        self.next_message += 1;
        id
    }

    /// Drops the first message of `importance` if nothing of it was sent and it has a lifetime.
    pub fn give_up(&mut self, importance: Option<Importance>) -> Option<QueuedMessage> {
        self.queue.give_up(importance).inspect(|m| self.bytes -= m.payload.len())
    }

    /// Drops what was not sent of `message`, if it was begun.
    pub fn drop_rest(&mut self, message: u64) -> Option<QueuedMessage> {
        self.begun().filter(|m| m.id == message)?;
        let rest = self.queue.drop_rest()?;
        self.bytes -= rest.payload.len() - rest.sent;
        Some(rest)
    }

    /// So many payload bytes are done with: acknowledged cumulatively or abandoned.
    pub fn delivered(&mut self, bytes: usize) {
        self.bytes -= bytes;
    }

    /// A message was refused.
    pub fn refuse(&mut self) {
        self.refused = true;
    }

    /// Whether a message was refused and the application was not notified of room since.
    pub fn refused(&self) -> bool {
        self.refused
    }

    /// Whether to notify the application now that there is room again.
    pub fn room_returns(&mut self) -> bool {
        let returns = self.refused && self.bytes <= self.size.size / 4 * 3;
        self.refused &= !returns;
        returns
    }

    /// See [`SendSize::fit`].
    pub fn fit(&mut self, now: Instant, need: u64, least: usize, most: usize) {
        self.size.fit(now, need, least, most);
    }

    /// Bytes it may hold.
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

    /// Messages not yet sent to their end.
    pub fn messages(&self) -> usize {
        self.queue.len()
    }

    /// Messages not yet sent to their end, oldest first.
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

    /// The first stream of a message in the queue that was not opened.
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

    /// `Event::Writable` follows a refusal once, when a quarter of the buffer is free again.
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
