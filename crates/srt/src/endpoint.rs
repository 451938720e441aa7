//! Callers and listeners, with their connections.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use crate::config::Config;
use crate::connection::{Connection, SendError};
use crate::event::{ConnectionId, Event};
use crate::handshake::{Accepted, Answer, Caller, Decision, Listener};
use crate::refusal::Refusal;
use crate::stats::{EndpointStats, Stats};
use crate::wire::{Body, Handshake, Kind, Packet};

/// Maximum number of answers to callers that wait to be sent, and of events that wait for the driver. Further answers
/// and events are dropped.
const WAITING: usize = 256;

enum Role {
    Caller(Option<Caller>),
    Listener(Listener),
}

/// An SRT endpoint: a caller or a listener, with its connections.
///
/// After each call, a driver sends the datagrams that [`Endpoint::poll_output`] writes until it returns `None`. The
/// driver then calls [`Endpoint::poll_event`] and [`Endpoint::poll_media`] until both return `None`. The next call is
/// at [`Endpoint::poll_timeout`], or when a datagram arrives.
pub struct Endpoint {
    config: Config,
    role: Role,
    connections: BTreeMap<u32, Connection>,
    outbox: VecDeque<(SocketAddr, Vec<u8>)>,
    events: VecDeque<Event>,
    stats: EndpointStats,
}

impl Endpoint {
    /// Creates an endpoint that waits for callers.
    pub fn listen(config: Config, seeds: &Seeds) -> Endpoint {
        Endpoint::new(config, Role::Listener(Listener::new(seeds)))
    }

    /// Creates an endpoint that calls a listener. `seeds` must differ from the seeds of earlier calls.
    pub fn call(now: Instant, config: Config, peer: SocketAddr, seeds: &Seeds) -> Endpoint {
        let caller = Caller::new(now, &config, peer, seeds.stream("caller"));
        Endpoint::new(config, Role::Caller(Some(caller)))
    }

    fn new(config: Config, role: Role) -> Endpoint {
        Endpoint {
            config,
            role,
            connections: BTreeMap::new(),
            outbox: VecDeque::new(),
            events: VecDeque::new(),
            stats: EndpointStats::default(),
        }
    }

