//! An endpoint with a seal.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::BytesMut;
use strandcast_proto::association::{AssociationError, CloseReason, Event, Transmit};
use strandcast_proto::endpoint::{self, AssociationId, Connect, Endpoint, EndpointConfig, Input};
use strandcast_proto::path::{Envelope, FourTuple, SealId};
use strandcast_proto::policy::PathId;
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::{Duration, Instant};

use crate::config::SealConfig;
use crate::event::SealEvent;
use crate::identity::{Access, Peer, PublicKey};
use crate::layer::{Opened, Seal, Sealing};
use crate::stats::SealStats;
use crate::tap::{PacketTap, show};

/// Maximum number of events that wait for the driver. Enrolments do not count, because each key causes only a few.
/// Drivers read the events after each call.
const MOST_EVENTS: usize = 8192;

/// Reason for which no association was opened.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The endpoint refused to open the association.
    #[error(transparent)]
    Endpoint(#[from] endpoint::ConnectError),
    /// The caller gave no key of the peer. A sealed endpoint connects only to a peer whose key is known.
    #[error("a sealed endpoint needs the key of its peer")]
    NoPeer,
    /// The caller gave a key of the peer, which an endpoint without a seal cannot check.
    #[error("an endpoint without a seal can't prove who its peer is")]
    Plain,
}

/// An endpoint with or without a seal: the object that a driver holds.
///
/// Its methods are those of an endpoint. After every call, the driver calls `poll_output` until it returns `None`. The
/// driver then calls `poll_event` and `poll_seal_event` until both return `None`, and sleeps until `poll_timeout`.
pub struct SealedEndpoint {
    endpoint: Endpoint,
    seal: Option<Seal>,
    opened: Vec<Opened>,
    /// Events of the seal for the driver. The effects of these events on the endpoint are already applied.
    events: VecDeque<SealEvent>,
    tap: Option<PacketTap>,
    /// A copy of the plaintext for the function `tap`. The copy is kept until it is certain that the packets are sent.
    shown: Vec<u8>,
}

impl SealedEndpoint {
    /// Returns an endpoint without associations. If the endpoint has a seal, its configuration contains
    /// [`crate::ENVELOPE`].
    pub fn new(mut config: EndpointConfig, seal: Option<SealConfig>, seeds: &Seeds) -> Self {
        if seal.is_some() {
            Arc::make_mut(&mut config.transport).envelope = crate::ENVELOPE;
        }
        let seal = seal.map(|seal| Seal::new(seal, &seeds.child("seal")));
        let endpoint = Endpoint::new(config, seeds);
        SealedEndpoint {
            endpoint,
            seal,
            opened: Vec::new(),
            events: VecDeque::new(),
            tap: None,
            shown: Vec::new(),
        }
    }

    /// Returns whether the endpoint has a seal.
    pub fn is_sealed(&self) -> bool {
        self.seal.is_some()
    }

    /// Opens an association with `peer`. Without a seal, `peer` must be `None`.
    ///
    /// # Errors
    /// Returns a [`ConnectError`] if nothing was sent.
    pub fn connect(
        &mut self,
        now: Instant,
        mut connect: Connect,
        peer: Option<Peer>,
    ) -> Result<AssociationId, ConnectError> {
        let Some(seal) = &mut self.seal else {
            return match peer {
                None => Ok(self.endpoint.connect(now, connect)?),
                Some(_) => Err(ConnectError::Plain),
            };
        };
        let sealed = seal.connect(now, peer.ok_or(ConnectError::NoPeer)?);
        connect.paths.iter_mut().for_each(|(tuple, _)| tuple.sealed = sealed);
        let connected = self.endpoint.connect(now, connect);
        if connected.is_err() {
            seal.forget(sealed);
        }
        Ok(connected?)
    }

    /// Prepares a session with `peer`. The method is for applications that open associations themselves. The handshake
    /// begins when an association first sends on a 4-tuple that names this session. Returns `None` if the endpoint has
    /// no seal.
    pub fn session_with(&mut self, now: Instant, peer: Peer) -> Option<SealId> {
        Some(self.seal.as_mut()?.connect(now, peer))
    }

