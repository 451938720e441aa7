//! Addresses that are not proven to be the peer's: the limit of bytes sent there until a nonce returns (RFC 9260 §5.4,
//! §8.3), and paths that were reported as moved.

use bytes::Bytes;
use smallvec::SmallVec;

use super::Context;
use crate::association::control_queue::Control;
use crate::association::{Event, PathChange};
use crate::path::{Candidate, FourTuple, MOST_AMPLIFIED, PROBES};
use crate::policy::PathId;
use crate::time::Instant;
use crate::wire::chunk::{ChunkEncode as _, CookieAck, Heartbeat, HeartbeatAck};
use crate::wire::packet::HEADER_LEN;

/// Bytes of a packet that contains only a heartbeat of this side.
const HEARTBEAT_PACKET: usize = HEADER_LEN + 20;
impl Context {
    /// Returns and removes the candidate of `path`, if the returned `nonce` was sent to it.
    pub fn take_answered_candidate(&mut self, path: PathId, nonce: u64) -> Option<Candidate> {
        self.paths.get_mut(path.index())?.candidate.take_if(|c| c.sent(nonce).is_some())
    }

    /// Records a packet from the peer's address of `path`, or from its candidate.
    pub fn earn(&mut self, path: PathId, from: &FourTuple, len: usize) {
        let bytes = MOST_AMPLIFIED * (len + self.headers(from));
        let p = &mut self.paths[path.index()];
        if let Some(candidate) = p.candidate.as_mut().filter(|c| c.tuple == *from) {
            candidate.credit += bytes as isize;
        } else if let Some(credit) = &mut p.credit {
            *credit += bytes;
        }
    }

    /// Marks the path's address as only claimed. Until a packet arrives from this address, only heartbeats are sent to
    /// it, at the rate for an unanswered path.
    pub fn distrust(&mut self, path: PathId) {
        let tries = 1 + self.config.path_max_retrans as usize;
        let headers = self.headers(&self.paths[path.index()].tuple);
        self.paths[path.index()].credit = Some(tries * (HEARTBEAT_PACKET + headers));
    }

    /// Returns the number of bytes that IP, UDP and the envelope add to each packet to or from `tuple`.
    pub fn headers(&self, tuple: &FourTuple) -> usize {
        tuple.headers() + self.config.envelope.len()
    }

    /// Returns whether there is no proof that the peer receives at `path`'s address.
    pub fn unproven(&self, path: PathId) -> bool {
        self.paths[path.index()].credit.is_some()
    }

    /// Returns the path whose candidate is `tuple`.
    pub fn candidate_of(&self, tuple: &FourTuple) -> Option<PathId> {
        let candidate = |p: &crate::path::Path| p.candidate.as_ref().is_some_and(|c| c.tuple == *tuple);
        let at = self.paths.iter().position(candidate)?;
        Some(PathId(at as u8)).filter(|p| self.is_open(*p))
    }

    /// Records that the peer uses, or seems to use, another address of `path` from now on. The packet that reports the
    /// address increases the number of bytes that may be sent there, and causes a heartbeat ([`Self::earn`],
    /// [`Self::probe_candidate`]).
    pub fn propose(&mut self, now: Instant, path: PathId, tuple: FourTuple, serial: Option<u32>) {
        let old = self.paths[path.index()].candidate.take_if(|c| c.tuple == tuple);
        let mut candidate = old.unwrap_or_else(|| Candidate {
            tuple,
            credit: 0,
            serial: None,
            nonces: SmallVec::new(),
            next_probe: now,
        });
        candidate.serial = serial.or(candidate.serial);
        self.paths[path.index()].candidate = Some(candidate);
    }

    /// Sends a heartbeat to the candidate of `path`, one per retransmission timeout.
    pub fn probe_candidate(&mut self, now: Instant, path: PathId) {
        let wait = self.config.rto_initial.min(self.paths.view(path.index()).rto);
        let envelope = self.config.envelope.len();
        let Some(candidate) = &mut self.paths[path.index()].candidate else { return };
        let cost = HEARTBEAT_PACKET + candidate.tuple.headers() + envelope;
        if candidate.next_probe > now || candidate.credit < cost as isize {
            return;
        }
        candidate.next_probe = now + wait;
        if candidate.nonces.len() == PROBES {
            candidate.nonces.remove(0);
        }
        let nonce = self.random.u64();
        candidate.nonces.push((nonce, now));
        let info = [&nonce.to_be_bytes()[..], &[0, 0, 0, path.0]].concat();
        self.answer_candidate(path, Heartbeat { info: info.into() });
    }

    /// Sends a chunk to the candidate of `path`, if its limit permits.
    fn answer_candidate(&mut self, path: PathId, chunk: impl Into<crate::wire::Chunk>) {
        let chunk = chunk.into();
        let Some(candidate) = &self.paths[path.index()].candidate else { return };
        let cost = (HEADER_LEN + chunk.encoded_len() + self.headers(&candidate.tuple)) as isize;
        if candidate.credit >= cost {
            self.charge_candidate(path, chunk, cost);
        }
    }

    fn charge_candidate(&mut self, path: PathId, chunk: crate::wire::Chunk, cost: isize) {
        let Some(candidate) = &mut self.paths[path.index()].candidate else { return };
        candidate.credit -= cost;
        let tuple = Some(candidate.tuple);
        self.queue_control(Control { path, tuple, chunk, auth: false, alone: false, tag: None });
    }

    /// Sends COOKIE ACK to the candidate of `path`, for a COOKIE ECHO that arrived again from the candidate.
    pub fn ack_cookie_there(&mut self, path: PathId) {
        let Some(candidate) = &self.paths[path.index()].candidate else { return };
        let cost = HEADER_LEN + CookieAck.encoded_len() + self.headers(&candidate.tuple);
        self.charge_candidate(path, CookieAck.into(), cost as isize);
    }

    /// Sends HEARTBEAT ACK to the source of the heartbeat.
    pub fn answer_heartbeat(&mut self, path: PathId, from: &FourTuple, info: Bytes) {
        if self.paths[path.index()].tuple == *from {
            self.push_control(path, HeartbeatAck { info });
        } else {
            self.answer_candidate(path, HeartbeatAck { info });
        }
    }

    /// Follows a change of the peer's UDP port, which is the source port of its last good packet (RFC 6951 §5.4). An
    /// open association verifies a new port before it uses it. With a seal, the seal verifies the port.
    pub fn follow_port(&mut self, now: Instant, from: FourTuple) -> Option<PathId> {
        if self.paths.seen().peer_reports() || self.config.sealed() {
            return None;
        }
        let same =
            |t: &FourTuple| t.link == from.link && t.local == from.local && t.remote.ip() == from.remote.ip();
        let path = (0..self.paths.len() as u8)
            .map(PathId)
            .find(|p| self.is_open(*p) && same(&self.paths[p.index()].tuple))?;
        if self.state.is_opening() {
            self.paths[path.index()].tuple = from;
            self.paths_moved = true;
            self.events.push_back(Event::Path(path, PathChange::Moved));
        } else {
            self.propose(now, path, from, None);
        }
        Some(path)
    }
}
