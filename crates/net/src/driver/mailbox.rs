//! What passes between the driver's task and an application's: batches under one lock, and a wake-up when it matters.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use tokio::sync::Notify;

use super::snapshot::Snapshot;

/// Payload bytes that wait for the driver before senders wait.
pub(super) const OUTBOX: usize = 256 << 10;
/// Bytes that wait for the application before the driver stops reading, so that the peer's window closes.
pub(super) const INBOX: usize = 256 << 10;
/// Such bytes of all associations together; what each may have is the less the more there are.
pub(super) const INBOXES: usize = 8 << 20;
/// What a message takes there beside its payload, bytes.
const OVERHEAD: usize = 128;
/// Events kept for an application that does not ask for them.
const MOST_EVENTS: usize = 128;

/// A message on its way to the endpoint.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub payload: Bytes,
    pub options: SendOptions,
    /// When the application handed it over: its lifetime counts from there.
    pub at: Instant,
}

/// How the application wants the association to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Shutdown,
    Abort(String),
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub outbox: VecDeque<Outgoing>,
    pub outbox_bytes: usize,
    pub inbox: VecDeque<Message>,
    /// What the inbox takes, by [`State::cost`].
    pub inbox_bytes: usize,
    pub events: VecDeque<Event>,
    pub wish: Option<Wish>,
    /// Nobody holds a handle any more: what arrives is dropped.
    pub abandoned: bool,
    pub connected: Option<bool>,
    pub closed: Option<CloseReason>,
    /// The figures at the end.
    pub last: Option<Snapshot>,
    /// The driver will look into the outbox without being told.
    pub flagged: bool,
    /// The driver left messages unread because the inbox was full.
    pub starved: bool,
}

#[derive(Debug, Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    pub readable: Notify,
    pub writable: Notify,
    /// Events, connection, end.
    pub news: Notify,
}

impl Mailbox {
    /// State is whole after every step, so a panic elsewhere while locked does no harm.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn event(&self, event: &Event) {
        let mut state = self.lock();
        match event {
            Event::Connected { ours } => state.connected = Some(*ours),
            Event::Readable | Event::Writable => return,
            _ => {}
        }
        if state.events.len() == MOST_EVENTS {
            state.events.pop_front();
        }
        state.events.push_back(event.clone());
        drop(state);
        self.news.notify_waiters();
    }

    /// The end: nothing more comes.
    pub fn close(&self, reason: CloseReason, last: Option<Snapshot>) {
        let mut state = self.lock();
        if state.closed.is_none() {
            state.closed = Some(reason);
            state.last = last;
        }
        state.outbox.clear();
        state.outbox_bytes = 0;
        drop(state);
        for notify in [&self.readable, &self.writable, &self.news] {
            notify.notify_waiters();
        }
    }
}

impl State {
    /// Bytes a message takes in the inbox.
    pub fn cost(message: &Message) -> usize {
        message.payload.len() + OVERHEAD
    }

    /// The driver's end of the outbox: all of it.
    pub fn take_outbox(&mut self, into: &mut VecDeque<Outgoing>) -> bool {
        let was_full = self.outbox_bytes >= OUTBOX;
        self.outbox_bytes = 0;
        into.append(&mut self.outbox);
        was_full
    }
}