    /// Processes datagrams that arrived on one 4-tuple, which the socket gives ([`FourTuple::new`]). Each datagram
    /// except the last has `stride` bytes.
    pub fn receive(&mut self, now: Instant, tuple: FourTuple, data: BytesMut, stride: usize) {
        let Some(seal) = &mut self.seal else {
            show(&mut self.tap, now, &tuple, false, (&data, stride, Envelope::NONE));
            let input = Input::Datagrams { tuple, data: data.freeze(), segment_size: stride };
            return self.endpoint.handle_input(now, input);
        };
        seal.open(now, tuple, data, stride, &mut self.opened);
        for opened in self.opened.drain(..) {
            let Opened { tuple, data, stride } = opened;
            show(&mut self.tap, now, &tuple, false, (&data, stride, crate::ENVELOPE));
            self.endpoint.handle_input(now, Input::Datagrams { tuple, data, segment_size: stride });
        }
        self.inform(now);
    }

    /// Reports the driver's processing time ([`Seal::took`]). Only drivers with a clock call this method.
    pub fn took(&mut self, now: Instant, time: Duration) {
        if let Some(seal) = &mut self.seal {
            seal.took(now, time);
        }
    }

    /// Applies the seal's events to the endpoint.
    fn inform(&mut self, now: Instant) {
        let Some(seal) = &mut self.seal else { return };
        while let Some(event) = seal.poll_event() {
            match &event {
                SealEvent::Moved { from, to } => self.endpoint.path_moved(now, *from, *to),
                SealEvent::Lost { sealed, why } => {
                    self.endpoint.close_sealed(now, *sealed, CloseReason::SealLost(why.to_string()));
                }
                _ => {}
            }
            queue(&mut self.events, event);
        }
        for silent in seal.take_silent() {
            if !self.endpoint.has_sealed(silent) {
                seal.forget(silent);
            }
        }
        for talking in seal.take_talking() {
            seal.associated(now, talking, self.endpoint.has_sealed(talking));
        }
    }

    /// Handles input other than datagrams. The 4-tuples in it name their session ([`SealedEndpoint::session`]).
    pub fn handle_input(&mut self, now: Instant, input: Input) {
        self.endpoint.handle_input(now, input);
    }

