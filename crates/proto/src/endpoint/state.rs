//! State of an endpoint: its associations, and its operations.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use super::answer::Answers;
use super::config::{Connect, EndpointConfig, Input};
use super::cookie::CookieJar;
use super::memory::Memory;
use super::used::UsedCookies;
use crate::association::{Association, AssociationError, Event, SendError, SendOptions, Timer, Transmit};
use crate::config::TransportConfig;
use crate::path::{FourTuple, SealId};
use crate::policy::{PathId, Signal};
use crate::rx::Message;
use crate::seeds::{Random, Seeds};
use crate::time::Instant;
use crate::wire::{Tsn, VerificationTag};

/// Identifier of an association within one endpoint. An identifier is never used again.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AssociationId(pub u64);

/// Reason for which no association was opened.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The caller gave no path.
    #[error("an association needs at least one path")]
    NoPath,
    /// There are more than [`crate::path::MAX_PATHS`] paths.
    #[error("too many paths")]
    TooManyPaths,
    /// [`EndpointConfig::max_associations`] associations are already open.
    #[error("too many associations")]
    TooMany,
    /// One of the 4-tuples already belongs to an association with the same SCTP port of the peer.
    #[error("there is an association with this peer already")]
    Exists,
}

/// An association and its place in the endpoint's lists.
#[derive(Debug)]
pub(super) struct Entry {
    pub association: Association,
    pub peer_port: u16,
    pub sealed: SealId,
    pub tuples: Vec<FourTuple>,
    /// Bytes of heap that the association held at the last count.
    heap: usize,
    wake: Option<Instant>,
    /// True if the association is in the queue of associations that may have output.
    queued: bool,
}

/// The SCTP state machine for one set of sockets.
///
/// After each call, a driver calls `poll_output` and `poll_event` until `None`, then sleeps until `poll_timeout`.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) config: EndpointConfig,
    pub(super) seeds: Seeds,
    pub(super) random: Random,
    pub(super) cookies: CookieJar,
    pub(super) used: UsedCookies,
    pub(super) answers: Answers,
    /// Entries are boxed, because each tree node has room for eleven entries.
    pub(super) entries: BTreeMap<AssociationId, Box<Entry>>,
    pub(super) by_tag: BTreeMap<u32, AssociationId>,
    pub(super) by_tuple: BTreeMap<(FourTuple, u16), AssociationId>,
    pub(super) memory: Memory,
    /// True if payloads are copied out of their datagrams.
    copies: bool,
    wakes: BTreeSet<(Instant, AssociationId)>,
    ready: VecDeque<AssociationId>,
    events: VecDeque<(AssociationId, Event)>,
    next_id: u64,
    /// Number of datagrams that were dropped because they were not SCTP, belonged to no association, or were in the
    /// clear where packets are sealed (or the reverse).
    pub(super) dropped: u64,
}

impl Endpoint {
    /// Creates an endpoint without associations.
    pub fn new(mut config: EndpointConfig, seeds: &Seeds) -> Self {
        let seeds = seeds.child("endpoint");
        let envelope = config.transport.envelope;
        config.transport = TransportConfig::within(config.transport, envelope);
        Endpoint {
            random: seeds.stream("tags"),
            cookies: CookieJar::new(&mut seeds.stream("cookies")),
            used: UsedCookies::default(),
            answers: Answers::new(&config, &mut seeds.stream("answers")),
            memory: Memory::new(config.memory, config.max_associations),
            copies: false,
            config,
            seeds,
            entries: BTreeMap::new(),
            by_tag: BTreeMap::new(),
            by_tuple: BTreeMap::new(),
            wakes: BTreeSet::new(),
            ready: VecDeque::new(),
            events: VecDeque::new(),
            next_id: 0,
            dropped: 0,
        }
    }

