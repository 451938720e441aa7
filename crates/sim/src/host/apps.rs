//! Applications for tests and measurements.

use core::time::Duration;

use bytes::Bytes;
use strandcast_proto::app::App;
use strandcast_proto::association::{Event, SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::time::Instant;

/// A message's number, in its first bytes.
const NUMBER_LEN: usize = 8;

/// `size` bytes that begin with `number`: the rest differs from byte to byte and from message to message.
fn message(number: u64, size: usize) -> Bytes {
    let rest = (NUMBER_LEN..).map(|i| (number.wrapping_mul(31) + i as u64 * 131 + (i as u64 >> 8)) as u8);
    number.to_be_bytes().into_iter().chain(rest).take(size.max(NUMBER_LEN)).collect()
}

/// Keeps the send buffer of one association full.
#[derive(Debug)]
pub struct BulkSender {
    /// The association; the first one to be connected if `None`.
    pub association: Option<AssociationId>,
    /// Bytes a message, at least 8.
    pub size: usize,
    /// How each is sent.
    pub options: SendOptions,
    /// Messages to send; the association is closed behind the last. `None`: for ever.
    pub limit: Option<u64>,
    /// Messages sent so far.
    pub sent: u64,
    full: bool,
    done: bool,
}

impl BulkSender {
    /// Sends reliable, ordered messages of `size` bytes for ever, over the first association there is.
    pub fn new(size: usize) -> Self {
        let options = SendOptions::default();
        BulkSender { association: None, size, options, limit: None, sent: 0, full: false, done: false }
    }

    /// Sends only `messages`, then closes.
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

/// Sends a message at constant intervals, as long as the association lives.
#[derive(Debug)]
pub struct Cbr {
    /// The association; the first one to be connected if `None`.
    pub association: Option<AssociationId>,
    /// Bytes a message, at least 8.
    pub size: usize,
    /// From one message to the next.
    pub interval: Duration,
    /// How each is sent.
    pub options: SendOptions,
    /// Messages sent so far.
    pub sent: u64,
    /// Messages that found the send buffer full.
    pub refused: u64,
    next: Option<Instant>,
}

impl Cbr {
    /// Sends `size` bytes every `interval` over the first association there is, unordered; each is given up after
    /// `lifetime`.
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

/// [`Cbr`] whose rate follows the advice of the association's scheme, as an encoder's would: an application for measurements.
#[derive(Debug)]
pub struct Adaptive {
    /// The messages; their interval is what the rate makes it.
    pub messages: Cbr,
    /// Least and greatest rate, payload bits per second. It begins with the least one.
    pub range_bps: [u64; 2],
    /// What was advised, and when: payload bits per second now, and without the largest path.
    pub advice_log: Vec<(Instant, u64, u64)>,
}

impl Adaptive {
    /// Messages of `size` bytes, each given up after `lifetime`.
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

/// A message as it came to a [`Sink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When.
    pub at: Instant,
    /// The sender's number.
    pub number: u64,
    /// Bytes.
    pub len: usize,
}

/// Reads what [`BulkSender`] and [`Cbr`] send.
#[derive(Debug, Default)]
pub struct Sink {
    /// Every message, in order of delivery.
    pub deliveries: Vec<Delivery>,
    /// Messages whose bytes were not what was sent.
    pub damaged: u64,
    /// Messages whose number was not one more than that before.
    pub out_of_order: u64,
    /// Events, but for [`Event::Readable`] and [`Event::Writable`].
    pub events: Vec<(Instant, Event)>,
    readable: Vec<AssociationId>,
}

impl Sink {
    /// Payload bytes delivered after `from`, up to and including `to`.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> u64 {
        self.deliveries.iter().filter(|d| d.at > from && d.at <= to).map(|d| d.len as u64).sum()
    }

    /// Payload bytes delivered so far.
    pub fn bytes(&self) -> u64 {
        self.deliveries.iter().map(|d| d.len as u64).sum()
    }

    /// The longest time without delivery between `from` and `to`, and when it began.
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