    /// Runs the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.endpoint.handle_timeout(now);
        if let Some(seal) = &mut self.seal {
            seal.handle_timeout(now);
            self.inform(now);
        }
    }

    /// Appends the next sealed datagrams to `buf`, all for one path. Call this method until it returns `None`.
    pub fn poll_output(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        self.next_output(now, buf, None)
    }

    /// Appends datagrams as [`SealedEndpoint::poll_output`] does. Also writes the unencrypted datagrams to `open`, for
    /// measurements. `open` is empty for datagrams that the seal itself sends.
    pub fn poll_output_open(
        &mut self,
        now: Instant,
        buf: &mut Vec<u8>,
        open: &mut Vec<u8>,
    ) -> Option<Transmit> {
        self.next_output(now, buf, Some(open))
    }

    fn next_output(
        &mut self,
        now: Instant,
        buf: &mut Vec<u8>,
        mut open: Option<&mut Vec<u8>>,
    ) -> Option<Transmit> {
        let start = buf.len();
        while let Some(transmit) = self.endpoint.poll_output(now, buf) {
            if let Some(open) = &mut open {
                open.clear();
                open.extend_from_slice(&buf[start..]);
            }
            let Transmit { tuple, segment_size, .. } = transmit;
            let Some(seal) = &mut self.seal else {
                show(&mut self.tap, now, &tuple, true, (&buf[start..], segment_size, Envelope::NONE));
                return Some(transmit);
            };
            if self.tap.is_some() {
                self.shown.clear();
                self.shown.extend_from_slice(&buf[start..]);
            }
            let sealing = seal.seal(now, &transmit, &mut buf[start..]);
            if sealing != Sealing::Withheld {
                show(&mut self.tap, now, &tuple, true, (&self.shown, segment_size, crate::ENVELOPE));
            }
            if sealing == Sealing::Sealed {
                return Some(transmit);
            }
            buf.truncate(start);
        }
        if let Some(open) = open {
            open.clear();
        }
        self.seal.as_mut()?.poll_output(now, buf)
    }

    /// Returns the time at which [`SealedEndpoint::handle_timeout`] must be called. The time is valid only after
    /// `poll_output` has returned `None`.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let seal = self.seal.as_ref().and_then(Seal::poll_timeout);
        self.endpoint.poll_timeout().into_iter().chain(seal).min()
    }

    /// Returns the next event of an association.
    pub fn poll_event(&mut self) -> Option<(AssociationId, Event)> {
        self.endpoint.poll_event()
    }

    /// Returns the next event of the seal.
    pub fn poll_seal_event(&mut self) -> Option<SealEvent> {
        self.events.pop_front()
    }

    /// Opens a path of an association that this side opened. `tuple` need not name the session.
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
        self.endpoint.add_path(now, id, tuple, mtu)
    }

    /// Changes the local address of a path to the address of the driver's new socket. `tuple` need not name the
    /// session.
    ///
    /// # Errors
    /// Returns an [`AssociationError`] if the path cannot be moved.
    pub fn move_path(
        &mut self,
        now: Instant,
        id: AssociationId,
        path: PathId,
        tuple: FourTuple,
    ) -> Result<(), AssociationError> {
        let from = self.endpoint.association(id).and_then(|a| a.tuple(path));
        self.endpoint.with(id, |a| a.move_path(now, path, tuple))?;
        if let (Some(seal), Some(from)) = (&mut self.seal, from) {
            seal.path_moved(now, from, FourTuple { sealed: from.sealed, ..tuple });
        }
        Ok(())
    }

    /// Returns the session of an association; [`SealId::CLEAR`] if the endpoint has no seal.
    pub fn session(&self, id: AssociationId) -> SealId {
        self.endpoint.sealed(id).unwrap_or_default()
    }

    /// Returns the key that an association's peer has proven. Returns `None` if the endpoint has no seal or if the
    /// handshake is not complete.
    pub fn peer(&self, id: AssociationId) -> Option<PublicKey> {
        self.seal.as_ref()?.peer(self.session(id))
    }

    /// Replaces the list of keys that may connect. Sessions of senders that may no longer connect end
    /// ([`Seal::set_access`]).
    pub fn set_access(&mut self, now: Instant, access: Access) {
        if let Some(seal) = &mut self.seal {
            seal.set_access(now, access);
            self.inform(now);
        }
    }

    /// Writes the secrets of each path to `log`, with one line per direction. A recording of the datagrams can be
    /// decrypted with these lines.
    pub fn set_keylog(&mut self, log: Box<dyn FnMut(&str) + Send>) {
        if let Some(seal) = &mut self.seal {
            seal.set_keylog(log);
        }
    }

    /// Passes each packet that the endpoint receives or sends to `tap` from now on, as plaintext. A handshake carries
    /// an INIT or INIT ACK, and handshakes are repeated. `tap` may receive such a packet once although it is sent
    /// several times.
    pub fn set_tap(&mut self, tap: Option<PacketTap>) {
        self.tap = tap;
    }

    /// Returns the counters of the seal.
    pub fn seal_stats(&self) -> Option<SealStats> {
        self.seal.as_ref().map(Seal::stats)
    }

    /// Returns the endpoint that the seal protects.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the endpoint, for sending, reading and closing. Received datagrams must be passed to
    /// [`SealedEndpoint::receive`] instead.
    pub fn endpoint_mut(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }
}

/// Adds an event to the queue. If the queue is full, it drops the oldest event. An enrolment is never dropped, because
/// a key store that missed it would lose a sender.
fn queue(events: &mut VecDeque<SealEvent>, event: SealEvent) {
    if events.len() >= MOST_EVENTS
        && let Some(oldest) = events.iter().position(|e| !matches!(e, SealEvent::Enrolled { .. }))
    {
        events.remove(oldest);
    }
    events.push_back(event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::TokenId;

    #[test]
    fn events_that_nobody_reads_are_bounded_and_enrolments_stay() {
        let mut events = VecDeque::new();
        let enrolled = SealEvent::Enrolled { token: TokenId([1; 8]), key: PublicKey([2; 32]) };
        for n in 0..3 * MOST_EVENTS as u64 {
            if n % 1000 == 0 {
                queue(&mut events, enrolled.clone());
            }
            queue(&mut events, SealEvent::PlainPeer { sealed: SealId(n) });
        }
        assert_eq!(events.len(), MOST_EVENTS);
        assert_eq!(events.iter().filter(|e| **e == enrolled).count(), 25);
        let newest = SealEvent::PlainPeer { sealed: SealId(3 * MOST_EVENTS as u64 - 1) };
        assert_eq!(events.back(), Some(&newest));
    }
}
