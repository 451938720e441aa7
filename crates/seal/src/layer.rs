//! The seal between sockets and an endpoint.

use bytes::{Bytes, BytesMut};
use strandcast_proto::association::Transmit;
use strandcast_proto::path::{FourTuple, SealId};
use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;

use crate::config::SealConfig;
use crate::event::SealEvent;
use crate::identity::{Access, Peer, PublicKey};
use crate::stats::SealStats;

/// Datagrams that were opened: for one path of one session.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The path's addresses, as far as they are proven, and the session.
    pub tuple: FourTuple,
    /// The datagrams, one after the other, each with its envelope around the packet.
    pub data: Bytes,
    /// Bytes of each but the last.
    pub stride: usize,
}

/// Opens and seals the datagrams of all sessions, and runs their handshakes.
pub struct Seal {
    config: SealConfig,
    stats: SealStats,
}

impl Seal {
    /// A seal without sessions.
    pub fn new(config: SealConfig, _seeds: &Seeds) -> Self {
        Seal { config, stats: SealStats::default() }
    }

    /// A session to be opened with `peer`, when the first packet is to be sealed for it.
    pub fn connect(&mut self, _peer: Peer) -> SealId {
        SealId::CLEAR
    }

    /// Opens received datagrams where they lie. What is for the endpoint is appended to `out`.
    pub fn open(
        &mut self,
        _now: Instant,
        _tuple: FourTuple,
        _batch: BytesMut,
        _stride: usize,
        _out: &mut Vec<Opened>,
    ) {
    }

    /// Seals what an endpoint wrote, where it lies. False: it is not to be sent; a handshake may carry it.
    pub fn seal(&mut self, _now: Instant, _transmit: &Transmit, _data: &mut [u8]) -> bool {
        false
    }

    /// The next datagram of the seal's own. To be called when the endpoint has no more output.
    pub fn poll_output(&mut self, _now: Instant, _buf: &mut Vec<u8>) -> Option<Transmit> {
        None
    }

    /// When [`Seal::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Runs the timers that are due.
    pub fn handle_timeout(&mut self, _now: Instant) {}

    /// The next event.
    pub fn poll_event(&mut self) -> Option<SealEvent> {
        None
    }

    /// This side's own address of a path changed.
    pub fn path_moved(&mut self, _now: Instant, _from: FourTuple, _to: FourTuple) {}

    /// Who may connect from now on. Sessions of revoked keys end.
    pub fn set_access(&mut self, _now: Instant, access: Access) {
        self.config.access = access;
    }

    /// Who the peer of a session has proven to be.
    pub fn peer(&self, _sealed: SealId) -> Option<PublicKey> {
        None
    }

    /// Forgets a session; nothing is sent.
    pub fn forget(&mut self, _sealed: SealId) {}

    /// Writes the secrets of each path to `log`, a line for each direction, in the form that [`crate`] reads captures with.
    pub fn set_keylog(&mut self, _log: Box<dyn FnMut(&str) + Send>) {}

    /// What was counted.
    pub fn stats(&self) -> SealStats {
        self.stats
    }
}
