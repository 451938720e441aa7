//! The seal, which encrypts and decrypts datagrams. The seal lies between the sockets and an endpoint.

use std::collections::BTreeSet;

use bytes::{Buf as _, Bytes, BytesMut};
use strandcast_proto::association::Transmit;
use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use crate::accepting::{self, Accepting, Sessions};
use crate::config::SealConfig;
use crate::context::{Context, Owner, Receiving};
use crate::control::{self, Control};
use crate::event::{Lost, SealEvent};
use crate::identity::{Access, Peer, PublicKey};
use crate::keylog::Log;
use crate::keys::ConnectionId;
use crate::number::PacketNumber;
use crate::outbox::Outbox;
use crate::plain::{self, Hints};
use crate::session::Session;
use crate::stats::SealStats;
use crate::wire::{self, Datagram, Kind};

/// Time for which a session without an association is kept while its peer sends datagrams.
const UNASSOCIATED: Duration = Duration::from_secs(30);

/// Decrypted datagrams of one path of one session.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The session, and the proven addresses of the path.
    pub tuple: FourTuple,
    /// The decrypted datagrams, one after the other. The packet of a datagram lies between its header and its tag.
    pub data: Bytes,
    /// Bytes of each datagram except the last.
    pub stride: usize,
}

/// Result of [`Seal::seal`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[must_use]
pub enum Sealing {
    /// The packets are sealed in place and must be sent.
    Sealed,
    /// A handshake carries the packets. The caller must not send them.
    Carried,
    /// The packets must not be sent. There is no session, path or key for such packets, or their unproven address has
    /// already received as many bytes as it may.
    Withheld,
}

/// Seal that encrypts and decrypts the datagrams of all sessions, and runs their handshakes.
pub struct Seal {
    cx: Context,
    accepting: Accepting,
    sessions: Sessions,
    wakes: BTreeSet<(Instant, SealId)>,
    hints: Hints,
}

/// Result for a run of datagrams with one connection id.
#[derive(Debug, Default)]
struct Run {
    /// Path of these datagrams.
    tuple: Option<FourTuple>,
    /// Bytes of packets at the beginning of the batch, and all bytes that were processed.
    packets: usize,
    done: usize,
}

impl Seal {
    /// Returns a seal without sessions.
    pub fn new(config: SealConfig, seeds: &Seeds) -> Self {
        let accepting = Accepting::new(&config, seeds.stream("responder"));
        let outbox = Outbox::new(seeds.stream("challenges"));
        Seal {
            cx: Context::new(config, outbox, seeds.stream("handshakes")),
            accepting,
            sessions: Sessions::new(),
            wakes: BTreeSet::new(),
            hints: Hints::default(),
        }
    }

    /// Prepares a session with `peer`. The session is opened when its first packet is encrypted.
    pub fn connect(&mut self, now: Instant, peer: Peer) -> SealId {
        let id = self.accepting.next_id();
        self.sessions.insert(id, Box::new(Session::opening(now, id, peer)));
        self.settle(id);
        id
    }

    /// Decrypts received datagrams in place. Each datagram except the last has `stride` bytes. Packets for the endpoint
    /// are appended to `out`. Before the next call, encrypt the endpoint's answers and call [`Seal::poll_output`].
    pub fn open(
        &mut self,
        now: Instant,
        tuple: FourTuple,
        batch: BytesMut,
        stride: usize,
        out: &mut Vec<Opened>,
    ) {
        let (mut batch, stride) = (batch, stride.max(1));
        while !batch.is_empty() {
            let len = stride.min(batch.len());
            match Datagram::parse(&batch[..len]) {
                Ok(Datagram::Data { id }) => self.open_run(now, &tuple, id, &mut batch, stride, out),
                Ok(Datagram::Message1(_)) => {
                    let datagram = batch.split_to(len);
                    let (accepting, known) = (&mut self.accepting, &self.sessions);
                    let asked = accepting.on_message_1(now, tuple, &datagram, known, &mut self.cx);
                    out.extend(asked.map(|(tuple, packet)| enveloped(tuple, &packet)));
                }
                Ok(Datagram::Message2 { initiator, .. }) => {
                    let datagram = batch.split_to(len);
                    self.on_message_2(now, &tuple, initiator, &datagram, out);
                }
                Ok(Datagram::Retry { initiator, .. }) => {
                    let datagram = batch.split_to(len);
                    self.of_attempt(&initiator, |session, cx| {
                        session.on_retry(now, &within(tuple, session.id), &initiator, &datagram, cx);
                    });
                }
                Ok(Datagram::PlainHere { initiator }) => {
                    batch.advance(len);
                    self.of_attempt(&initiator, |session, cx| {
                        let event = SealEvent::PlainPeer { sealed: session.id };
                        session.on_hint(&within(tuple, session.id), event, cx);
                    });
                }
                Ok(Datagram::OtherVersion { initiator, version }) => {
                    batch.advance(len);
                    self.of_attempt(&initiator, |session, cx| {
                        let event = SealEvent::OtherVersion { from: tuple.remote, version };
                        session.on_hint(&within(tuple, session.id), event, cx);
                    });
                }
                Err(_) => self.on_other(now, tuple, batch.split_to(len).freeze()),
            }
        }
    }

