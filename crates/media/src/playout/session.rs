//! One session of a sender: its buffered, played and missing messages.

use core::time::Duration;
use std::collections::BTreeMap;

use super::clock::SenderClock;
use super::missing::Missing;
use super::stats::PlayoutStats;
use crate::MediaTime;
use crate::pack::{Body, End, Message};

/// Classification of an arrived message.
pub(super) enum Arrival {
    Kept,
    Late(Duration),
    Duplicate,
    Implausible,
}

/// State of a session. Sequence numbers are extended from the wire's 32 bits, so that they never wrap.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: u32,
    pub(super) clock: SenderClock,
    latency: Duration,
    buffer: BTreeMap<i64, Message>,
    /// Time at which the buffer last became non-empty.
    filled_at: MediaTime,
    /// Highest sequence number that has arrived.
    newest: i64,
    /// Sequence number of the next message in the order of playout; `None` until a message was played or was found
    /// missing.
    next: Option<i64>,
    missing: Missing,
    /// The last message played and its due time.
    last: Option<(i64, MediaTime)>,
    /// Totals of the played messages.
    played: End,
    pub(super) ended: bool,
}

impl Session {
    /// Creates a session whose first received message is `message`.
    pub(super) fn new(latency: Duration, now: MediaTime, message: &Message) -> Self {
        let header = &message.header;
        Session {
            id: header.session,
            clock: SenderClock::new(latency, now, header.sent),
            latency,
            buffer: BTreeMap::new(),
            filled_at: now,
            newest: i64::from(header.sequence) - 1,
            next: None,
            missing: Missing::default(),
            last: None,
            played: End::default(),
            ended: false,
        }
    }

    /// Adds a message. The caller must have removed all messages that were due before `now`.
    pub(super) fn insert(&mut self, now: MediaTime, message: Message, stats: &mut PlayoutStats) -> Arrival {
        let sequence = self.count_on(message.header.sequence);
        let sent = message.header.sent;
        if !self.clock.observe(now, sequence, sent, sequence > self.newest) {
            return Arrival::Implausible;
        }
        self.newest = self.newest.max(sequence);
        let lateness = now.saturating_since(self.clock.due(sequence, sent));
        if self.next.is_some_and(|next| sequence < next) {
            if !self.missing.remove(sequence) {
                return Arrival::Duplicate;
            }
            stats.lost -= 1;
            return Arrival::Late(lateness);
        }
        if self.buffer.contains_key(&sequence) {
            return Arrival::Duplicate;
        }
        // Playout advances past this message, unless an earlier message still waits.
        let first = self.buffer.first_key_value().is_none_or(|(&k, _)| sequence < k);
        if first && !lateness.is_zero() && matches!(message.body, Body::Data(_)) {
            self.pass(sequence, sent, stats);
            return Arrival::Late(lateness);
        }
        if self.buffer.is_empty() {
            self.filled_at = now;
        }
        self.buffer.insert(sequence, message);
        Arrival::Kept
    }

    /// Number of messages in the buffer.
    pub(super) fn held(&self) -> usize {
        self.buffer.len()
    }

    /// Due time of the first message of the buffer.
    pub(super) fn next_due(&self) -> Option<MediaTime> {
        let (&sequence, message) = self.buffer.first_key_value()?;
        Some(self.clock.due(sequence, message.header.sent))
    }

    /// Due time of the last message of the buffer.
    pub(super) fn last_due(&self) -> Option<MediaTime> {
        let (&sequence, message) = self.buffer.last_key_value()?;
        Some(self.clock.due(sequence, message.header.sent))
    }

    /// Totals of the messages played until now.
    pub(super) fn played(&self) -> End {
        self.played
    }

    /// Plays the first message of the buffer.
    pub(super) fn play(&mut self, stats: &mut PlayoutStats) -> Option<(MediaTime, Message)> {
        let due = self.next_due()?;
        // A clock that jumped back must not affect the messages before the jump.
        let due = self.last.map_or(due, |(_, last)| due.max(last));
        let (sequence, message) = self.buffer.pop_first()?;
        self.pass(sequence, message.header.sent, stats);
        self.count_gap(sequence, due, stats);
        self.clock.set_playing();
        self.last = Some((sequence, due));
        match &message.body {
            Body::Data(payload) => {
                let played = &mut self.played;
                played.messages += 1;
                played.bytes += payload.len() as u64;
                played.crc32c = crc32c::crc32c_append(played.crc32c, payload);
                stats.played += 1;
                stats.played_bytes += payload.len() as u64;
            }
            Body::End(_) => self.ended = true,
        }
        Some((due, message))
    }

    /// Returns the sequence number that has these low 32 bits and is nearest to the newest one.
    fn count_on(&self, wire: u32) -> i64 {
        // Intended truncation: the wire carries the lower 32 bits.
        let ahead = wire.wrapping_sub(self.newest as u32) as i32;
        self.newest + i64::from(ahead)
    }

    /// Advances playout to message `sequence`, which was sent at `sent`. Earlier messages that have not arrived count
    /// as lost.
    fn pass(&mut self, sequence: i64, sent: MediaTime, stats: &mut PlayoutStats) {
        let from_start = sent.saturating_since(MediaTime::ZERO) <= self.latency && sequence >= 0;
        let next = self.next.unwrap_or_else(|| {
            let first = if from_start { 0 } else { sequence };
            stats.before += u64::try_from(first).unwrap_or(0);
            first
        });
        stats.lost += u64::try_from(sequence - next).unwrap_or(0);
        self.missing.add(next, sequence);
        self.next = Some(sequence + 1);
    }

    /// Counts the messages between the previously played one and this one, which were not played.
    fn count_gap(&self, sequence: i64, due: MediaTime, stats: &mut PlayoutStats) {
        let Some((before, from)) = self.last else { return };
        let span = due.saturating_since(from);
        stats.play_time += span;
        let run = u32::try_from(sequence - before - 1).unwrap_or(u32::MAX).min(u32::MAX - 1);
        if run == 0 {
            return;
        }
        let step = span / (run + 1);
        let gap = span.saturating_sub(step);
        stats.gaps += 1;
        stats.gap_time += gap;
        stats.longest_gap = stats.longest_gap.max(gap);
        stats.underflows += u64::from(self.filled_at > from + step);
    }
}
