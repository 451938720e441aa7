//! An association: its parts, and its verbs.

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

/// One association. Its verbs are [`crate::endpoint::Endpoint`]'s.
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
    /// An association that has nothing but its identity and one path's worth of memory.
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

    /// Opens an association over `tuples`; INIT takes the first one first.
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

    /// The association that a valid cookie describes; the COOKIE ECHO came from `tuple`.
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
        // What another address may get is counted with the packet that brought the cookie.
        a.cx.paths[path.index()].credit = (found.remote != tuple.remote).then_some(0);
        let (mut m, handshake, _) = a.split();
        handshake.learn(&mut m, &found.peer);
        handshake.establish(&mut m, now, path);
        a.cx.push_control(PathId(0), CookieAck);
        a.let_go();
        a
    }

    /// A good cookie of this very association (RFC 9260 §5.2.4 B, D).
    pub(crate) fn cookie_again(&mut self, now: Instant, tuple: FourTuple, found: &Established) {
        let (mut m, handshake, _) = self.split();
        handshake.cookie_again(&mut m, now, tuple, found);
        self.let_go();
    }

    /// A restart while the last step of a shutdown is under way (RFC 9260 §5.2.4 A).
    pub(crate) fn refuse_restart(&mut self) {
        Handshake::refuse_restart(&mut self.cx);
    }

    /// An accepting endpoint's further paths towards another stack that listed several addresses.
    pub(crate) fn pair_with(&mut self, now: Instant, peer: &Capabilities, locals: &[(LinkId, SocketAddr)]) {
        self.manager().pair_with(now, peer, locals);
    }

    /// The parts that a change of paths concerns, and those beside them.
    pub(super) fn split(&mut self) -> (PathManager<'_>, &mut Handshake, &mut Closing) {
        let manager = PathManager { cx: &mut self.cx, tx: &mut self.tx, rx: &mut self.rx };
        (manager, &mut self.handshake, &mut self.closing)
    }

    pub(super) fn manager(&mut self) -> PathManager<'_> {
        self.split().0
    }

    /// Whether the application wants what the peer sends. As long as it does not, coded messages are decoded as far as little work
    /// goes; see [`crate::endpoint::EndpointConfig::decodes_unasked`].
    pub fn want(&mut self, wanted: bool) {
        self.rx.want(&mut self.cx, wanted);
    }

    /// Once the association has ended, nothing waits to be sent or acknowledged any more.
    pub(crate) fn let_go(&mut self) {
        if self.cx.state == State::Closed {
            self.tx.clear(&mut self.cx);
        }
    }

    /// All path slots, closed ones included.
    pub fn paths(&self) -> &[PathView] {
        self.cx.paths.views()
    }

    /// The parameters it was opened with.
    pub fn config(&self) -> &TransportConfig {
        &self.cx.config
    }

    /// What is coded, for displays and measurements.
    pub fn coded(&self) -> Coded<'_> {
        Coded { cx: &self.cx, tx: &self.tx }
    }

    /// Counters.
    pub fn stats(&self) -> &AssociationStats {
        &self.cx.stats
    }

    /// Counters of a path slot.
    pub fn path_stats(&self, path: PathId) -> Option<&crate::path::PathStats> {
        self.cx.paths.get(path.index()).map(|p| &p.stats)
    }

    /// Where a path leads.
    pub fn tuple(&self, path: PathId) -> Option<crate::path::FourTuple> {
        self.cx.paths.get(path.index()).map(|p| p.tuple)
    }

    /// Whether the peer has proven to receive where a path leads (RFC 9260 §5.4); a suspended path's state does not tell.
    pub fn is_confirmed(&self, path: PathId) -> bool {
        self.cx.paths.get(path.index()).is_some_and(|p| p.confirmed)
    }

    /// The scheme, to look at.
    pub fn scheme(&self) -> &dyn Scheme {
        self.cx.driver.scheme()
    }

    /// The scheme's diagnostics of its state, each sentence once. See [`crate::policy::Policy::diagnostics`].
    pub fn diagnostics(&self, now: Instant) -> Vec<&'static str> {
        self.cx.driver.diagnostics(self.cx.paths.seen(), now)
    }

    /// The scheme's own counters, in its order. See [`crate::policy::Policy::counters`].
    pub fn scheme_counters(&self) -> Vec<(&'static str, u64)> {
        self.cx.driver.counters()
    }

    /// The largest message that fits one chunk on every path, bytes.
    pub fn max_unfragmented(&self) -> usize {
        self.tx.max_payload()
    }

    /// Payload bytes queued or not yet acknowledged.
    pub fn send_buffered(&self) -> usize {
        self.tx.buffered()
    }

    /// Its buffers.
    pub fn buffers(&self) -> Buffers {
        Buffers { limit: self.cx.config.buffer_limit, send: self.tx.buffer(), receive: self.rx.buffer() }
    }

    /// Bytes of the receive buffer in use: what waits for its order, for the rest of its message or for the application.
    pub fn receive_buffered(&self) -> u64 {
        self.rx.buffered() as u64
    }

    /// What keeps new data from being sent at `now`; `None` if none wait. The handshake counts whether data wait or not.
    pub fn held_back(&self, now: Instant) -> Option<HeldBack> {
        self.tx.held_back(&self.cx, now)
    }

    /// The receive window that the peer advertised last (a_rwnd), bytes: what is in flight is not yet taken off.
    pub fn peer_rwnd(&self) -> u64 {
        self.cx.paths.seen().a_rwnd()
    }

    /// The first TSN that the peer has not acknowledged cumulatively.
    pub fn first_unacknowledged(&self) -> Tsn {
        self.tx.first_unacknowledged()
    }

    /// Heap that everything takes which a peer's packets or the application's messages make it keep, bytes.
    pub fn heap(&self) -> usize {
        self.rx.heap() + self.tx.heap()
    }

    /// What the endpoint lets this association hold from now on ([`Association::heap`]), and whether all payloads are copied.
    pub(crate) fn allow(&mut self, heap: usize, copy: bool) {
        self.rx.allow(heap, copy);
    }

    /// Queues a message; its number.
    ///
    /// # Errors
    /// [`SendError`]; the message is not taken then.
    pub fn send(&mut self, now: Instant, payload: Bytes, options: SendOptions) -> Result<u64, SendError> {
        self.tx.send(&mut self.cx, now, payload, options, self.rx.spare())
    }

    /// Reads on: the next message, in the order their streams allow, and what reading it changed.
    pub(crate) fn read(&mut self) -> Reading {
        self.rx.read(&mut self.cx, self.tx.heap())
    }

    /// Opens one more path to the peer; data flow once both sides' nonces came back.
    ///
    /// # Errors
    /// [`AssociationError`] when the peer can't follow, or the path or too many of them exist.
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
    /// [`AssociationError::UnknownPath`], [`AssociationError::LastPath`].
    pub fn remove_path(&mut self, now: Instant, path: PathId) -> Result<(), AssociationError> {
        self.manager().remove_path(now, path)
    }

    /// Suspends a path (`true`) or resumes it, on both sides.
    ///
    /// # Errors
    /// [`AssociationError::UnknownPath`].
    pub fn suspend_path(&mut self, now: Instant, path: PathId, aside: bool) -> Result<(), AssociationError> {
        self.manager().suspend_path(now, path, aside)
    }

    /// Makes `path` the primary one (RFC 9260 §11.1.6) once it is confirmed, and again when it comes back after it was closed.
    ///
    /// # Errors
    /// [`AssociationError::UnknownPath`].
    pub fn set_primary(&mut self, now: Instant, path: PathId) -> Result<(), AssociationError> {
        self.manager().set_primary(now, path)
    }

    /// [`crate::policy::View::primary`].
    pub fn primary(&self) -> PathId {
        self.cx.paths.seen().primary()
    }

    /// The application wants the same of this instance of the peer as of the `previous` one.
    pub(crate) fn want_as(&mut self, previous: &Association) {
        self.cx.want_as(&previous.cx);
        self.want(previous.rx.wanted());
    }

    /// What data on a link cost, on all paths over it, now and later. Policies see [`PathView::tariff`], counted down.
    pub fn set_tariff(&mut self, now: Instant, link: LinkId, tariff: Tariff) {
        self.cx.set_tariff(now, link, tariff);
    }

    /// This side's address of a path changed: the driver has a new socket for it. Behind a seal the peer learns of it there.
    ///
    /// # Errors
    /// [`AssociationError::UnknownPath`], [`AssociationError::NoPathChanges`], [`AssociationError::PathExists`].
    pub fn move_path(&mut self, now: Instant, path: PathId, to: FourTuple) -> Result<(), AssociationError> {
        self.manager().move_path(now, path, to)
    }

    /// The seal has proven that a path goes on at other addresses.
    pub(crate) fn proven_at(&mut self, now: Instant, path: PathId, tuple: FourTuple) {
        self.manager().proven_at(now, path, tuple);
    }

    /// Ends at once, without a word to the peer.
    pub(crate) fn cut(&mut self, reason: CloseReason) {
        self.cx.control.clear();
        self.cx.close(reason);
        self.let_go();
    }

    /// Interface and route of a path take IP packets of `mtu` bytes at most.
    pub(crate) fn limit_mtu(&mut self, now: Instant, path: PathId, mtu: u16) {
        self.manager().limit_mtu(now, path, mtu);
    }

    /// A datagram of `size` bytes (UDP payload) could not be sent on a path (EMSGSIZE).
    pub(crate) fn too_big(&mut self, now: Instant, path: PathId, size: usize) {
        self.manager().too_big(now, path, size);
    }

    /// Closes once everything queued is delivered.
    pub fn shutdown(&mut self, now: Instant) {
        let (mut m, _, closing) = self.split();
        closing.shutdown(&mut m, now);
        self.let_go();
    }

    /// Closes at once; `words` reach the peer.
    pub fn abort(&mut self, words: &str) {
        let cause = Cause::UserInitiatedAbort(words.as_bytes().to_vec().into());
        self.cx.abort_with(cause, CloseReason::Aborted);
        self.let_go();
    }

    /// Appends the next datagrams for one path to `buf`. Call until `None`.
    pub fn poll_output(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        Assembler { cx: &mut self.cx, tx: &mut self.tx, rx: &mut self.rx }.poll_output(now, buf)
    }

    /// Whether the end has come.
    pub fn is_closed(&self) -> bool {
        self.cx.state == State::Closed
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.cx.events.pop_front()
    }

    pub(crate) fn state(&self) -> State {
        self.cx.state
    }

    /// Verification tags: the own one, and the peer's.
    pub fn tags(&self) -> (VerificationTag, VerificationTag) {
        (self.handshake.local_tag(), self.cx.peer.tag)
    }

    pub(crate) fn announced(&self) -> (AuthParams, Option<Announced>) {
        (self.handshake.auth().clone(), self.handshake.coding())
    }

    pub(crate) fn peer_port(&self) -> u16 {
        self.cx.ports.1
    }

    /// The open path of a 4-tuple.
    pub(crate) fn path_of(&self, tuple: &FourTuple) -> Option<PathId> {
        self.cx.path_of(tuple)
    }

    pub(crate) fn signal(&mut self, now: Instant, signal: &Signal<'_>) {
        self.cx.signal(now, signal);
    }

    /// The TSN of the first chunk that this side sends.
    pub fn local_initial_tsn(&self) -> Tsn {
        self.handshake.initial_tsn()
    }

    /// Takes whether paths came, went or moved since last asked.
    pub(crate) fn take_paths_moved(&mut self) -> bool {
        core::mem::take(&mut self.cx.paths_moved)
    }

    /// The 4-tuples of the paths that are not closed.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = FourTuple> {
        self.cx.tuples()
    }

    /// Those that are this association's: where the peer was only claimed to be, another peer may be.
    pub(crate) fn own_tuples(&self) -> impl Iterator<Item = FourTuple> {
        self.cx.own_tuples()
    }
}