    /// Handles a datagram of unknown type or version. A datagram of unknown type may be a plain packet, a handshake of
    /// another version, or random bytes.
    fn on_other(&mut self, now: Instant, from: FourTuple, datagram: Bytes) {
        let other_version = wire::other_version(&datagram);
        let answer = match (plain::refusal(datagram), other_version) {
            (Some(refusal), _) => {
                self.cx.outbox.stats.plain += 1;
                refusal
            }
            (None, Some((initiator, version))) => {
                self.cx.outbox.stats.other_versions += 1;
                self.on_other_version(now, &from, initiator, version);
                wire::handshake_header(Kind::OtherVersion, initiator).to_vec()
            }
            (None, None) => return self.cx.outbox.stats.malformed += 1,
        };
        if self.hints.may_answer(now) {
            self.cx.outbox.send(from, answer);
        }
    }

    /// Handles a message 1 or 2 of another protocol version.
    fn on_other_version(&mut self, now: Instant, from: &FourTuple, initiator: [u8; 8], version: u8) {
        let event = SealEvent::OtherVersion { from: from.remote, version };
        let own = self.of_attempt(&initiator, |session, cx| {
            session.on_hint(&within(*from, session.id), event.clone(), cx);
        });
        if own.is_none() && self.hints.is_news(now) {
            self.cx.outbox.report(event);
        }
    }

    /// Calls the function `f` with the session whose handshake has this id.
    fn of_attempt<T>(
        &mut self,
        initiator: &[u8; 8],
        f: impl FnOnce(&mut Session, &mut Context) -> T,
    ) -> Option<(SealId, T)> {
        let id = *self.cx.attempts.get(initiator)?;
        let done = f(self.sessions.get_mut(&id)?, &mut self.cx);
        self.settle(id);
        Some((id, done))
    }

    fn on_message_2(
        &mut self,
        now: Instant,
        from: &FourTuple,
        initiator: [u8; 8],
        datagram: &[u8],
        out: &mut Vec<Opened>,
    ) {
        let read = self.of_attempt(&initiator, |session, cx| {
            session.on_message_2(now, &within(*from, session.id), &initiator, datagram, cx)
        });
        match read {
            Some((_, Ok(Some((tuple, packet))))) => out.push(enveloped(tuple, &packet)),
            Some((id, Err(why))) => self.lose(id, why),
            Some((_, Ok(None))) => {}
            None => self.cx.outbox.stats.bad_answers += 1,
        }
    }

    /// Decrypts the datagrams at the beginning of a batch that have one connection id. The method stops at a datagram
    /// that is not authentic or not for the endpoint.
    fn open_run(
        &mut self,
        now: Instant,
        from: &FourTuple,
        id: ConnectionId,
        batch: &mut BytesMut,
        stride: usize,
        out: &mut Vec<Opened>,
    ) {
        let run = match self.receiving(now, from, id, &mut batch[..], stride) {
            Some((receiving, sealed, first)) => {
                let run = self.run(now, from, receiving, sealed, first, batch, stride);
                self.settle(sealed);
                run
            }
            None => Run { tuple: None, packets: 0, done: stride.min(batch.len()) },
        };
        if let Some(tuple) = run.tuple.filter(|_| run.packets > 0) {
            out.push(Opened { tuple, data: batch.split_to(run.packets).freeze(), stride });
        }
        batch.advance(run.done - run.packets);
    }

    /// Returns the session of a run of datagrams. The first datagram of a new handshake is decrypted here, and opens
    /// the session.
    fn receiving(
        &mut self,
        now: Instant,
        from: &FourTuple,
        id: ConnectionId,
        batch: &mut [u8],
        stride: usize,
    ) -> Option<(Receiving, SealId, Option<PacketNumber>)> {
        let Some(receiving) = self.cx.receiving(id) else {
            self.cx.outbox.stats.unknown_ids += 1;
            return None;
        };
        let slot = match self.cx.owner(receiving.keyset)? {
            Owner::Session(sealed) => return Some((receiving, sealed, None)),
            Owner::Tentative(slot) => slot,
        };
        let len = stride.min(batch.len());
        let opened = self.accepting.open(slot, receiving.path, batch.get_mut(..len)?);
        let number = self.cx.outbox.stats.count(opened)?;
        let (accepting, sessions) = (&mut self.accepting, &mut self.sessions);
        let sealed = accepting.establish(now, slot, receiving.path, from, sessions, &mut self.cx)?;
        self.limit_key(now, sealed);
        Some((receiving, sealed, Some(number)))
    }

