//! Packing of packets into messages, and decoding of messages.

use core::time::Duration;
use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::message::{Body, End, HEADER_LEN, Header, MAX_PACKETS, Message};
use super::worth::{Part, Weigher};
use crate::MediaTime;
use crate::ts::{Marks, PACKET_LEN, Packet};

/// Parameters for packing packets into messages.
#[derive(Debug, Clone, Copy)]
pub struct PackConfig {
    /// Identifier of this run of the sender. The identifier is drawn at random, so that a receiver recognises a new
    /// run.
    pub session: u32,
    /// Transport packets per message, 1 to 7.
    pub packets_per_message: usize,
    /// Longest time between the first and the last packet of a message. A slow stream is delayed by at most this time.
    pub hold: Duration,
    /// Time after its send time for which a message is useful.
    pub lifetime: Option<Duration>,
}

impl PackConfig {
    /// Seven packets per message, held for at most 20 ms, without a lifetime.
    pub fn new(session: u32) -> Self {
        PackConfig {
            session,
            packets_per_message: MAX_PACKETS,
            hold: Duration::from_millis(20),
            lifetime: None,
        }
    }
}

/// A message to send.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Due time of the message, which is the time of its first packet. The due time uses the clock of the times that
    /// the packer was given.
    pub send_at: MediaTime,
    /// Header of the message, as written into `wire`.
    pub header: Header,
    /// Importance of the message, and its frame.
    pub part: Part,
    /// True for the message that ends the stream, which should be sent reliably.
    pub end: bool,
    /// Encoded message.
    pub wire: Bytes,
}

/// A message without header.
#[derive(Debug)]
struct Filling {
    /// Time of the message's first packet.
    at: MediaTime,
    marks: Marks,
    part: Part,
    /// Reserved bytes of the message's header, followed by the message's packets.
    wire: BytesMut,
}

/// Collects stamped packets into messages.
#[derive(Debug)]
pub struct Packer {
    config: PackConfig,
    /// Packets per message.
    most: usize,
    /// Time of the session's first packet.
    origin: Option<MediaTime>,
    weigher: Weigher,
    /// The message being filled.
    filling: Option<Filling>,
    /// Full messages. The headers of full messages are written when they are sent, so that the totals count sent
    /// messages.
    ready: VecDeque<Filling>,
    /// Time of the stream's end. The end follows the complete messages.
    ending: Option<MediaTime>,
    sequence: u32,
    totals: End,
}

impl Packer {
    /// Number of the session.
    pub fn session(&self) -> u32 {
        self.config.session
    }

    /// Creates a packer at the beginning of a session.
    pub fn new(mut config: PackConfig) -> Self {
        config.packets_per_message = config.packets_per_message.clamp(1, MAX_PACKETS);
        Packer {
            most: config.packets_per_message,
            config,
            origin: None,
            weigher: Weigher::default(),
            filling: None,
            ready: VecDeque::new(),
            ending: None,
            sequence: 0,
            totals: End::default(),
        }
    }

    /// Accepts a packet that is due, or arrived, at `at`. Times of these calls never decrease.
    pub fn push(&mut self, at: MediaTime, packet: &Packet, marks: Marks) {
        self.handle_timeout(at);
        let full = HEADER_LEN + self.most * PACKET_LEN;
        let part = self.weigher.weigh(packet, marks);
        let filling = self.filling.get_or_insert_with(|| {
            let mut wire = BytesMut::with_capacity(full);
            wire.resize(HEADER_LEN, 0);
            Filling { at, marks, part, wire }
        });
        filling.marks = filling.marks.union(marks);
        filling.part = filling.part.union(part);
        filling.wire.extend_from_slice(packet.as_bytes());
        if filling.wire.len() >= full {
            self.flush();
        }
    }

    /// Sets the maximum size in bytes of messages from now on. The caller gives the size that fits a packet of the
    /// transport on every path. A message always has at least one packet, and at most the configured number of packets.
    /// A message that already has as many packets as fit is then complete.
    pub fn limit(&mut self, bytes: usize) {
        let packets = bytes.saturating_sub(HEADER_LEN) / PACKET_LEN;
        self.most = packets.clamp(1, self.config.packets_per_message);
        let full = HEADER_LEN + self.most * PACKET_LEN;
        if self.filling.as_ref().is_some_and(|f| f.wire.len() >= full) {
            self.flush();
        }
    }

    /// Time at which [`Packer::handle_timeout`] releases a message that is not full.
    pub fn poll_timeout(&self) -> Option<MediaTime> {
        self.filling.as_ref().map(|f| f.at + self.config.hold)
    }

    /// Releases a message whose holding time has passed at `now`.
    pub fn handle_timeout(&mut self, now: MediaTime) {
        if self.poll_timeout().is_some_and(|due| due <= now) {
            self.flush();
        }
    }

    /// Ends the stream at `now`: releases the pending message, then the end.
    pub fn finish(&mut self, now: MediaTime) {
        self.flush();
        self.ending = Some(now);
    }

    /// Ends the stream at `now` and drops messages not yet polled.
    pub fn stop(&mut self, now: MediaTime) {
        self.filling = None;
        self.ready.clear();
        self.ending = Some(now);
    }

    /// Due time of the next message; `None` if no message is complete.
    pub fn next_at(&self) -> Option<MediaTime> {
        self.ready.front().map(|f| f.at).or(self.ending)
    }

    /// Due time of the last complete message.
    pub fn last_at(&self) -> Option<MediaTime> {
        self.ready.back().map(|f| f.at)
    }

    /// The next message.
    pub fn poll(&mut self) -> Option<Outgoing> {
        let Some(Filling { at: send_at, marks, part, mut wire }) = self.ready.pop_front() else {
            return self.ending.take().map(|at| self.end(at));
        };
        let header = self.next_header(send_at, marks);
        wire[..HEADER_LEN].copy_from_slice(&header.encode(false));
        let payload = &wire[HEADER_LEN..];
        self.totals.messages += 1;
        self.totals.bytes += payload.len() as u64;
        self.totals.crc32c = crc32c::crc32c_append(self.totals.crc32c, payload);
        Some(Outgoing { send_at, header, part, end: false, wire: wire.freeze() })
    }

    /// Totals of the messages polled until now.
    pub fn totals(&self) -> End {
        self.totals
    }

    fn end(&mut self, at: MediaTime) -> Outgoing {
        let header = self.next_header(at, Marks::default());
        let wire = Message { header, body: Body::End(self.totals) }.encode();
        Outgoing { send_at: at, header, part: Part::default(), end: true, wire }
    }

    fn flush(&mut self) {
        self.ready.extend(self.filling.take());
    }

    fn next_header(&mut self, at: MediaTime, marks: Marks) -> Header {
        let since = at - *self.origin.get_or_insert(at);
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        Header {
            session: self.config.session,
            sequence,
            sent: MediaTime::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX)),
            lifetime: self.config.lifetime,
            marks,
        }
    }
}

/// Decodes messages and counts malformed ones.
#[derive(Debug, Default)]
pub struct Unpacker {
    malformed: u64,
}

impl Unpacker {
    /// Creates an unpacker.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a message. Returns `None` for a malformed message and counts it.
    pub fn unpack(&mut self, wire: Bytes) -> Option<Message> {
        let message = Message::decode(wire).ok();
        self.malformed += u64::from(message.is_none());
        message
    }

    /// Number of malformed messages.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }
}