    /// Opens an association. The association and all its paths belong to one sealed session, that of the first path.
    ///
    /// # Errors
    /// Returns a [`ConnectError`] if no association was opened. Nothing was then sent.
    pub fn connect(&mut self, now: Instant, mut connect: Connect) -> Result<AssociationId, ConnectError> {
        let Some(sealed) = connect.paths.first().map(|(t, _)| t.sealed) else {
            return Err(ConnectError::NoPath);
        };
        connect.paths.iter_mut().for_each(|(t, _)| t.sealed = sealed);
        if connect.paths.len() > crate::path::MAX_PATHS {
            return Err(ConnectError::TooManyPaths);
        }
        if self.entries.len() >= self.memory.associations {
            return Err(ConnectError::TooMany);
        }
        if connect.paths.iter().any(|(t, _)| self.by_tuple.contains_key(&(*t, connect.port))) {
            return Err(ConnectError::Exists);
        }
        let config = connect.transport.unwrap_or_else(|| Arc::clone(&self.config.transport));
        let config = TransportConfig::within(config, self.config.transport.envelope);
        let identity = self.new_identity();
        let ports = (self.config.port, connect.port);
        let (id, seeds) = self.new_id();
        let association =
            Association::connect(now, config, ports, identity, &connect.paths, connect.scheme, &seeds);
        self.insert(id, association, connect.port);
        Ok(id)
    }

    pub(super) fn new_identity(&mut self) -> (VerificationTag, Tsn) {
        loop {
            let tag = self.random.u32();
            if tag != 0 && !self.by_tag.contains_key(&tag) {
                return (VerificationTag(tag), Tsn(self.random.u32()));
            }
        }
    }

    pub(super) fn new_id(&mut self) -> (AssociationId, Seeds) {
        let id = AssociationId(self.next_id);
        self.next_id += 1;
        (id, self.seeds.child(&format!("association {}", id.0)))
    }

    pub(super) fn insert(&mut self, id: AssociationId, association: Association, peer_port: u16) {
        self.by_tag.insert(association.tags().0.0, id);
        let sealed = association.tuple(PathId(0)).map(|t| t.sealed).unwrap_or_default();
        let entry =
            Entry { association, peer_port, sealed, tuples: Vec::new(), heap: 0, wake: None, queued: false };
        self.entries.insert(id, Box::new(entry));
        self.touch(id);
    }

    /// Updates the endpoint's lists after an association may have changed.
    pub(super) fn touch(&mut self, id: AssociationId) {
        self.account(id);
        let Some(entry) = self.entries.get_mut(&id) else { return };
        while let Some(event) = entry.association.poll_event() {
            self.events.push_back((id, event));
        }
        if entry.association.take_paths_moved() && !entry.association.is_closed() {
            for t in entry.tuples.drain(..) {
                unlist_tuple(&mut self.by_tuple, (t, entry.peer_port), id);
            }
            entry.tuples.extend(entry.association.own_tuples());
            for t in &entry.tuples {
                self.by_tuple.insert((*t, entry.peer_port), id);
            }
        }
        if !entry.queued {
            entry.queued = true;
            self.ready.push_back(id);
        }
    }

    /// Updates the record of the bytes that an association holds.
    fn account(&mut self, id: AssociationId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let heap = entry.association.heap();
        if heap != entry.heap {
            self.memory.change(entry.heap, heap);
            entry.heap = heap;
        }
    }

    /// Sets the memory limit of an association that is about to receive a packet or a message. Returns it.
    pub(super) fn allowed(&mut self, id: AssociationId) -> Option<&mut Association> {
        let entry = self.entries.get_mut(&id)?;
        entry.association.allow(self.memory.room(entry.heap), self.copies);
        Some(&mut entry.association)
    }

    /// Sets which kept payloads are copied out of their datagrams: all of them (`true`), or only small ones. `true` is
    /// for drivers whose buffers become scarce while slices of them are held.
    pub fn copy_kept(&mut self, all: bool) {
        self.copies = all;
    }

    /// Returns the heap in bytes that all associations hold. The heap of idle associations is not counted.
    pub fn heap(&self) -> usize {
        self.entries.values().map(|e| e.association.heap()).sum()
    }

    /// Handles the restart of the peer of association `id`. Data that the peer received before its restart are lost.
    pub(super) fn restarted(&mut self, id: AssociationId) {
        self.events.retain(|(i, _)| *i != id);
        self.events.push_back((id, Event::Restarted));
    }

    fn reschedule(&mut self, id: AssociationId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let wake = entry.association.poll_timeout().map(|(at, _)| at);
        if wake != entry.wake {
            if let Some(old) = entry.wake {
                self.wakes.remove(&(old, id));
            }
            if let Some(new) = wake {
                self.wakes.insert((new, id));
            }
            entry.wake = wake;
        }
    }