    #[expect(clippy::too_many_arguments, reason = "a batch, and all that is known of it")]
    fn run(
        &mut self,
        now: Instant,
        from: &FourTuple,
        receiving: Receiving,
        sealed: SealId,
        first: Option<PacketNumber>,
        batch: &mut [u8],
        stride: usize,
    ) -> Run {
        let Receiving { keyset, path } = receiving;
        let (mut run, mut first, from) = (Run::default(), first, within(*from, sealed));
        let id: [u8; 9] = batch.first_chunk().copied().unwrap_or_default();
        let Some(session) = self.sessions.get_mut(&sealed) else {
            return Run { done: stride.min(batch.len()), ..run };
        };
        let mut lost = None;
        for datagram in batch.chunks_mut(stride) {
            if !datagram.starts_with(&id) {
                break;
            }
            let len = datagram.len();
            run.done += len;
            let opened = match first.take() {
                Some(number) => Ok(number),
                None => session.open(keyset, path, datagram),
            };
            let Some(number) = self.cx.outbox.stats.count(opened) else { break };
            let tuple = session.authentic(now, keyset, path, number, &from, len, &mut self.cx);
            let inside = control::inside(datagram);
            if control::is_control(inside) {
                let known = Control::read(inside);
                lost = known.and_then(|c| session.on_control(now, path, &from, c, &mut self.cx));
                break;
            }
            run.tuple = Some(tuple);
            run.packets = run.done;
        }
        if let Some(why) = lost {
            self.lose(sealed, why);
        }
        run
    }

    /// Encrypts packets of the endpoint in place.
    pub fn seal(&mut self, now: Instant, transmit: &Transmit, data: &mut [u8]) -> Sealing {
        let sealing = self.seal_or_carry(now, transmit, data);
        if sealing == Sealing::Withheld {
            self.cx.outbox.stats.withheld += 1;
        }
        sealing
    }

    fn seal_or_carry(&mut self, now: Instant, transmit: &Transmit, data: &mut [u8]) -> Sealing {
        let (tuple, id) = (transmit.tuple, transmit.tuple.sealed);
        let carried = |is: bool| if is { Sealing::Carried } else { Sealing::Withheld };
        let Some(session) = self.sessions.get_mut(&id) else {
            let packet = control::inside(data.get(..transmit.segment_size).unwrap_or_default());
            return carried(self.accepting.answer(&tuple, packet, &mut self.cx));
        };
        if session.keys().is_none() {
            let is_first = session.first_packet(now, tuple, control::inside(data), &mut self.cx);
            self.settle(id);
            return carried(is_first);
        }
        let sealed = session.seal(now, &tuple, data, transmit.segment_size, &mut self.cx);
        if session.touched {
            self.settle(id);
        }
        if sealed { Sealing::Sealed } else { Sealing::Withheld }
    }

    /// Appends the next datagram that the seal itself sends to `buf`. Call this method when the endpoint has no more
    /// output. A handshake that the endpoint has not answered by then gets no answer.
    pub fn poll_output(&mut self, _now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        self.accepting.leave_unanswered();
        self.cx.outbox.pop(buf)
    }

    /// Reports the time that the driver took to read and to answer since the last call. The seal limits handshakes to a
    /// quarter of the driver's time, so that they do not delay data.
    pub fn took(&mut self, now: Instant, time: Duration) {
        self.accepting.took(now, time);
    }

