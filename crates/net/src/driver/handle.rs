//! Handles: an association, and a server's queue of them, as a task of the application's holds them.

use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{AssociationError, CloseReason, Event, SendOptions};
use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::policy::PathId;
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use super::control::{Control, Driver};
use super::links::Uplink;
use super::mailbox::{INBOX, Mailbox, OUTBOX, Outgoing, State, Wish};
use super::snapshot::Snapshot;
use crate::clock::Clock;

/// Why a message was not taken. It comes back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendFailed {
    /// The association is closed or closing.
    #[error("the association is closed")]
    Closed(Bytes),
    /// Too much waits to be sent; [`Association::send`] waits until there is room.
    #[error("too much waits to be sent")]
    Full(Bytes),
    /// SCTP has no empty messages.
    #[error("a message needs at least one byte")]
    Empty,
}

/// An association that a driver runs. Clones speak of the same one; when all are gone it is closed as soon as
/// everything is delivered.
#[derive(Clone, Debug)]
pub struct Association(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: AssociationId,
    mailbox: Arc<Mailbox>,
    control: Arc<Control>,
    driver: Driver,
    clock: Clock,
}

impl Association {
    pub(super) fn new(
        id: AssociationId,
        mailbox: Arc<Mailbox>,
        control: Arc<Control>,
        driver: Driver,
        clock: Clock,
    ) -> Self {
        Association(Arc::new(Inner { id, mailbox, control, driver, clock }))
    }

    /// Its name at its endpoint.
    pub fn id(&self) -> AssociationId {
        self.0.id
    }

    /// The driver it runs in.
    pub fn driver(&self) -> &Driver {
        &self.0.driver
    }

    /// The driver's time now.
    pub fn now(&self) -> Instant {
        self.0.clock.now()
    }

    /// Waits for the handshake; whether the peer is another Strandcast, so that paths may join and leave.
    ///
    /// # Errors
    /// Why there is no association.
    pub async fn connected(&self) -> Result<bool, CloseReason> {
        let answer = |state: &mut State| match (state.connected, &state.closed) {
            (Some(ours), _) => Some(Ok(ours)),
            (None, Some(reason)) => Some(Err(reason.clone())),
            (None, None) => None,
        };
        self.wait(|m| &m.news, answer).await
    }