    /// Handles input from a driver.
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        match input {
            Input::Datagrams { tuple, mut data, segment_size } => {
                let size = segment_size.max(1);
                let mut last = None;
                while !data.is_empty() {
                    let datagram = data.split_to(size.min(data.len()));
                    let Some(packet) = self.packet_in(&tuple, datagram) else {
                        self.dropped += 1;
                        continue;
                    };
                    let owner = self.handle_packet(now, tuple, &packet);
                    if owner != last {
                        self.finish_batch(now, last);
                    }
                    last = owner;
                }
                self.finish_batch(now, last);
            }
            Input::Link(sample) => {
                for id in self.ids() {
                    if let Some(e) = self.entries.get_mut(&id) {
                        e.association.on_link(now, &sample);
                        self.touch(id);
                    }
                }
            }
            Input::Mtu { tuple, mtu } => self.on_path(&tuple, |a, path| a.limit_mtu(now, path, mtu)),
            Input::TooBig { tuple, size } => self.on_path(&tuple, |a, path| a.too_big(now, path, size)),
        }
    }

    /// Calls the function `tell` for each association with a path at `tuple`.
    fn on_path(&mut self, tuple: &FourTuple, tell: impl Fn(&mut Association, PathId)) {
        for id in self.ids() {
            let Some(e) = self.entries.get_mut(&id) else { continue };
            if let Some(path) = e.association.path_of(tuple) {
                tell(&mut e.association, path);
                self.touch(id);
            }
        }
    }

    /// Handles the end of a sequence of packets for association `id`.
    fn finish_batch(&mut self, now: Instant, id: Option<AssociationId>) {
        let Some(id) = id else { return };
        if let Some(e) = self.entries.get_mut(&id) {
            e.association.after_input(now);
            self.touch(id);
        }
    }

    pub(super) fn ids(&self) -> Vec<AssociationId> {
        self.entries.keys().copied().collect()
    }

    /// Runs the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(&(at, id)) = self.wakes.first() {
            if at > now {
                break;
            }
            self.wakes.remove(&(at, id));
            if let Some(e) = self.entries.get_mut(&id) {
                e.wake = None;
                e.association.handle_timeout(now);
                self.touch(id);
            }
        }
    }

    /// Appends the next datagrams to `buf`, all for one path. Call this method until it returns `None`.
    pub fn poll_output(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((tuple, packet)) = self.answers.pop() {
            buf.extend_from_slice(&packet);
            let len = packet.len();
            return Some(Transmit { tuple, len, segment_size: len, fragment: false });
        }
        while let Some(&id) = self.ready.front() {
            if let Some(e) = self.entries.get_mut(&id) {
                if let Some(transmit) = e.association.poll_output(now, buf) {
                    return Some(transmit);
                }
                e.queued = false;
                while let Some(event) = e.association.poll_event() {
                    self.events.push_back((id, event));
                }
                if e.association.is_closed() {
                    self.unlist(id);
                }
                self.reschedule(id);
            }
            self.ready.pop_front();
        }
        None
    }

    /// Returns the time at which [`Endpoint::handle_timeout`] must be called. Call this function only after
    /// `poll_output` has returned `None`, because the returned time is not correct before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.wakes.first().map(|(at, _)| *at)
    }

    /// Returns the next timer of an association, and the time at which it expires.
    pub fn timeout_reason(&self, id: AssociationId) -> Option<(Instant, Timer)> {
        self.entries.get(&id)?.association.poll_timeout()
    }

    /// Returns the next event and its association.
    pub fn poll_event(&mut self) -> Option<(AssociationId, Event)> {
        self.events.pop_front()
    }

    /// Returns an association, for inspection.
    pub fn association(&self, id: AssociationId) -> Option<&Association> {
        self.entries.get(&id).map(|e| &e.association)
    }

    /// Removes the addresses of an association that has sent its last packet. Packets for it are then out of the blue
    /// (RFC 9260 §8.4), although the application may still read received data.
    fn unlist(&mut self, id: AssociationId) {
        let Some(entry) = self.entries.get_mut(&id) else { return };
        let tag = entry.association.tags().0.0;
        if self.by_tag.get(&tag) == Some(&id) {
            self.by_tag.remove(&tag);
        }
        for t in entry.tuples.drain(..) {
            unlist_tuple(&mut self.by_tuple, (t, entry.peer_port), id);
        }
    }

    /// Drops an association in any state. Nothing is sent.
    pub fn release(&mut self, id: AssociationId) {
        self.unlist(id);
        let Some(entry) = self.entries.remove(&id) else { return };
        self.memory.change(entry.heap, 0);
        if let Some(wake) = entry.wake {
            self.wakes.remove(&(wake, id));
        }
    }

    /// Queues a message; see [`Association::send`].
    ///
    /// # Errors
    /// Returns a [`SendError`] if the message is refused.
    pub fn send(
        &mut self,
        now: Instant,
        id: AssociationId,
        payload: Bytes,
        options: SendOptions,
    ) -> Result<u64, SendError> {
        let association = self.allowed(id).ok_or(SendError::Closed)?;
        let sent = association.send(now, payload, options);
        self.touch(id);
        sent
    }

    /// Returns the next message of an association.
    pub fn recv(&mut self, id: AssociationId) -> Option<Message> {
        let entry = self.entries.get_mut(&id)?;
        let reading = entry.association.read();
        if reading.undecodable {
            entry.association.let_go();
        }
        if reading.changed {
            if reading.acknowledges || reading.waits || reading.undecodable {
                self.touch(id);
            } else {
                self.account(id);
            }
        }
        reading.message
    }

    /// Calls the function `call` with an association, for example to open, close, suspend or move paths.
    ///
    /// # Errors
    /// Its errors are [`AssociationError::Unknown`] and the errors of `call`.
    pub fn with<T>(
        &mut self,
        id: AssociationId,
        call: impl FnOnce(&mut Association) -> Result<T, AssociationError>,
    ) -> Result<T, AssociationError> {
        let entry = self.entries.get_mut(&id).ok_or(AssociationError::Unknown)?;
        let result = call(&mut entry.association);
        self.touch(id);
        result
    }

    /// Opens a path; see [`Association::add_path`].
    ///
    /// # Errors
    /// Returns an [`AssociationError`] if the path cannot be opened.
    pub fn add_path(
        &mut self,
        now: Instant,
        id: AssociationId,
        tuple: FourTuple,
        mtu: Option<u16>,
    ) -> Result<PathId, AssociationError> {
        let entry = self.entries.get(&id).ok_or(AssociationError::Unknown)?;
        let (port, tuple) = (entry.peer_port, FourTuple { sealed: entry.sealed, ..tuple });
        if self.by_tuple.contains_key(&(tuple, port)) {
            return Err(AssociationError::PathExists);
        }
        self.with(id, |a| a.add_path(now, tuple, mtu))
    }

    /// Closes the association once all data are delivered.
    pub fn shutdown(&mut self, now: Instant, id: AssociationId) {
        let _ = self.with(id, |a| {
            a.shutdown(now);
            Ok(())
        });
    }

    /// Aborts the association at once. The peer receives the text `words`.
    pub fn abort(&mut self, id: AssociationId, words: &str) {
        let _ = self.with(id, |a| {
            a.abort(words);
            Ok(())
        });
    }

    /// Panics if the state that unknown sources can create exceeds its bounds. This method is for tests.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_bounded(&self) {
        assert!(self.entries.len() <= self.config.max_associations, "{} associations", self.entries.len());
        assert!(self.used.len() <= 8192, "{} cookies", self.used.len());
        assert!(self.by_tuple.len() <= self.entries.len() * crate::path::MAX_PATHS, "4-tuples");
        assert!(
            self.by_tag.len() <= self.entries.len() && self.wakes.len() <= self.entries.len(),
            "tags, timers"
        );
    }

    /// Returns two numbers: packets dropped because they were not SCTP or belonged to no association, and answers that
    /// the rate limits refused.
    pub fn dropped(&self) -> (u64, u64) {
        (self.dropped, self.answers.refused())
    }
}

/// Removes a 4-tuple of association `id` from the list, unless it now belongs to another association.
fn unlist_tuple(
    by_tuple: &mut BTreeMap<(FourTuple, u16), AssociationId>,
    at: (FourTuple, u16),
    id: AssociationId,
) {
    if by_tuple.get(&at) == Some(&id) {
        by_tuple.remove(&at);
    }
}

impl Association {
    /// Handles the counters of a link that is used by some paths.
    pub(super) fn on_link(&mut self, now: Instant, sample: &crate::policy::LinkSample) {
        let over: Vec<PathId> = self.paths().iter().filter(|v| v.link == sample.link).map(|v| v.id).collect();
        for path in over {
            let sample = crate::policy::LinkSample { path: Some(path), ..sample.clone() };
            self.signal(now, &Signal::Link(&sample));
        }
        self.after_input(now);
    }
}
