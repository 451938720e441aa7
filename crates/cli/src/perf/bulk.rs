//! The halves of a transfer: one keeps the send buffer full, the other counts.

use super::control::{BULK, Control, Totals};
use bytes::Bytes;
use std::time::Duration;
use strandcast_proto::association::{SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;

/// Sends as fast as the association takes it, until time is up; then says so.
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
    /// Messages of `size` bytes for `time` from now on.
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
            // A full buffer has no room for it yet: it is tried again when it has.
            let end = Control::End(self.totals).to_bytes();
            self.ended = endpoint.send(now, id, end, Control::options()).is_ok();
        }
    }

    /// When time is up; from then on only room in the buffer matters.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        (!self.up).then_some(self.until)
    }

    /// What was handed to the transport.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}

/// The longest time in which nothing was delivered, between two messages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gap {
    /// How long, seconds.
    pub(crate) seconds: f64,
    /// When it began, seconds since the first message.
    pub(crate) at_s: f64,
}

/// Counts what comes.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    totals: Totals,
    first: Option<Instant>,
    last: Option<Instant>,
    gap: Gap,
    /// What the sender says it sent.
    announced: Option<Totals>,
}

impl Receiving {
    /// A message has come.
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

    /// The sender's last word.
    pub(super) fn on_end(&mut self, totals: Totals) {
        self.announced = Some(totals);
    }

    /// Whether everything that was sent is here.
    pub(super) fn complete(&self) -> bool {
        self.announced.is_some_and(|a| self.totals.bytes >= a.bytes)
    }

    /// The longest gap so far. Messages come in order: one that is missing holds up all behind it.
    pub(super) fn gap(&self) -> Gap {
        self.gap
    }

    /// What has come so far.
    pub(super) fn totals(&self) -> Totals {
        self.totals
    }
}
