//! State machine of playout, which accepts messages and returns transport packets at their time.

use core::time::Duration;
use std::collections::VecDeque;

use bytes::Bytes;

use super::session::{Arrival, Session};
use super::shift::ClockChange;
use super::stats::PlayoutStats;
use crate::MediaTime;
use crate::pack::{Body, End, Header, Message};
use crate::ts::PACKET_LEN;

/// Configuration of a [`Playout`].
#[derive(Debug, Clone, Copy)]
pub struct PlayoutConfig {
    /// Time from sending a message to playing it.
    pub latency: Duration,
    /// Maximum bytes of held transport packets. The number of held messages is bounded accordingly. Further messages
    /// are dropped.
    pub max_bytes: usize,
}

impl PlayoutConfig {
    /// Makes a configuration with this latency and 64 MiB.
    pub fn new(latency: Duration) -> Self {
        PlayoutConfig { latency, max_bytes: 64 << 20 }
    }
}

/// One message, played.
#[derive(Debug, Clone)]
pub struct Released {
    /// Due time of the message, on the receiver's clock.
    pub due: MediaTime,
    /// Header of the message.
    pub header: Header,
    /// Transport packets of the message.
    pub payload: Bytes,
}

/// A stream's end, played at its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Totals of the sent messages.
    pub sent: End,
    /// Totals of the messages played in this session.
    pub played: End,
}

impl Ended {
    /// Returns whether every byte was played: count, length and checksum agree.
    pub fn identical(&self) -> bool {
        self.sent == self.played
    }
}

/// An output of a [`Playout`].
#[derive(Debug, Clone)]
pub enum Output {
    /// A message is due.
    Data(Released),
    /// The stream ended.
    Ended(Ended),
    /// The following output belongs to a new session with this identifier, because the sender was restarted.
    Restarted(u32),
    /// The clock by which the stream is played has changed.
    Clock(ClockChange),
}

/// Plays messages at send time + latency, as defined in the [module](super).
#[derive(Debug)]
pub struct Playout {
    config: PlayoutConfig,
    session: Option<Session>,
    /// Identifier of the previous session.
    replaced: Option<u32>,
    ready: VecDeque<Output>,
    /// Bytes in the buffer and in `ready`.
    held_bytes: usize,
    stats: PlayoutStats,
}

impl Playout {
    /// Creates a playout without messages.
    pub fn new(config: PlayoutConfig) -> Self {
        Playout {
            config,
            session: None,
            replaced: None,
            ready: VecDeque::new(),
            held_bytes: 0,
            stats: PlayoutStats::default(),
        }
    }

    /// Accepts a message that arrived at `now`.
    pub fn push(&mut self, now: MediaTime, message: Message) {
        let id = message.header.session;
        let over = self.session.as_ref().is_some_and(|s| s.id == id && s.ended);
        if over || self.replaced == Some(id) {
            self.stats.stale += 1;
            return;
        }
        self.play_due(now);
        let len = payload_len(&message);
        let messages = self.session.as_ref().map_or(0, Session::held) + self.ready.len();
        if self.held_bytes + len > self.config.max_bytes || messages >= self.config.max_bytes / PACKET_LEN {
            self.stats.overflows += 1;
            return;
        }
        if self.session.as_ref().is_some_and(|s| s.id != id) {
            self.replace(id);
        }
        let latency = self.config.latency;
        let session = self.session.get_or_insert_with(|| Session::new(latency, now, &message));
        let outcome = session.insert(now, message, &mut self.stats);
        while let Some(change) = session.clock.pop_change() {
            self.stats.count(change);
            self.ready.push_back(Output::Clock(change));
        }
        match outcome {
            Arrival::Kept => self.held_bytes += len,
            Arrival::Duplicate => self.stats.duplicates += 1,
            Arrival::Implausible => self.stats.implausible += 1,
            Arrival::Late(by) => {
                self.stats.late += 1;
                self.stats.largest_lateness = self.stats.largest_lateness.max(by);
            }
        }
    }

    /// The next output that is due at `now`. To be called until it returns `None`.
    pub fn poll(&mut self, now: MediaTime) -> Option<Output> {
        self.play_due(now);
        let output = self.ready.pop_front();
        if let Some(Output::Data(released)) = &output {
            self.held_bytes -= released.payload.len();
        }
        output
    }

    /// Time of the next output of [`Playout::poll`]; `None` if the buffer is empty.
    pub fn poll_timeout(&self) -> Option<MediaTime> {
        if self.ready.is_empty() { self.session.as_ref()?.next_due() } else { Some(MediaTime::ZERO) }
    }

    /// Plays all messages in the buffer without waiting for their due times, because the receiver stops.
    pub fn drain(&mut self) {
        while self.play_one() {}
    }

    /// Statistics until now.
    pub fn stats(&self) -> PlayoutStats {
        let shift = self.session.as_ref().map_or(Duration::ZERO, |s| s.clock.shift());
        PlayoutStats { shift, ..self.stats }
    }

    /// Duration of the buffer at `now`, including missing messages before it.
    pub fn level(&self, now: MediaTime) -> Duration {
        let last = self.session.as_ref().and_then(Session::last_due);
        last.map_or(Duration::ZERO, |due| due.saturating_since(now))
    }

    /// Bytes of transport packets held.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    fn play_due(&mut self, now: MediaTime) {
        while self.session.as_ref().and_then(Session::next_due).is_some_and(|due| due <= now) {
            self.play_one();
        }
    }

    /// Plays the next message, whether or not it is due. Returns false if there is no message.
    fn play_one(&mut self) -> bool {
        let Some(session) = &mut self.session else { return false };
        let Some((due, message)) = session.play(&mut self.stats) else { return false };
        self.ready.push_back(match message.body {
            Body::Data(payload) => Output::Data(Released { due, header: message.header, payload }),
            Body::End(sent) => Output::Ended(Ended { sent, played: session.played() }),
        });
        true
    }

    /// Replaces the session by a new one.
    fn replace(&mut self, id: u32) {
        self.drain();
        if let Some(old) = self.session.take() {
            self.replaced = Some(old.id);
            self.stats.restarts += 1;
            self.ready.push_back(Output::Restarted(id));
        }
    }
}

fn payload_len(message: &Message) -> usize {
    match &message.body {
        Body::Data(payload) => payload.len(),
        Body::End(_) => 0,
    }
}
