//! Traffic between the driver's task and an application's task. Messages are passed in batches under one lock. A task
//! is woken only if it has something to do.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use strandcast_proto::association::{CloseReason, Event, SendOptions};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use tokio::sync::Notify;

use super::snapshot::Snapshot;

/// Maximum number of payload bytes that may be queued for the driver. If more bytes are queued, senders wait.
pub(super) const OUTBOX: usize = 256 << 10;
/// Maximum number of bytes that may be queued for the application. If more bytes are queued, the driver stops reading,
/// and the peer's window closes.
pub(super) const INBOX: usize = 256 << 10;
/// Bytes that may be queued for the applications of all associations together. Each association gets an equal share.
pub(super) const INBOXES: usize = 8 << 20;
/// Bytes that each message costs in addition to its payload.
const OVERHEAD: usize = 128;
/// Maximum number of events kept for an application that does not read them.
const MAX_EVENTS: usize = 128;

/// A message queued for the endpoint.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub payload: Bytes,
    pub options: SendOptions,
    /// Time at which the application submitted the message. The lifetime of the message starts at this time.
    pub at: Instant,
}

/// The application's request to end the association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CloseRequest {
    Shutdown,
    Abort(String),
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub outbox: VecDeque<Outgoing>,
    pub outbox_bytes: usize,
    pub inbox: VecDeque<Message>,
    /// Bytes in the inbox, counted by [`State::cost`].
    pub inbox_bytes: usize,
    pub events: VecDeque<Event>,
    pub close_request: Option<CloseRequest>,
    /// True once all handles are dropped. Messages that arrive are then discarded.
    pub abandoned: bool,
    pub connected: Option<bool>,
    pub closed: Option<CloseReason>,
    /// Statistics at the end of the association.
    pub last: Option<Snapshot>,
    /// True if the driver will read the outbox without another notification.
    pub flagged: bool,
    /// True if the driver left messages unread because the inbox was full.
    pub inbox_was_full: bool,
}

#[derive(Debug, Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    pub readable: Notify,
    pub writable: Notify,
    /// Notifies waiting tasks of events, of the connection, and of the end.
    pub state_changed: Notify,
}

impl Mailbox {
    /// Locks the state. A poisoned lock is no problem, because the state is consistent after every step.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn event(&self, event: &Event) {
        let mut state = self.lock();
        match event {
            Event::Connected { peer_is_strandcast } => state.connected = Some(*peer_is_strandcast),
            Event::Readable | Event::Writable => return,
            _ => {}
        }
        if state.events.len() == MAX_EVENTS {
            // The oldest `Dropped` event is removed first: such events are frequent, and counters have their number.
            let least = state.events.iter().position(|event| matches!(event, Event::Dropped(_)));
            state.events.remove(least.unwrap_or(0));
        }
        state.events.push_back(event.clone());
        drop(state);
        self.state_changed.notify_waiters();
    }

    /// Records the end of the association. No messages or events follow the end.
    pub fn close(&self, reason: CloseReason, last: Option<Snapshot>) {
        let mut state = self.lock();
        if state.closed.is_none() {
            state.closed = Some(reason);
            state.last = last;
        }
        state.outbox.clear();
        state.outbox_bytes = 0;
        drop(state);
        for notify in [&self.readable, &self.writable, &self.state_changed] {
            notify.notify_waiters();
        }
    }
}

impl State {
    /// Bytes that a message occupies in the inbox.
    pub fn cost(message: &Message) -> usize {
        message.payload.len() + OVERHEAD
    }

    /// Moves all messages of the outbox to the driver. Returns whether the outbox was full.
    pub fn take_outbox(&mut self, into: &mut VecDeque<Outgoing>) -> bool {
        let was_full = self.outbox_bytes >= OUTBOX;
        self.outbox_bytes = 0;
        into.append(&mut self.outbox);
        was_full
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::association::{DropCause, Dropped, PathChange};
    use strandcast_proto::policy::PathId;

    use super::*;

    #[test]
    fn dropped_messages_make_room_for_what_happens_once() {
        let mailbox = Mailbox::default();
        let (cause, expires) = (DropCause::Expired, None);
        let dropped = Event::Dropped(Dropped { message: 1, cause, begun: false, unsent: 1, expires });
        let joined = Event::Path(PathId(0), PathChange::Opened);
        mailbox.event(&joined);
        (0..1000).for_each(|_| mailbox.event(&dropped));
        mailbox.event(&Event::PeerShutdown);
        let state = mailbox.lock();
        assert_eq!(state.events.len(), MAX_EVENTS);
        assert_eq!(state.events.front(), Some(&joined));
        assert_eq!(state.events.back(), Some(&Event::PeerShutdown));
    }
}