    /// Sends a message; waits while too much waits to be sent. Done does not mean delivered.
    ///
    /// # Errors
    /// [`SendFailed`], not `Full`.
    pub async fn send(&self, payload: Bytes, options: SendOptions) -> Result<(), SendFailed> {
        let mut payload = payload;
        loop {
            payload = match self.try_send(payload, options) {
                Err(SendFailed::Full(payload)) => payload,
                done => return done,
            };
            self.wait(|m| &m.writable, |s| (s.closed.is_some() || s.outbox_bytes < OUTBOX).then_some(()))
                .await;
        }
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    /// [`SendFailed`].
    pub fn try_send(&self, payload: Bytes, options: SendOptions) -> Result<(), SendFailed> {
        if payload.is_empty() {
            return Err(SendFailed::Empty);
        }
        let at = if options.lifetime.is_some() { self.now() } else { Instant::MAX };
        let mut state = self.0.mailbox.lock();
        if state.closed.is_some() || state.wish.is_some() {
            return Err(SendFailed::Closed(payload));
        }
        if state.outbox_bytes >= OUTBOX {
            return Err(SendFailed::Full(payload));
        }
        state.outbox_bytes += payload.len();
        state.outbox.push_back(Outgoing { payload, options, at });
        let known = std::mem::replace(&mut state.flagged, true);
        drop(state);
        if !known {
            self.0.control.flag(self.0.id);
        }
        Ok(())
    }

    /// The next message; `None` when the association is closed and everything read.
    pub async fn recv(&self) -> Option<Message> {
        self.wait(
            |m| &m.readable,
            |state| {
                let message = state.inbox.pop_front();
                state.inbox_bytes -= message.as_ref().map_or(0, State::cost);
                match message {
                    Some(message) => Some(Some(message)),
                    None => state.closed.is_some().then_some(None),
                }
            },
        )
        .await
    }

    /// Appends all messages there are to `into`, waiting for the first; their number, 0 when the association is closed
    /// and everything read. Cheaper than one at a time.
    pub async fn recv_many(&self, into: &mut Vec<Message>) -> usize {
        self.wait(
            |m| &m.readable,
            |state| {
                let number = state.inbox.len();
                into.extend(state.inbox.drain(..));
                state.inbox_bytes = 0;
                (number > 0 || state.closed.is_some()).then_some(number)
            },
        )
        .await
    }

    /// The next event, but for those of reading and writing; `None` after the last, [`Event::Closed`].
    pub async fn event(&self) -> Option<Event> {
        let next = |state: &mut State| match state.events.pop_front() {
            Some(event) => Some(Some(event)),
            None => state.closed.is_some().then_some(None),
        };
        self.wait(|m| &m.news, next).await
    }

    /// Waits for the end. What has been received can still be read afterwards.
    pub async fn closed(&self) -> CloseReason {
        self.wait(|m| &m.news, |state| state.closed.clone()).await
    }

    /// Its figures, those at its end if it has ended; `None` if its driver was stopped.
    pub async fn snapshot(&self) -> Option<Snapshot> {
        if let Some(now) = self.0.driver.snapshot(self.0.id).await {
            return Some(now);
        }
        self.0.mailbox.lock().last.clone()
    }

    /// Closes once everything is delivered; nothing more can be sent.
    pub fn shutdown(&self) {
        self.wish(Wish::Shutdown);
    }

    /// Closes at once; `words` reach the peer.
    pub fn abort(&self, words: &str) {
        self.wish(Wish::Abort(words.to_owned()));
    }

    /// See [`Driver::add_path`].
    ///
    /// # Errors
    /// [`AssociationError`].
    pub async fn add_path(&self, uplink: Uplink) -> Result<(), AssociationError> {
        self.0.driver.add_path(self.0.id, uplink).await
    }

    /// See [`Driver::remove_path`].
    ///
    /// # Errors
    /// [`AssociationError`].
    pub async fn remove_path(&self, path: PathId) -> Result<(), AssociationError> {
        self.0.driver.remove_path(self.0.id, path).await
    }

    /// See [`Driver::suspend_path`].
    ///
    /// # Errors
    /// [`AssociationError`].
    pub async fn suspend_path(&self, path: PathId, aside: bool) -> Result<(), AssociationError> {
        self.0.driver.suspend_path(self.0.id, path, aside).await
    }

    fn wish(&self, wish: Wish) {
        self.0.wish(wish);
    }

    /// Waits until `look` finds something in the mailbox.
    async fn wait<T>(
        &self,
        of: impl Fn(&Mailbox) -> &Notify,
        mut look: impl FnMut(&mut State) -> Option<T>,
    ) -> T {
        if let Some(found) = self.0.look(&mut look) {
            return found;
        }
        loop {
            let mut notified = std::pin::pin!(of(&self.0.mailbox).notified());
            // Before looking, so that nothing comes unnoticed between the look and the wait.
            notified.as_mut().enable();
            if let Some(found) = self.0.look(&mut look) {
                return found;
            }
            notified.await;
        }
    }
}

impl Inner {
    fn look<T>(&self, look: &mut impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let mut state = self.mailbox.lock();
        let found = look(&mut state);
        let hungry = state.starved && state.inbox_bytes < INBOX / 2;
        state.starved &= !hungry;
        drop(state);
        if hungry {
            self.control.flag(self.id);
        }
        found
    }

    fn wish(&self, wish: Wish) {
        let mut state = self.mailbox.lock();
        let weaker = state.wish.is_some() && wish == Wish::Shutdown;
        if state.closed.is_some() || weaker {
            return;
        }
        state.wish = Some(wish);
        drop(state);
        self.control.flag(self.id);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.mailbox.lock().abandoned = true;
        self.wish(Wish::Shutdown);
    }
}

/// A server's queue of associations that peers have opened. When it is dropped, no more are accepted.
#[derive(Debug)]
pub struct Listener {
    pub(super) accepted: UnboundedReceiver<Association>,
    pub(super) driver: Driver,
}

impl Listener {
    /// The next association, connected; `None` when the driver was stopped.
    pub async fn accept(&mut self) -> Option<Association> {
        self.accepted.recv().await
    }

    /// The driver that listens.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }
}
