//! An association: its components and its operations.

use core::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;

use super::asconf::AsconfAnswer;
use super::assembler::{Assembler, Transmit};
use super::auth::AuthParams;
use super::coded::Coded;
use super::context::Context;
use super::event::{CloseReason, Event};
use super::handshake::{Capabilities, Established, Handshake};
use super::lifecycle::{AssociationError, Role, State};
use super::path_manager::PathManager;
use super::receiver::{Reading, Receiver};
use super::right_sizing::Buffers;
use super::sender::{HeldBack, SendError, SendOptions, Sender};
use super::shutdown::Closing;
use super::stats::AssociationStats;
use crate::coding::Announced;
use crate::config::TransportConfig;
use crate::path::FourTuple;
use crate::policy::{LinkId, PathId, PathView, Scheme, Signal, Tariff};
use crate::seeds::Seeds;
use crate::time::Instant;
use crate::wire::chunk::CookieAck;
use crate::wire::{Cause, Tsn, VerificationTag};

/// An SCTP association. [`crate::endpoint::Endpoint`] offers its operations to applications.
#[derive(Debug)]
pub struct Association {
    pub(super) cx: Context,
    pub(super) tx: Sender,
    pub(super) rx: Receiver,
    pub(super) handshake: Handshake,
    pub(super) closing: Closing,
    pub(super) asconf: AsconfAnswer,
}

impl Association {
    /// Returns an association with an identity and with memory for one path.
    fn blank(
        config: Arc<TransportConfig>,
        role: Role,
        ports: (u16, u16),
        identity: (VerificationTag, Tsn),
        scheme: Box<dyn Scheme>,
        seeds: &Seeds,
    ) -> Self {
        let mut random = seeds.stream("association");
        let auth = AuthParams::generate(&mut random, &config);
        let cx = Context::new(Arc::clone(&config), role, ports, scheme, random);
        Association {
            tx: Sender::new(&config, identity.1, cx.driver.hears_deliveries(), seeds.stream("coding").u32()),
            rx: Receiver::new(&config, Tsn(0), config.inbound_streams),
            handshake: Handshake::new(identity, auth),
            closing: Closing::default(),
            asconf: AsconfAnswer::default(),
            cx,
        }
    }

    /// Opens an association over the paths `tuples`. The first INIT is sent on the first path.
    pub(crate) fn connect(
        now: Instant,
        config: Arc<TransportConfig>,
        ports: (u16, u16),
        identity: (VerificationTag, Tsn),
        tuples: &[(FourTuple, Option<u16>)],
        scheme: Box<dyn Scheme>,
        seeds: &Seeds,
    ) -> Self {
        let mut a = Association::blank(config, Role::Opener, ports, identity, scheme, seeds);
        for (tuple, mtu) in tuples {
            a.manager().open_slot(now, *tuple, *mtu);
        }
        let (mut m, handshake, _) = a.split();
        handshake.send_init(&mut m, now);
        a
    }

    /// Returns the association that a valid cookie describes. `tuple` is the 4-tuple on which COOKIE ECHO arrived.
    pub(crate) fn accept(
        now: Instant,
        config: Arc<TransportConfig>,
        found: Established,
        tuple: FourTuple,
        scheme: Box<dyn Scheme>,
        seeds: &Seeds,
    ) -> Self {
        let identity = (found.local_tag, found.initial_tsn);
        let mut a = Association::blank(config, Role::Accepter, found.ports, identity, scheme, seeds);
        a.handshake.accepted(&a.cx.config, found.remote, found.random);
        let path = a.manager().open_slot(now, tuple, None);
        // If COOKIE ECHO came from another address, this packet earns the bytes that may be sent there.
        a.cx.paths[path.index()].credit = (found.remote != tuple.remote).then_some(0);
        let (mut m, handshake, _) = a.split();
        handshake.learn(&mut m, &found.peer);
        handshake.establish(&mut m, now, path);
        a.cx.push_control(PathId(0), CookieAck);
        a.let_go();
        a
    }

    /// Handles a valid cookie of the association that already exists (RFC 9260 §5.2.4 B, D).
    pub(crate) fn cookie_again(&mut self, now: Instant, tuple: FourTuple, found: &Established) {
        let (mut m, handshake, _) = self.split();
        handshake.cookie_again(&mut m, now, tuple, found);
        self.let_go();
    }

