//! Handles that an application's tasks use: one for an association, and one for a server's queue of accepted
//! associations.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use strandcast_proto::association::{AssociationError, CloseReason, Event, SendOptions};
use strandcast_proto::endpoint::AssociationId;
use strandcast_proto::policy::{PathId, Tariff};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use strandcast_seal::PublicKey;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;

use super::control::{Control, Driver};
use super::mailbox::{CloseRequest, INBOX, Mailbox, OUTBOX, Outgoing, State};
use super::snapshot::Snapshot;
use super::uplink::Uplink;
use crate::clock::Clock;

/// The reason why a message was rejected. The message is returned in the error.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendFailed {
    /// The association is closed or is closing. [`AssociationHandle::closed`] returns the reason.
    #[error("the association is closed")]
    Closed(Bytes),
    /// The send queue is full. [`AssociationHandle::send`] waits until there is room.
    #[error("the send queue is full")]
    Full(Bytes),
    /// The message is empty. SCTP cannot carry empty messages.
    #[error("a message needs at least one byte")]
    Empty,
}

/// Prints only the length of a message, because its content does not belong in logs.
impl fmt::Debug for SendFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendFailed::Closed(payload) => write!(f, "Closed({} bytes)", payload.len()),
            SendFailed::Full(payload) => write!(f, "Full({} bytes)", payload.len()),
            SendFailed::Empty => f.write_str("Empty"),
        }
    }
}

/// A handle to an association that a driver runs. Clones refer to the same association. When all clones are dropped,
/// the association closes after all messages are delivered. Delivery requires that the runtime continues to run. If a
/// program ends at once, its peer waits for about a minute. A program should therefore await
/// [`AssociationHandle::closed`] before it ends.
#[derive(Clone, Debug)]
#[doc(alias = "Connection")]
pub struct AssociationHandle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: AssociationId,
    mailbox: Arc<Mailbox>,
    control: Arc<Control>,
    driver: Driver,
    clock: Clock,
}

impl AssociationHandle {
    pub(super) fn new(
        id: AssociationId,
        mailbox: Arc<Mailbox>,
        control: Arc<Control>,
        driver: Driver,
        clock: Clock,
    ) -> Self {
        AssociationHandle(Arc::new(Inner { id, mailbox, control, driver, clock }))
    }

    /// The association's id at its endpoint.
    pub fn id(&self) -> AssociationId {
        self.0.id
    }

    /// The association's driver.
    pub fn driver(&self) -> &Driver {
        &self.0.driver
    }

    /// The driver's current time.
    pub fn now(&self) -> Instant {
        self.0.clock.now()
    }

    /// Waits for the handshake. Returns true if the peer is also Strandcast, so that paths can be added and removed
    /// later.
    ///
    /// # Errors
    /// The reason why the handshake failed.
    pub async fn connected(&self) -> Result<bool, CloseReason> {
        let answer = |state: &mut State| match (state.connected, &state.closed) {
            (Some(ours), _) => Some(Ok(ours)),
            (None, Some(reason)) => Some(Err(reason.clone())),
            (None, None) => None,
        };
        self.wait(|m| &m.state_changed, answer).await
    }

    /// Sends a message, and waits while the send queue is full. The function returns before the message is delivered.
    /// Delivery is only certain when [`AssociationHandle::closed`] returns `Shutdown`. The other side receives each
    /// message with the same boundaries. With default options, messages are reliable and ordered. A message may be
    /// longer than a packet.
    ///
    /// # Errors
    /// [`SendFailed`], except `Full`.
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

