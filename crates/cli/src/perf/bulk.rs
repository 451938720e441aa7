//! The halves of a transfer: one keeps the send buffer full, the other counts.

use std::time::Duration;

use bytes::Bytes;
use strandcast_proto::association::{SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;

use super::control::{BULK, Control, Totals};

/// Sends as fast as the association accepts data until time is up, then announces the end.
#[derive(Debug)]
pub(super) struct Sending {
    message: Bytes,
    begun: Instant,
    until: Instant,
    totals: Totals,
    full: bool,
    /// Time is up.
    up: bool,
    /// The end was announced.
    pub(super) ended: bool,
}

impl Sending {
    /// Sends messages of `size` bytes for `time` from `now` on.
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

    /// The send buffer has room again.
    pub(super) fn on_writable(&mut self) {
        self.full = false;
    }

    /// Fills the send buffer; announces the end when time is up.
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
            // A full buffer has no room for it yet; it is retried when there is room.
            let end = Control::End(self.totals).to_bytes();
            self.ended = endpoint.send(now, id, end, Control::options()).is_ok();
        }
    }

    /// The end of sending; afterwards only room in the buffer matters.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        (!self.up).then_some(self.until)
    }

    /// Totals submitted to the transport.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}

/// The longest gap in delivery between two messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gap {
    /// Duration, seconds.
    pub(crate) seconds: f64,
    /// Start, seconds since the first message.
    pub(crate) at_s: f64,
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

    /// The sender's final totals.
    pub(super) fn on_end(&mut self, totals: Totals) {
        self.announced = Some(totals);
    }

    /// Returns whether everything sent has been received.
    pub(super) fn complete(&self) -> bool {
        self.announced.is_some_and(|a| self.totals.bytes >= a.bytes)
    }

    /// The longest gap so far. Messages arrive in order: a missing one blocks all later ones.
    pub(super) fn gap(&self) -> Gap {
        self.gap
    }

    /// Totals received so far.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}