    /// Refuses the peer's restart of the association during the last step of a shutdown (RFC 9260 §5.2.4 A).
    pub(crate) fn refuse_restart(&mut self) {
        Handshake::refuse_restart(&mut self.cx);
    }

    /// Opens the further paths of an accepting endpoint to the addresses that a peer of another stack listed.
    pub(crate) fn pair_with(&mut self, now: Instant, peer: &Capabilities, locals: &[(LinkId, SocketAddr)]) {
        self.manager().pair_with(now, peer, locals);
    }

    /// Returns the components that a change of paths affects, and the others.
    pub(super) fn split(&mut self) -> (PathManager<'_>, &mut Handshake, &mut Closing) {
        let manager = PathManager { cx: &mut self.cx, tx: &mut self.tx, rx: &mut self.rx };
        (manager, &mut self.handshake, &mut self.closing)
    }

    pub(super) fn manager(&mut self) -> PathManager<'_> {
        self.split().0
    }

    /// Sets whether the application reads the peer's data. While the application does not read, coded messages are
    /// decoded only if decoding takes little work ([`crate::endpoint::EndpointConfig::decodes_unasked`]).
    pub fn want(&mut self, wanted: bool) {
        self.rx.want(&mut self.cx, wanted);
    }

    /// Drops all data that wait to be sent or acknowledged, because the association has ended.
    pub(crate) fn let_go(&mut self) {
        if self.cx.state == State::Closed {
            self.tx.clear(&mut self.cx);
        }
    }

    /// All path slots, including the slots of closed paths.
    pub fn paths(&self) -> &[PathView] {
        self.cx.paths.views()
    }

    /// Parameters with which the association was opened.
    pub fn config(&self) -> &TransportConfig {
        &self.cx.config
    }

    /// Returns the state of coded data, for display and measurement.
    pub fn coded(&self) -> Coded<'_> {
        Coded { cx: &self.cx, tx: &self.tx }
    }

    /// Returns the counters of the association.
    pub fn stats(&self) -> &AssociationStats {
        &self.cx.stats
    }

    /// Returns the counters of a path slot.
    pub fn path_stats(&self, path: PathId) -> Option<&crate::path::PathStats> {
        self.cx.paths.get(path.index()).map(|p| &p.stats)
    }

    /// Returns the 4-tuple of a path.
    pub fn tuple(&self, path: PathId) -> Option<crate::path::FourTuple> {
        self.cx.paths.get(path.index()).map(|p| p.tuple)
    }

    /// Returns whether the path's remote address is confirmed (RFC 9260 §5.4). The path may be suspended.
    pub fn is_confirmed(&self, path: PathId) -> bool {
        self.cx.paths.get(path.index()).is_some_and(|p| p.confirmed)
    }

    /// Returns the scheme of the association, for inspection.
    pub fn scheme(&self) -> &dyn Scheme {
        self.cx.driver.scheme()
    }

    /// Returns the scheme's diagnostics. Equal sentences are returned once. See [`crate::policy::Policy::diagnostics`].
    pub fn diagnostics(&self, now: Instant) -> Vec<&'static str> {
        self.cx.driver.diagnostics(self.cx.paths.seen(), now)
    }

    /// Returns the scheme's own counters, in the scheme's order. See [`crate::policy::Policy::counters`].
    pub fn scheme_counters(&self) -> Vec<(&'static str, u64)> {
        self.cx.driver.counters()
    }

    /// Returns the size in bytes of the largest message that fits one chunk on every path.
    pub fn max_unfragmented(&self) -> usize {
        self.tx.max_payload()
    }

    /// Returns the number of payload bytes that are queued or not yet acknowledged.
    pub fn send_buffered(&self) -> usize {
        self.tx.buffered()
    }

    /// Returns the state of both buffers of the association.
    pub fn buffers(&self) -> Buffers {
        Buffers { limit: self.cx.config.buffer_limit, send: self.tx.buffer(), receive: self.rx.buffer() }
    }

    /// Returns the bytes of the receive buffer in use. See [`Buffers::receive`].
    pub fn receive_buffered(&self) -> u64 {
        self.rx.buffered() as u64
    }

    /// Returns the reason why new data or the handshake must wait at `now`; `None` if neither waits.
    pub fn held_back(&self, now: Instant) -> Option<HeldBack> {
        self.tx.held_back(&self.cx, now)
    }

    /// Returns the receive window (a_rwnd) in bytes that the peer last advertised. Bytes in flight are not subtracted.
    pub fn peer_rwnd(&self) -> u64 {
        self.cx.paths.seen().a_rwnd()
    }

    /// Returns the first TSN that the peer has not acknowledged cumulatively.
    pub fn first_unacknowledged(&self) -> Tsn {
        self.tx.first_unacknowledged()
    }

    /// Returns the bytes of heap that packets from the peer and messages of the application occupy.
    pub fn heap(&self) -> usize {
        self.rx.heap() + self.tx.heap()
    }

    /// Sets the maximum number of bytes of heap memory ([`Association::heap`]), and whether all payloads are copied.
    pub(crate) fn allow(&mut self, heap: usize, copy: bool) {
        self.rx.allow(heap, copy);
    }

    /// Queues a message. Returns the message's number.
    ///
    /// # Errors
    /// Returns a [`SendError`] if the association refuses the message.
    pub fn send(&mut self, now: Instant, payload: Bytes, options: SendOptions) -> Result<u64, SendError> {
        self.tx.send(&mut self.cx, now, payload, options, self.rx.spare())
    }

    /// Reads the next message that may be delivered in the order of its stream, and returns the effects of the read.
    pub(crate) fn read(&mut self) -> Reading {
        self.rx.read(&mut self.cx, self.tx.heap())
    }

    /// Opens another path to the peer. Data are sent on it after the nonces of both sides have returned.
    ///
    /// # Errors
    /// [`AssociationError`] if the peer cannot handle changes of paths, the path exists, or there are too many paths.
    pub fn add_path(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        mtu: Option<u16>,
    ) -> Result<PathId, AssociationError> {
        self.manager().add_path(now, tuple, mtu)
    }

    /// Removes a path and notifies the peer.
    ///
    /// # Errors
    /// Its errors are [`AssociationError::UnknownPath`] and [`AssociationError::LastPath`].
    pub fn remove_path(&mut self, now: Instant, path: PathId) -> Result<(), AssociationError> {
        self.manager().remove_path(now, path)
    }

    /// Suspends a path on both sides (`true`), or resumes it (`false`).
    ///
    /// # Errors
    /// Its error is [`AssociationError::UnknownPath`].
    pub fn suspend_path(&mut self, now: Instant, path: PathId, aside: bool) -> Result<(), AssociationError> {
        self.manager().suspend_path(now, path, aside)
    }

    /// Makes `path` the primary path (RFC 9260 §11.1.6) once it is confirmed. If the path closes and opens again later,
    /// it becomes the primary path again.
    ///
    /// # Errors
    /// Its error is [`AssociationError::UnknownPath`].
    pub fn set_primary(&mut self, now: Instant, path: PathId) -> Result<(), AssociationError> {
        self.manager().set_primary(now, path)
    }

    /// See [`crate::policy::View::primary`].
    pub fn primary(&self) -> PathId {
        self.cx.paths.seen().primary()
    }

    /// Copies the application's requests from the association before the peer's restart.
    pub(crate) fn want_as(&mut self, previous: &Association) {
        self.cx.want_as(&previous.cx);
        self.want(previous.rx.wanted());
    }

    /// Sets the tariff of a link and its paths. Policies see the remaining allowance in [`PathView::tariff`].
    pub fn set_tariff(&mut self, now: Instant, link: LinkId, tariff: Tariff) {
        self.cx.set_tariff(now, link, tariff);
    }

    /// Moves a path to a new local address. With a seal, the seal reports the new address to the peer.
    ///
    /// # Errors
    /// Its errors are `UnknownPath`, `NoPathChanges` and `PathExists` of [`AssociationError`].
    pub fn move_path(&mut self, now: Instant, path: PathId, to: FourTuple) -> Result<(), AssociationError> {
        self.manager().move_path(now, path, to)
    }

    /// Moves a path to other addresses that the seal has proven.
    pub(crate) fn proven_at(&mut self, now: Instant, path: PathId, tuple: FourTuple) {
        self.manager().proven_at(now, path, tuple);
    }

    /// Ends the association at once, without notifying the peer.
    pub(crate) fn cut(&mut self, reason: CloseReason) {
        self.cx.control.clear();
        self.cx.close(reason);
        self.let_go();
    }

    /// Limits the IP packets of a path to `mtu` bytes, because its interface or route carries no larger ones.
    pub(crate) fn limit_mtu(&mut self, now: Instant, path: PathId, mtu: u16) {
        self.manager().limit_mtu(now, path, mtu);
    }

    /// Handles a datagram with `size` bytes of UDP payload that could not be sent on a path (EMSGSIZE).
    pub(crate) fn too_big(&mut self, now: Instant, path: PathId, size: usize) {
        self.manager().too_big(now, path, size);
    }

    /// Closes the association once all queued data are delivered.
    pub fn shutdown(&mut self, now: Instant) {
        let (mut m, _, closing) = self.split();
        closing.shutdown(&mut m, now);
        self.let_go();
    }

    /// Aborts the association at once. The peer receives the text `words`.
    pub fn abort(&mut self, words: &str) {
        let cause = Cause::UserInitiatedAbort(words.as_bytes().to_vec().into());
        self.cx.abort_with(cause, CloseReason::Aborted);
        self.let_go();
    }

    /// Appends the next datagrams to `buf`, all for one path. Call this method until it returns `None`.
    pub fn poll_output(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        Assembler { cx: &mut self.cx, tx: &mut self.tx, rx: &mut self.rx }.poll_output(now, buf)
    }

    /// Returns whether the association has ended.
    pub fn is_closed(&self) -> bool {
        self.cx.state == State::Closed
    }

    /// Returns the next event of the association.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.cx.events.pop_front()
    }

    pub(crate) fn state(&self) -> State {
        self.cx.state
    }

    /// Returns the verification tags of this side and of the peer.
    pub fn tags(&self) -> (VerificationTag, VerificationTag) {
        (self.handshake.local_tag(), self.cx.peer.tag)
    }

    pub(crate) fn announced(&self) -> (AuthParams, Option<Announced>) {
        (self.handshake.auth().clone(), self.handshake.coding())
    }

    pub(crate) fn peer_port(&self) -> u16 {
        self.cx.ports.1
    }

    /// Returns the open path of a 4-tuple.
    pub(crate) fn path_of(&self, tuple: &FourTuple) -> Option<PathId> {
        self.cx.path_of(tuple)
    }

    pub(crate) fn signal(&mut self, now: Instant, signal: &Signal<'_>) {
        self.cx.signal(now, signal);
    }

    /// Returns the TSN of the first chunk that this side sends.
    pub fn local_initial_tsn(&self) -> Tsn {
        self.handshake.initial_tsn()
    }

    /// Returns whether paths joined, left or moved since the last call.
    pub(crate) fn take_paths_moved(&mut self) -> bool {
        core::mem::take(&mut self.cx.paths_moved)
    }

    /// Returns the 4-tuples of the paths that are not closed.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = FourTuple> {
        self.cx.tuples()
    }

    /// Returns the 4-tuples that belong to this association alone, without addresses that the peer only claimed.
    pub(crate) fn own_tuples(&self) -> impl Iterator<Item = FourTuple> {
        self.cx.own_tuples()
    }
}

/// Returns the wire id of a path. `None` means that there is no such path, or that the peer is not a Strandcast peer.
pub fn path_number(association: &Association, path: PathId) -> Option<u16> {
    association.cx.paths.get(path.index())?.wire_id
}

/// Returns the bytes that an association sent and received over a link while the link had an allowance
/// ([`Tariff::left`]), with headers of IP and UDP and the envelope. Replacing the tariff does not reset the count, and
/// an allowance that is used up does not stop it.
pub fn allowance_used(association: &Association, link: LinkId) -> u64 {
    association.cx.tariffs.used(link)
}

/// Returns the size in bytes of the largest IP packets of a path; `None` if the path does not exist.
pub fn ip_mtu(association: &Association, path: PathId) -> Option<u16> {
    Some(association.cx.paths.get(path.index())?.ip_mtu)
}