    /// Sends a message unless the send queue is full.
    ///
    /// # Errors
    /// [`SendFailed`].
    pub fn try_send(&self, payload: Bytes, options: SendOptions) -> Result<(), SendFailed> {
        if payload.is_empty() {
            return Err(SendFailed::Empty);
        }
        let at = if options.lifetime.is_some() { self.now() } else { Instant::MAX };
        let mut state = self.0.mailbox.lock();
        if state.closed.is_some() || state.close_request.is_some() {
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

    /// Returns the next message. `None` once the association is closed and all messages are read.
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

    /// Waits for a message, and adds all messages that are available to `into`. Returns their number. The number is 0
    /// once the association is closed and all messages are read. One call for many messages is cheaper than reading
    /// messages one by one.
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

    /// Returns the next event other than `Readable` and `Writable`. The last event is [`Event::Closed`]. After the last
    /// event, the function returns `None`.
    pub async fn event(&self) -> Option<Event> {
        let next = |state: &mut State| match state.events.pop_front() {
            Some(event) => Some(Some(event)),
            None => state.closed.is_some().then_some(None),
        };
        self.wait(|m| &m.state_changed, next).await
    }

    /// Waits until the association is closed. Messages that were received can still be read after the association has
    /// closed.
    pub async fn closed(&self) -> CloseReason {
        self.wait(|m| &m.state_changed, |state| state.closed.clone()).await
    }

    /// Returns the statistics of the association. If the association has ended, the result contains its final
    /// statistics. `None` if the driver was stopped.
    pub async fn snapshot(&self) -> Option<Snapshot> {
        if let Some(now) = self.0.driver.snapshot(self.0.id).await {
            return Some(now);
        }
        self.0.mailbox.lock().last.clone()
    }

    /// See [`Driver::peer_key`].
    pub async fn peer_key(&self) -> Option<PublicKey> {
        self.0.driver.peer_key(self.0.id).await
    }

    /// Requests that the server decodes data from now on. A server needs this call if it decodes only on request
    /// ([`EndpointConfig::decodes_unasked`](strandcast_proto::endpoint::EndpointConfig::decodes_unasked)).
    pub fn want(&self) {
        let id = self.0.id;
        self.0.control.command(Box::new(move |core, _| {
            // The association may have ended.
            let _ = core.endpoint_mut().with(id, |association| {
                association.want(true);
                Ok(())
            });
        }));
    }

    /// Closes the association once all messages are delivered. Further messages are rejected.
    pub fn shutdown(&self) {
        self.close_request(CloseRequest::Shutdown);
    }

    /// Closes the association at once. The peer receives `words` as the reason.
    pub fn abort(&self, words: &str) {
        self.close_request(CloseRequest::Abort(words.to_owned()));
    }

    /// See [`Driver::set_tariff`].
    ///
    /// # Errors
    /// [`AssociationError`].
    pub async fn set_tariff(&self, link: &str, tariff: Tariff) -> Result<(), AssociationError> {
        self.0.driver.set_tariff(self.0.id, link, tariff).await
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
    pub async fn suspend_path(&self, path: PathId, suspended: bool) -> Result<(), AssociationError> {
        self.0.driver.suspend_path(self.0.id, path, suspended).await
    }

    fn close_request(&self, close_request: CloseRequest) {
        self.0.close_request(close_request);
    }

    /// Waits until `look` returns a result for the mailbox.
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
            // The notification is enabled before the check, so that no notification between check and wait is missed.
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
        let hungry = state.inbox_was_full && state.inbox_bytes < INBOX / 2;
        state.inbox_was_full &= !hungry;
        drop(state);
        if hungry {
            self.control.flag(self.id);
        }
        found
    }

    fn close_request(&self, close_request: CloseRequest) {
        let mut state = self.mailbox.lock();
        let weaker = state.close_request.is_some() && close_request == CloseRequest::Shutdown;
        if state.closed.is_some() || weaker {
            return;
        }
        state.close_request = Some(close_request);
        drop(state);
        self.control.flag(self.id);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.mailbox.lock().abandoned = true;
        self.close_request(CloseRequest::Shutdown);
    }
}

/// A server's queue of associations that peers have opened. After it is dropped, no more associations are accepted.
#[derive(Debug)]
pub struct Listener {
    pub(super) accepted: UnboundedReceiver<AssociationHandle>,
    pub(super) driver: Driver,
}

impl Listener {
    /// Returns the next association, which is already connected. `None` if the driver was stopped.
    pub async fn accept(&mut self) -> Option<AssociationHandle> {
        self.accepted.recv().await
    }

    /// The driver of the listening sockets.
    pub fn driver(&self) -> &Driver {
        &self.driver
    }
}
