//! Playout of messages from the transport.

use std::time::Duration;

use strandcast_media::MediaTime;
use strandcast_media::pack::{Body, Message, Unpacker};
use strandcast_media::playout::{Output, Playout, PlayoutConfig, PlayoutStats};
use strandcast_proto::rx;
use strandcast_proto::time::Instant;

use crate::live::stats::MediaNow;
use crate::live::words::MEDIA;

/// Latency for a sender that does not request one.
const LATENCY: Duration = Duration::from_secs(1);

/// Converts a time of the transport to media time.
pub fn media_time(at: Instant) -> MediaTime {
    MediaTime::from_nanos(at.as_nanos())
}

/// Player of one sender's stream.
#[derive(Debug)]
pub struct Player {
    unpacker: Unpacker,
    playout: Playout,
    /// Time from sending to playing.
    pub latency: Duration,
    drained: bool,
}

impl Player {
    /// Makes a player for the stream of `first`. Without `latency`, the player uses the latency that the sender
    /// requests. At most `max_bytes` are buffered.
    pub fn new(latency: Option<Duration>, first: &Message, max_bytes: usize) -> Self {
        let latency = latency.or(first.header.lifetime).unwrap_or(LATENCY);
        let config = PlayoutConfig { latency, max_bytes };
        Player { unpacker: Unpacker::new(), playout: Playout::new(config), latency, drained: false }
    }

    /// Processes a message. Returns true if it was the end of the stream.
    pub fn push(&mut self, message: rx::Message) -> bool {
        if message.stream.0 != MEDIA {
            return false;
        }
        let Some(media) = self.unpacker.unpack(message.payload) else { return false };
        let end = matches!(media.body, Body::End(_));
        self.playout.push(media_time(message.arrived), media);
        end
    }

    /// Returns the next due output. The caller repeats the call until it returns `None`.
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        self.playout.poll(media_time(now))
    }

    /// Time of the next output.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.playout.poll_timeout().map(|at| Instant::from_nanos(at.as_nanos()))
    }

    /// Plays everything at once.
    pub fn drain(&mut self) {
        self.drained = true;
        self.playout.drain();
    }

    /// Returns whether the player plays all messages at once.
    pub fn is_drained(&self) -> bool {
        self.drained
    }

    /// Statistics of the playout.
    pub fn stats(&self) -> PlayoutStats {
        self.playout.stats()
    }

    /// Figures of the media at `now`.
    pub fn media_now(&self, now: Instant) -> MediaNow {
        let stats = self.stats();
        MediaNow {
            messages: stats.played,
            bytes: stats.played_bytes,
            rate_bps: 0.0,
            late: stats.late,
            messages_dropped: 0,
            drops: Default::default(),
            late_by: Default::default(),
            held_s: Default::default(),
            lost: stats.lost,
            before: stats.before,
            shifts: stats.shifts,
            shift_ms: stats.shift.as_secs_f64() * 1e3,
            clock_jumps: stats.clock_jumps,
            buffer_ms: Some(self.playout.level(media_time(now)).as_secs_f64() * 1e3),
            buffer_bytes: self.playout.held_bytes() as u64,
            unread: 0,
        }
    }

    /// Number of malformed messages.
    pub fn malformed(&self) -> u64 {
        self.unpacker.malformed()
    }
}
