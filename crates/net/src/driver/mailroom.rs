//! The application that serves all mailboxes of one driver.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use strandcast_proto::app::App;
use strandcast_proto::association::{CloseReason, Event, SendError, SendOptions};
use strandcast_proto::endpoint::{AssociationId, Endpoint};
use strandcast_proto::rx::Message;
use strandcast_proto::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

use super::control::{Control, Driver};
use super::handle::Association;
use super::mailbox::{INBOX, INBOXES, Mailbox, Outgoing, State, Wish};
use super::snapshot::{Notes, Snapshot};
use crate::clock::Clock;

/// One association's mailbox and what is on its way between it and the endpoint.
struct Served {
    mailbox: Arc<Mailbox>,
    /// Taken from the outbox, not yet by the endpoint.
    staged: VecDeque<Outgoing>,
    /// The endpoint has no room; it will say when it does.
    full: bool,
    wish: Option<Wish>,
}

pub(super) struct Mailroom {
    control: Arc<Control>,
    driver: Driver,
    clock: Clock,
    notes: Notes,
    /// Where accepted associations go; `None`: nobody accepts.
    accepted: Option<UnboundedSender<Association>>,
    served: BTreeMap<AssociationId, Served>,
    /// Those to look after with the next poll.
    due: Vec<AssociationId>,
    fresh: VecDeque<Message>,
}

impl Mailroom {
    pub fn new(
        control: Arc<Control>,
        driver: Driver,
        clock: Clock,
        notes: Notes,
        accepted: Option<UnboundedSender<Association>>,
    ) -> Self {
        let (served, due, fresh) = (BTreeMap::new(), Vec::new(), VecDeque::new());
        Mailroom { control, driver, clock, notes, accepted, served, due, fresh }
    }

    /// A mailbox for an association, and the handle to it.
    pub fn open(&mut self, id: AssociationId) -> Association {
        let mailbox = Arc::new(Mailbox::default());
        let served =
            Served { mailbox: Arc::clone(&mailbox), staged: VecDeque::new(), full: false, wish: None };
        self.served.insert(id, served);
        Association::new(id, mailbox, Arc::clone(&self.control), self.driver.clone(), self.clock)
    }

    /// A peer has opened an association.
    fn accept(&mut self, endpoint: &mut Endpoint, id: AssociationId) {
        let association = self.open(id);
        let refused = match &self.accepted {
            Some(accepted) => accepted.send(association).is_err(),
            None => true,
        };
        if refused {
            self.served.remove(&id);
            endpoint.abort(id, "nobody accepts");
        }
    }

    fn serve(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        let most = INBOX.min(INBOXES / self.served.len().max(1));
        let Some(served) = self.served.get_mut(&id) else { return };
        served.send(now, endpoint, id);
        served.receive(endpoint, id, most, &mut self.fresh);
    }

    fn closed(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, reason: &CloseReason) {
        if let Some(served) = self.served.remove(&id) {
            let mut rest: VecDeque<Message> = std::iter::from_fn(|| endpoint.recv(id)).collect();
            let mut state = served.mailbox.lock();
            state.inbox_bytes += rest.iter().map(State::cost).sum::<usize>();
            state.inbox.append(&mut rest);
            drop(state);
            served.mailbox.close(reason.clone(), Snapshot::of(endpoint, id, &self.notes.lock(), now));
        }
        endpoint.release(id);
    }
}

impl App for Mailroom {
    fn on_event(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId, event: &Event) {
        if matches!(event, Event::Connected { .. }) && !self.served.contains_key(&id) {
            self.accept(endpoint, id);
        }
        if let Some(served) = self.served.get_mut(&id) {
            served.full &= *event != Event::Writable;
            served.mailbox.event(event);
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

impl Served {
    /// Moves messages from the outbox into the endpoint as far as there is room, and then obeys.
    fn send(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssociationId) {
        loop {
            while let Some(message) = self.staged.front().filter(|_| !self.full) {
                let Outgoing { payload, options, at } = message;
                let spent = now - *at;
                let lifetime = options.lifetime.map(|l| l.saturating_sub(spent));
                let options = SendOptions { lifetime, ..*options };
                match endpoint.send(now, id, payload.clone(), options) {
                    Err(SendError::Full) => self.full = true,
                    // Nothing to be done for a message that the endpoint will never take.
                    _ => drop(self.staged.pop_front()),
                }
            }
            let mut state = self.mailbox.lock();
            if let Some(wish) = state.wish.take() {
                self.wish = Some(wish);
            }
            // Room in the endpoint will be the reason to look again.
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
        match self.wish.take() {
            Some(Wish::Abort(words)) => endpoint.abort(id, &words),
            Some(Wish::Shutdown) if self.staged.is_empty() => endpoint.shutdown(now, id),
            later => self.wish = later,
        }
    }

    /// Moves messages that arrived into the inbox as far as there is room.
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
        state.starved = held >= most;
        if !fresh.is_empty() {
            state.inbox_bytes += fresh.iter().map(State::cost).sum::<usize>();
            state.inbox.append(fresh);
            drop(state);
            self.mailbox.readable.notify_waiters();
        }
    }
}

impl Drop for Mailroom {
    fn drop(&mut self) {
        for served in self.served.values() {
            served.mailbox.close(CloseReason::Aborted, None);
        }
    }
}
