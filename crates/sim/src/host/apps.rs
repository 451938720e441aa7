//! Applications for tests and measurements.

use core::time::Duration;

use bytes::Bytes;
use strandcast_proto::app::App;
use strandcast_proto::association::{Event, SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;

/// Number of bytes of a message's number, which is at the message's beginning.
const NUMBER_LEN: usize = 8;

/// Returns a message of `size` bytes that begins with `number`. Each other byte depends on its position and on the
/// number.
fn message(number: u64, size: usize) -> Bytes {
    let rest = (NUMBER_LEN..).map(|i| (number.wrapping_mul(31) + i as u64 * 131 + (i as u64 >> 8)) as u8);
    number.to_be_bytes().into_iter().chain(rest).take(size.max(NUMBER_LEN)).collect()
}

/// Application that keeps the send buffer of one association full.
#[derive(Debug)]
pub struct BulkSender {
    /// The association that is used. The association is `None` until the first association is connected.
    pub association: Option<AssociationId>,
    /// Number of bytes per message, at least 8.
    pub size: usize,
    /// Options of each message.
    pub options: SendOptions,
    /// Number of messages after which the association is closed. `None` means no limit.
    pub limit: Option<u64>,
    /// Number of messages sent.
    pub sent: u64,
    full: bool,
    done: bool,
}

impl BulkSender {
    /// Creates a sender of reliable, ordered messages of `size` bytes, without end. The sender uses the first
    /// association that connects.
    pub fn new(size: usize) -> Self {
        let options = SendOptions::default();
        BulkSender { association: None, size, options, limit: None, sent: 0, full: false, done: false }
    }

    /// Limits the sender to `messages` messages, after which it closes the association.
    #[must_use]
    pub fn limited(self, messages: u64) -> Self {
        BulkSender { limit: Some(messages), ..self }
    }
}

impl App for BulkSender {
    fn on_event(&mut self, _: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        if matches!(event, Event::Connected { .. }) {
            self.association.get_or_insert(id);
        }
        if self.association == Some(id) && *event == Event::Writable {
            self.full = false;
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        let Some(id) = self.association else { return };
        while !self.full && !self.done {
            if self.limit.is_some_and(|limit| self.sent >= limit) {
                endpoint.shutdown(now, id);
                self.done = true;
                break;
            }
            match endpoint.send(now, id, message(self.sent, self.size), self.options) {
                Ok(_) => self.sent += 1,
                Err(SendError::Full) => self.full = true,
                Err(_) => self.done = true,
            }
        }
    }
}

/// Application that sends messages at constant intervals while the association lives.
#[derive(Debug)]
pub struct Cbr {
    /// The association that is used. The association is `None` until the first association is connected.
    pub association: Option<AssociationId>,
    /// Number of bytes per message, at least 8.
    pub size: usize,
    /// Time between messages.
    pub interval: Duration,
    /// Options of each message.
    pub options: SendOptions,
    /// Number of messages sent.
    pub sent: u64,
    /// Number of messages that a full send buffer refused.
    pub refused: u64,
    next: Option<Instant>,
}

impl Cbr {
    /// Creates a sender of an unordered message of `size` bytes every `interval`. The sender uses the first association
    /// that connects. Each message is given up after `lifetime`.
    pub fn new(size: usize, interval: Duration, lifetime: Option<Duration>) -> Self {
        let options = SendOptions { unordered: true, lifetime, ..SendOptions::default() };
        Cbr { association: None, size, interval, options, sent: 0, refused: 0, next: None }
    }
}

impl App for Cbr {
    fn on_event(&mut self, now: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        if matches!(event, Event::Connected { .. }) && *self.association.get_or_insert(id) == id {
            self.next.get_or_insert(now);
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        let Some(id) = self.association else { return };
        while let Some(at) = self.next.filter(|at| *at <= now) {
            self.next = Some(at + self.interval.max(Duration::from_nanos(1)));
            let number = self.sent + self.refused;
            match endpoint.send(now, id, message(number, self.size), self.options) {
                Ok(_) => self.sent += 1,
                Err(SendError::Full) => self.refused += 1,
                Err(_) => self.next = None,
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }
}

/// A [`Cbr`] whose rate follows the advice of the association's scheme, as the rate of an encoder would. It serves
/// measurements.
#[derive(Debug)]
pub struct Adaptive {
    /// The sender of messages. The interval of the messages follows from the rate.
    pub messages: Cbr,
    /// Minimum and maximum rate in payload bits per second. The initial rate is the minimum.
    pub range_bps: [u64; 2],
    /// Log of the advice: its time, the rate of payload bits per second now, and the rate if the path with the most
    /// data failed.
    pub advice_log: Vec<(Instant, u64, u64)>,
}

impl Adaptive {
    /// Creates a sender of messages of `size` bytes. Each message is given up after `lifetime`.
    pub fn new(size: usize, range_bps: [u64; 2], lifetime: Duration) -> Self {
        let messages = Cbr::new(size, Duration::from_secs(1), Some(lifetime));
        let mut app = Adaptive { messages, range_bps, advice_log: Vec::new() };
        app.follow(range_bps[0]);
        app
    }

    fn follow(&mut self, rate_bps: u64) {
        let rate_bps = rate_bps.clamp(self.range_bps[0], self.range_bps[1]).max(1);
        self.messages.interval = Duration::from_secs_f64(8.0 * self.messages.size as f64 / rate_bps as f64);
    }
}

impl App for Adaptive {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        self.messages.on_event(now, endpoint, id, event);
        if let Event::Advice(advice) = event {
            self.advice_log.push((now, advice.rate_bps, advice.safe_bps));
            self.follow(advice.rate_bps);
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        self.messages.poll(now, endpoint);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.messages.poll_timeout()
    }
}

/// A message that a [`Sink`] received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Time at which the message arrived.
    pub at: Instant,
    /// Number that the sender assigned to the message.
    pub number: u64,
    /// Length of the message in bytes.
    pub len: usize,
}

/// Application that reads the messages of [`BulkSender`] and [`Cbr`].
#[derive(Debug, Default)]
pub struct Sink {
    /// All received messages, in order of delivery.
    pub deliveries: Vec<Delivery>,
    /// Number of messages whose bytes differ from the sent bytes.
    pub damaged: u64,
    /// Number of messages whose number does not follow that of the previous message.
    pub out_of_order: u64,
    /// Events of the association, except [`Event::Readable`] and [`Event::Writable`].
    pub events: Vec<(Instant, Event)>,
    readable: Vec<AssociationId>,
}

impl Sink {
    /// Returns the payload bytes delivered after `from`, up to and including `to`.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> u64 {
        self.deliveries.iter().filter(|d| d.at > from && d.at <= to).map(|d| d.len as u64).sum()
    }

    /// Returns the payload bytes delivered so far.
    pub fn bytes(&self) -> u64 {
        self.deliveries.iter().map(|d| d.len as u64).sum()
    }

    /// Returns the longest time without a delivery between `from` and `to`, and the beginning of that time.
    pub fn longest_gap(&self, from: Instant, to: Instant) -> (Instant, Duration) {
        let mut longest = (from, Duration::ZERO);
        let mut last = from;
        let inside = self.deliveries.iter().map(|d| d.at).filter(|at| *at > from && *at < to);
        for at in inside.chain([to]) {
            if at - last > longest.1 {
                longest = (last, at - last);
            }
            last = at;
        }
        longest
    }

    fn take(&mut self, at: Instant, payload: &Bytes) {
        let head = payload.first_chunk::<NUMBER_LEN>();
        let number = head.map_or(u64::MAX, |head| u64::from_be_bytes(*head));
        self.damaged += u64::from(head.is_none() || *payload != message(number, payload.len()));
        let expected = self.deliveries.last().map_or(0, |d| d.number.wrapping_add(1));
        self.out_of_order += u64::from(number != expected);
        self.deliveries.push(Delivery { at, number, len: payload.len() });
    }
}

impl App for Sink {
    fn on_event(&mut self, now: Instant, _: &mut Endpoint, id: AssociationId, event: &Event) {
        match event {
            Event::Readable if !self.readable.contains(&id) => self.readable.push(id),
            Event::Readable | Event::Writable => {}
            event => self.events.push((now, event.clone())),
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        for id in core::mem::take(&mut self.readable) {
            while let Some(message) = endpoint.recv(id) {
                self.take(now, &message.payload);
            }
        }
    }
}
