//! Packets into messages, and messages out of bytes.

use super::message::{Body, End, HEADER_LEN, Header, MAX_PACKETS, Message};
use crate::MediaTime;
use crate::ts::{Marks, PACKET_LEN, Packet};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use std::collections::VecDeque;

/// How packets are put into messages.
#[derive(Debug, Clone, Copy)]
pub struct PackConfig {
    /// Which run of the sender this is: drawn at random, so that a receiver can tell a new one.
    pub session: u32,
    /// Transport packets a message, 1 to 7.
    pub packets_per_message: usize,
    /// Longest time between a message's first and last packet: how long a slow stream is held back.
    pub hold: Duration,
    /// How long after its send time a message is of use.
    pub lifetime: Option<Duration>,
}

impl PackConfig {
    /// Seven packets a message, held for 20 ms at most, without a lifetime.
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
    /// When it is due, in the clock that the packets were stamped with: the time of its first packet.
    pub send_at: MediaTime,
    /// Its header, as written into `wire`.
    pub header: Header,
    /// It ends the stream: worth more care than others.
    pub end: bool,
    /// Its bytes.
    pub wire: Bytes,
}

/// Collects stamped packets into messages.
#[derive(Debug)]
pub struct Packer {
    config: PackConfig,
    /// Time of the session's first packet.
    origin: Option<MediaTime>,
    /// Header's room and packets of the message being filled, and its first packet's time.
    filling: Option<(MediaTime, Marks, BytesMut)>,
    /// Messages without their header: it is written when they go, so that the totals count what went.
    ready: VecDeque<(MediaTime, Marks, BytesMut)>,
    /// The stream ends then, behind what is ready.
    ending: Option<MediaTime>,
    sequence: u32,
    totals: End,
}

impl Packer {
    /// A packer at the beginning of a session.
    pub fn new(mut config: PackConfig) -> Self {
        config.packets_per_message = config.packets_per_message.clamp(1, MAX_PACKETS);
        Packer {
            config,
            origin: None,
            filling: None,
            ready: VecDeque::new(),
            ending: None,
            sequence: 0,
            totals: End::default(),
        }
    }

    /// Takes in a packet that is due, or arrived, at `at`; times never go back.
    pub fn push(&mut self, at: MediaTime, packet: &Packet, marks: Marks) {
        self.handle_timeout(at);
        let full = HEADER_LEN + self.config.packets_per_message * PACKET_LEN;
        let (_, all, wire) = self.filling.get_or_insert_with(|| {
            let mut wire = BytesMut::with_capacity(full);
            wire.resize(HEADER_LEN, 0);
            (at, Marks::default(), wire)
        });
        *all = all.union(marks);
        wire.extend_from_slice(packet.as_bytes());
        if wire.len() >= full {
            self.flush();
        }
    }

    /// When a message that is not full has been held long enough; then call [`Packer::handle_timeout`].
    pub fn poll_timeout(&self) -> Option<MediaTime> {
        self.filling.as_ref().map(|(since, ..)| *since + self.config.hold)
    }

    /// Lets go a message that has been held long enough at `now`.
    pub fn handle_timeout(&mut self, now: MediaTime) {
        if self.poll_timeout().is_some_and(|due| due <= now) {
            self.flush();
        }
    }

    /// Ends the stream at `now`: lets go what is held, then the message that says so.
    pub fn finish(&mut self, now: MediaTime) {
        self.flush();
        self.ending = Some(now);
    }

    /// Ends the stream at `now`, dropping what has not been polled.
    pub fn stop(&mut self, now: MediaTime) {
        self.filling = None;
        self.ready.clear();
        self.ending = Some(now);
    }

    /// When the next message is due; `None` while there is none.
    pub fn next_at(&self) -> Option<MediaTime> {
        self.ready.front().map(|&(at, ..)| at).or(self.ending)
    }

    /// When the last message that is complete is due.
    pub fn last_at(&self) -> Option<MediaTime> {
        self.ready.back().map(|&(at, ..)| at)
    }

    /// The next message.
    pub fn poll(&mut self) -> Option<Outgoing> {
        let Some((send_at, marks, mut wire)) = self.ready.pop_front() else {
            return self.ending.take().map(|at| self.end(at));
        };
        let header = self.next_header(send_at, marks);
        wire[..HEADER_LEN].copy_from_slice(&header.encode(false));
        let payload = &wire[HEADER_LEN..];
        self.totals.messages += 1;
        self.totals.bytes += payload.len() as u64;
        self.totals.crc32c = crc32c::crc32c_append(self.totals.crc32c, payload);
        Some(Outgoing { send_at, header, end: false, wire: wire.freeze() })
    }

    /// What was polled so far.
    pub fn totals(&self) -> End {
        self.totals
    }

    fn end(&mut self, at: MediaTime) -> Outgoing {
        let header = self.next_header(at, Marks::default());
        let wire = Message { header, body: Body::End(self.totals) }.encode();
        Outgoing { send_at: at, header, end: true, wire }
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

/// Reads messages and counts what is none.
#[derive(Debug, Default)]
pub struct Unpacker {
    malformed: u64,
}

impl Unpacker {
    /// An unpacker that has counted nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a message; `None`, and one more malformed, if it is none.
    pub fn unpack(&mut self, wire: Bytes) -> Option<Message> {
        let message = Message::decode(wire).ok();
        self.malformed += u64::from(message.is_none());
        message
    }

    /// How many messages were none.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }
}