    /// Handles a datagram that arrived.
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, data: &[u8]) {
        let Some(packet) = Packet::read(data) else {
            self.stats.strays += 1;
            return;
        };
        if let Body::Handshake(contents) = packet.body {
            self.handshake(now, from, &packet, contents);
            return;
        }
        match self.connections.get_mut(&packet.to).filter(|c| c.peer() == from) {
            Some(connection) => connection.handle(now, &packet),
            None => self.stats.strays += 1,
        }
    }

    fn handshake(&mut self, now: Instant, from: SocketAddr, packet: &Packet<'_>, contents: &[u8]) {
        match &mut self.role {
            Role::Caller(Some(caller)) if caller.peer() == from && caller.id() == packet.to => {
                let id = caller.id();
                match caller.handle(now, &self.config, packet, contents) {
                    Answer::None => {}
                    Answer::Failed(refusal) => self.fail(refusal),
                    Answer::Connected(connection, key_size, latency) => {
                        let id = ConnectionId(id);
                        self.role = Role::Caller(None);
                        self.connections.insert(id.0, *connection);
                        self.report(Event::Connected { id, peer: from, stream_id: None, key_size, latency });
                    }
                }
            }
            Role::Listener(listener) if listener.is_addressed(packet.to) => {
                self.request(now, from, packet, contents)
            }
            // Repeated answers of a handshake that is over.
            _ => self.stats.strays += 1,
        }
    }

    /// Handles the request of a caller.
    fn request(&mut self, now: Instant, from: SocketAddr, packet: &Packet<'_>, contents: &[u8]) {
        let Some((handshake, _)) = Handshake::read(contents) else {
            self.stats.strays += 1;
            return;
        };
        let Role::Listener(listener) = &mut self.role else { return };
        match handshake.kind {
            Kind::Induction => {
                let response = listener.induct(now, &self.config, from, &handshake);
                self.answer(from, response);
            }
            Kind::Conclusion => {
                let open = self.connections.values_mut().find(|c| c.is_of(from, handshake.id));
                if let Some(connection) = open {
                    if listener.knows(now, from, &handshake) {
                        connection.repeat_response();
                    }
                    return;
                }
                self.conclude(now, from, packet, contents);
            }
            Kind::Refused(_) | Kind::Other => self.stats.strays += 1,
        }
    }

    fn conclude(&mut self, now: Instant, from: SocketAddr, packet: &Packet<'_>, contents: &[u8]) {
        let busy = self.connections.values().filter(|c| !c.is_over() && !c.is_silent(now)).count();
        let room = busy < self.config.max_connections;
        let Role::Listener(listener) = &mut self.role else { return };
        match listener.conclude(now, &self.config, from, packet, contents, room) {
            Decision::Accepted(accepted) => self.accept(now, from, *accepted),
            Decision::Refused(refusal, response) => {
                self.stats.refused += 1;
                self.answer(from, response);
                self.report(Event::Refused { peer: from, refusal });
            }
            Decision::BadCookie => self.stats.bad_cookies += 1,
            Decision::OverBudget => self.stats.over_budget += 1,
        }
    }

    /// Adds a connection for an accepted caller. If there is no room, a silent connection is replaced.
    fn accept(&mut self, now: Instant, from: SocketAddr, accepted: Accepted) {
        let Accepted { connection, id, stream_id, key_size, latency } = accepted;
        let open = self.connections.values().filter(|c| !c.is_over()).count();
        if open >= self.config.max_connections {
            let silent = self.connections.values_mut().find(|c| !c.is_over() && c.is_silent(now));
            if let Some(silent) = silent {
                silent.replace();
            }
        }
        self.connections.insert(id, connection);
        let id = ConnectionId(id);
        self.report(Event::Connected { id, peer: from, stream_id, key_size, latency });
    }

    fn answer(&mut self, to: SocketAddr, response: Vec<u8>) {
        if self.outbox.len() < WAITING {
            self.outbox.push_back((to, response));
        }
    }

    fn report(&mut self, event: Event) {
        // A refusal says nothing that the next one does not.
        if self.events.len() < WAITING || !matches!(event, Event::Refused { .. }) {
            self.events.push_back(event);
        }
    }

    fn fail(&mut self, refusal: Refusal) {
        self.role = Role::Caller(None);
        self.report(Event::Failed { refusal });
    }

    /// Writes the next datagram to `out`. Returns the datagram's destination; `None` if no datagram must be sent now.
    pub fn poll_output(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<SocketAddr> {
        if let Some((to, data)) = self.outbox.pop_front() {
            *out = data;
            return Some(to);
        }
        if let Role::Caller(Some(caller)) = &mut self.role {
            if caller.has_failed(now) {
                self.fail(Refusal::TIMEOUT);
            } else if caller.poll_output(now, &self.config, out) {
                return Some(caller.peer());
            }
        }
        let written = self.connections.values_mut().find_map(|c| c.poll_output(now, out).then(|| c.peer()));
        if written.is_none() {
            self.sweep();
        }
        written
    }

    /// Removes connections that have ended.
    fn sweep(&mut self) {
        let events = &mut self.events;
        self.connections.retain(|id, connection| match connection.ended() {
            None => true,
            Some(why) => {
                let (id, stats) = (ConnectionId(*id), connection.stats());
                events.push_back(Event::Ended { id, why, stats });
                false
            }
        });
    }

    /// Returns the next event of the endpoint.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the next payload that is due, from any connection.
    pub fn poll_media(&mut self, now: Instant) -> Option<(ConnectionId, Vec<u8>)> {
        self.connections.iter_mut().find_map(|(id, c)| Some((ConnectionId(*id), c.deliver(now)?)))
    }

    /// Returns the time at which the driver must call again. `None` means only when a datagram arrives.
    pub fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        if !self.outbox.is_empty() || !self.events.is_empty() {
            return Some(now);
        }
        let calling = match &self.role {
            Role::Caller(Some(caller)) => Some(caller.next_timeout()),
            _ => None,
        };
        let connections = self.connections.values().filter_map(|c| c.next_timeout(now));
        connections.chain(calling).min()
    }

    /// Sends a payload on a connection.
    ///
    /// # Errors
    /// If a [`SendError`] is returned, the payload is lost.
    pub fn send(&mut self, now: Instant, id: ConnectionId, payload: &[u8]) -> Result<(), SendError> {
        let connection = self.connections.get_mut(&id.0).ok_or(SendError::NotSending)?;
        connection.send(now, payload)
    }

    /// Closes a connection. A sender waits until the payloads that it sent are played.
    pub fn close(&mut self, now: Instant, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id.0) {
            connection.close(now);
        }
    }

    /// Ends all connections and calls immediately. Peers get a shutdown with the next [`Endpoint::poll_output`].
    /// Payloads that were not yet delivered may be lost.
    pub fn leave(&mut self) {
        if matches!(self.role, Role::Caller(_)) {
            self.role = Role::Caller(None);
        }
        self.connections.values_mut().for_each(Connection::leave);
    }

    /// Returns the counters of a connection.
    pub fn stats(&self, id: ConnectionId) -> Option<Stats> {
        self.connections.get(&id.0).map(Connection::stats)
    }

    /// Returns the counters that belong to no connection.
    pub fn endpoint_stats(&self) -> EndpointStats {
        self.stats
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }
}
