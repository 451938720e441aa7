//! The two sides of a transfer. The sender keeps the send buffer full, and the receiver counts the data.

use std::time::Duration;

use bytes::Bytes;
use strandcast_proto::association::{SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;

use super::control::{BULK, Control, Totals};

/// Sends as fast as the association accepts data. When the time has passed, announces the end.
#[derive(Debug)]
pub(super) struct Sending {
    message: Bytes,
    begun: Instant,
    until: Instant,
    totals: Totals,
    full: bool,
    /// Time is up.
    up: bool,
    /// True if the end was announced.
    pub(super) ended: bool,
}

impl Sending {
    /// Makes a sender of messages with `size` bytes, which sends for `time`, starting at `now`.
    pub(super) fn new(now: Instant, size: usize, time: Duration) -> Self {
        let message: Bytes = (0..size).map(|i| (i as u32).wrapping_mul(131) as u8).collect();
        Sending {
            message,
            begun: now,
            until: now + time,
            totals: Totals::default(),
            full: false,
            up: false,
            ended: false,
        }
    }

    /// Handles the event that the send buffer has space again.
    pub(super) fn on_writable(&mut self) {
        self.full = false;
    }

    /// Fills the send buffer. When the time has passed, announces the end.
    pub(super) fn poll(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        let options = SendOptions { stream: BULK, ..SendOptions::default() };
        if !self.up {
            self.totals.seconds = (now - self.begun).as_secs_f64();
            self.up = now >= self.until;
        }
        while !self.full && !self.up {
            match endpoint.send(now, id, self.message.clone(), options) {
                Ok(_) => {
                    self.totals.bytes += self.message.len() as u64;
                    self.totals.messages += 1;
                }
                Err(SendError::Full) => self.full = true,
                Err(_) => return,
            }
        }
        if self.up && !self.ended {
            // If the buffer is full, the announcement fails and is repeated when there is space.
            let end = Control::End(self.totals).to_bytes();
            self.ended = endpoint.send(now, id, end, Control::options()).is_ok();
        }
    }

    /// Returns the time at which sending ends. After that time, the sender waits only for space in the buffer.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        (!self.up).then_some(self.until)
    }

    /// Returns the totals that were passed to the transport.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}

/// The longest gap between the delivery of two successive messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gap {
    /// Duration, seconds.
    pub seconds: f64,
    /// Start of the gap, in seconds since the first message.
    pub at_s: f64,
}

/// Counts received messages.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    totals: Totals,
    first: Option<Instant>,
    last: Option<Instant>,
    gap: Gap,
    /// The sender's totals.
    announced: Option<Totals>,
}

impl Receiving {
    /// Counts a received message.
    pub(super) fn on_message(&mut self, now: Instant, len: usize) {
        let first = *self.first.get_or_insert(now);
        let last = self.last.replace(now).unwrap_or(now);
        let gap = Gap { seconds: (now - last).as_secs_f64(), at_s: (last - first).as_secs_f64() };
        if gap.seconds > self.gap.seconds {
            self.gap = gap;
        }
        self.totals.bytes += len as u64;
        self.totals.messages += 1;
        self.totals.seconds = (now - first).as_secs_f64();
    }

    /// Records the final totals of the sender.
    pub(super) fn on_end(&mut self, totals: Totals) {
        self.announced = Some(totals);
    }

    /// Returns whether everything sent has been received.
    pub(super) fn complete(&self) -> bool {
        self.announced.is_some_and(|a| self.totals.bytes >= a.bytes)
    }

    /// Returns the longest gap so far. Messages arrive in order: a missing one blocks all later ones.
    pub(super) fn gap(&self) -> Gap {
        self.gap
    }

    /// Returns the totals that were received so far.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}
