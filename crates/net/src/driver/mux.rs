//! Connects all associations of one driver to their mailboxes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use strandcast_proto::app::App;
use strandcast_proto::association::{CloseReason, Event, SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

use super::control::{Control, Driver};
use super::handle::AssociationHandle;
use super::mailbox::{CloseRequest, INBOX, INBOXES, Mailbox, Outgoing, State};
use super::snapshot::{SharedLinkMetadata, Snapshot};
use crate::clock::Clock;

/// The mailbox of one association, and the messages between the mailbox and the endpoint.
struct Session {
    mailbox: Arc<Mailbox>,
    /// Messages from the outbox that the endpoint has not accepted yet.
    staged: VecDeque<Outgoing>,
    /// True while the endpoint has no room. The endpoint reports when it has room again.
    full: bool,
    close_request: Option<CloseRequest>,
}

pub(super) struct AssociationMux {
    control: Arc<Control>,
    driver: Driver,
    clock: Clock,
    link_metadata: SharedLinkMetadata,
    /// Receives accepted associations. `None` for a client.
    accepted: Option<UnboundedSender<AssociationHandle>>,
    session: BTreeMap<AssociationId, Session>,
    /// Associations that the next poll must handle.
    due: Vec<AssociationId>,
    fresh: VecDeque<Message>,
}

impl AssociationMux {
    pub fn new(
        control: Arc<Control>,
        driver: Driver,
        clock: Clock,
        link_metadata: SharedLinkMetadata,
        accepted: Option<UnboundedSender<AssociationHandle>>,
    ) -> Self {
        let (session, due, fresh) = (BTreeMap::new(), Vec::new(), VecDeque::new());
        AssociationMux { control, driver, clock, link_metadata, accepted, session, due, fresh }
    }

    /// Creates a mailbox for an association and returns its handle.
    pub fn open(&mut self, id: AssociationId) -> AssociationHandle {
        let mailbox = Arc::new(Mailbox::default());
        let session = Session {
            mailbox: Arc::clone(&mailbox),
            staged: VecDeque::new(),
            full: false,
            close_request: None,
        };
        self.session.insert(id, session);
        AssociationHandle::new(id, mailbox, Arc::clone(&self.control), self.driver.clone(), self.clock)
    }

    /// Accepts an association that a peer has opened.
    fn accept(&mut self, endpoint: &mut Endpoint, id: AssociationId) {
        let association = self.open(id);
        let refused = match &self.accepted {
            Some(accepted) => accepted.send(association).is_err(),
            None => true,
        };
        if refused {
            self.session.remove(&id);
            endpoint.abort(id, "the server no longer accepts associations");
        }
    }

    fn serve(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        let most = INBOX.min(INBOXES / self.session.len().max(1));
        let Some(session) = self.session.get_mut(&id) else { return };
        session.send(now, endpoint, id);
        session.receive(endpoint, id, most, &mut self.fresh);
    }

    fn closed(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, reason: &CloseReason) {
        if let Some(session) = self.session.remove(&id) {
            let mut rest: VecDeque<Message> = std::iter::from_fn(|| endpoint.recv(id)).collect();
            let mut state = session.mailbox.lock();
            state.inbox_bytes += rest.iter().map(State::cost).sum::<usize>();
            state.inbox.append(&mut rest);
            drop(state);
            session
                .mailbox
                .close(reason.clone(), Snapshot::of(endpoint, id, &self.link_metadata.lock(), now));
        }
        endpoint.release(id);
    }
}

impl App for AssociationMux {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        if matches!(event, Event::Connected { .. }) && !self.session.contains_key(&id) {
            self.accept(endpoint, id);
        }
        if let Some(session) = self.session.get_mut(&id) {
            session.full &= *event != Event::Writable;
            session.mailbox.event(event);
            self.due.push(id);
        }
        if let Event::Closed(reason) = event {
            self.closed(now, endpoint, id, reason);
        }
    }

    fn poll(&mut self, now: Instant, endpoint: &mut Endpoint) {
        self.control.take_flagged(&mut self.due);
        while let Some(id) = self.due.pop() {
            self.serve(now, endpoint, id);
        }
    }
}

impl Session {
    /// Moves messages from the outbox to the endpoint until the endpoint is full. Afterwards executes a request to
    /// close the association.
    fn send(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        loop {
            while let Some(message) = self.staged.front().filter(|_| !self.full) {
                let Outgoing { payload, options, at } = message;
                let spent = now - *at;
                let lifetime = options.lifetime.map(|l| l.saturating_sub(spent));
                let options = SendOptions { lifetime, ..*options };
                match endpoint.send(now, id, payload.clone(), options) {
                    Err(SendError::Full) => self.full = true,
                    // Drops a message that the endpoint will never accept.
                    _ => drop(self.staged.pop_front()),
                }
            }
            let mut state = self.mailbox.lock();
            if let Some(close_request) = state.close_request.take() {
                self.close_request = Some(close_request);
            }
            // The endpoint's `Writable` event triggers the next attempt.
            state.flagged = self.full;
            if self.full {
                break;
            }
            let was_full = state.take_outbox(&mut self.staged);
            drop(state);
            if was_full {
                self.mailbox.writable.notify_waiters();
            }
            if self.staged.is_empty() {
                break;
            }
        }
        match self.close_request.take() {
            Some(CloseRequest::Abort(words)) => endpoint.abort(id, &words),
            Some(CloseRequest::Shutdown) if self.staged.is_empty() => endpoint.shutdown(now, id),
            later => self.close_request = later,
        }
    }

    /// Moves received messages to the inbox until the inbox is full.
    fn receive(
        &mut self,
        endpoint: &mut Endpoint,
        id: AssociationId,
        most: usize,
        fresh: &mut VecDeque<Message>,
    ) {
        let (mut held, abandoned) = {
            let state = self.mailbox.lock();
            (state.inbox_bytes, state.abandoned)
        };
        while held < most {
            let Some(message) = endpoint.recv(id) else { break };
            if !abandoned {
                held += State::cost(&message);
                fresh.push_back(message);
            }
        }
        if fresh.is_empty() && held < most {
            return;
        }
        let mut state = self.mailbox.lock();
        state.inbox_was_full = held >= most;
        if !fresh.is_empty() {
            state.inbox_bytes += fresh.iter().map(State::cost).sum::<usize>();
            state.inbox.append(fresh);
            drop(state);
            self.mailbox.readable.notify_waiters();
        }
    }
}

impl Drop for AssociationMux {
    fn drop(&mut self) {
        for session in self.session.values() {
            session.mailbox.close(CloseReason::Aborted, None);
        }
    }
}