    /// Returns the time at which [`Seal::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let session = self.wakes.first().map(|(at, _)| *at);
        session.into_iter().chain(self.accepting.poll_timeout()).min()
    }

    /// Runs the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.accepting.handle_timeout(now, &mut self.cx);
        while let Some((at, id)) = self.wakes.first().copied().filter(|(at, _)| *at <= now) {
            self.wakes.remove(&(at, id));
            let Some(session) = self.sessions.get_mut(&id) else { continue };
            session.wake = Instant::MAX;
            match session.on_timeout(now, &mut self.cx) {
                Some(why) => self.lose(id, why),
                None => self.settle(id),
            }
        }
    }

    /// Sets a session's alarm to the session's deadline, if the deadline is earlier. If the deadline is later, the
    /// alarm is changed only when it fires.
    fn settle(&mut self, id: SealId) {
        let Some(session) = self.sessions.get_mut(&id).filter(|s| s.touched) else { return };
        session.touched = false;
        let deadline = session.deadline();
        if deadline < session.wake {
            self.wakes.remove(&(session.wake, id));
            self.wakes.insert((deadline, id));
            session.wake = deadline;
        }
    }

    /// Returns the next event of the seal.
    pub fn poll_event(&mut self) -> Option<SealEvent> {
        self.cx.outbox.event()
    }

    /// Changes the local address of a path.
    pub fn path_moved(&mut self, now: Instant, from: FourTuple, to: FourTuple) {
        if let Some(session) = self.sessions.get_mut(&from.sealed) {
            session.path_moved(now, &from, to, &mut self.cx);
        }
    }

    /// Replaces the list of keys that may connect. A session ends if its sender's key was revoked, or if its token has
    /// no grant. A session also ends if the grant is closed and does not list the sender. Senders that enrolled before
    /// this call stay enrolled, even if `access` is older. A used single-use grant likewise stays closed.
    pub fn set_access(&mut self, now: Instant, access: Access) {
        self.cx.admission.replace(access);
        let access = self.cx.admission.access();
        let ends = |s: &Session| s.token.is_some_and(|token| !access.admits(token, &s.remote));
        let ended: Vec<SealId> = self.sessions.values().filter(|s| ends(s)).map(|s| s.id).collect();
        for id in ended {
            self.close(now, id, Control::Revoked, Lost::Revoked);
        }
    }

    /// Ends a session, and notifies the peer.
    fn close(&mut self, now: Instant, id: SealId, control: Control, why: Lost) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.say_closed(now, control, &mut self.cx);
        }
        self.lose(id, why);
    }

    /// If a new session's sender has too many sessions, ends the one that was silent for the longest time.
    fn limit_key(&mut self, now: Instant, newest: SealId) {
        let Some(remote) = self.sessions.get(&newest).map(|session| session.remote) else { return };
        let of_key = || accepting::of_key(&self.sessions, remote);
        if of_key().count() <= self.cx.config.max_sessions_of_key {
            return;
        }
        let others = of_key().filter(|session| session.id != newest);
        if let Some(id) =
            others.min_by_key(|session| (session.received, session.id)).map(|session| session.id)
        {
            self.close(now, id, Control::Replaced, Lost::Replaced);
        }
    }

    /// Returns the static key that the peer of a session has proven.
    pub fn peer(&self, sealed: SealId) -> Option<PublicKey> {
        let session = self.sessions.get(&sealed)?;
        session.keys().map(|_| session.remote)
    }

    /// Returns the sessions that have been silent, and empties their list.
    pub(crate) fn take_silent(&mut self) -> Vec<SealId> {
        core::mem::take(&mut self.cx.silent)
    }

    /// Returns the accepted sessions that receive datagrams, and empties their list.
    pub(crate) fn take_talking(&mut self) -> Vec<SealId> {
        core::mem::take(&mut self.cx.talking)
    }

    /// Reports whether a session has an association. A session without an association is dropped after
    /// [`UNASSOCIATED`], because it uses memory while its peer sends.
    pub(crate) fn associated(&mut self, now: Instant, sealed: SealId, is: bool) {
        let Some(session) = self.sessions.get_mut(&sealed) else { return };
        if is {
            session.used = now;
        } else if now >= session.used + UNASSOCIATED {
            self.forget(sealed);
        }
    }

    fn lose(&mut self, sealed: SealId, why: Lost) {
        self.cx.outbox.report(SealEvent::Lost { sealed, why });
        self.forget(sealed);
    }

    /// Removes a session. Nothing is sent.
    pub fn forget(&mut self, sealed: SealId) {
        if let Some(session) = self.sessions.remove(&sealed) {
            self.wakes.remove(&(session.wake, sealed));
            self.accepting.forget(&session);
            session.forget(&mut self.cx);
        }
    }

    /// Writes the secrets of each path to `log`, one line per direction, in the format of [`crate::KeyLog`].
    pub fn set_keylog(&mut self, log: Log) {
        self.cx.log = Some(log);
    }

    /// Returns the number of answered handshakes that no datagram has confirmed.
    #[cfg(any(test, feature = "testing"))]
    pub fn tentative(&self) -> usize {
        self.accepting.tentative()
    }

    /// Returns the number of known connection ids.
    #[cfg(any(test, feature = "testing"))]
    pub fn known_ids(&self) -> usize {
        self.cx.known_ids()
    }

    /// Returns the counters of the seal.
    pub fn stats(&self) -> SealStats {
        let (handshakes, sessions) = (self.accepting.counts().clone(), self.sessions.len() as u64);
        SealStats { handshakes, sessions, ..self.cx.outbox.stats.clone() }
    }
}

/// Returns the 4-tuple with its session set to `sealed`.
fn within(tuple: FourTuple, sealed: SealId) -> FourTuple {
    FourTuple { sealed, ..tuple }
}

/// Returns a packet from a handshake as a datagram with an empty header and an empty tag.
fn enveloped(tuple: FourTuple, packet: &[u8]) -> Opened {
    let data = Bytes::from(control::enveloped(&[packet]));
    Opened { tuple, stride: data.len(), data }
}
