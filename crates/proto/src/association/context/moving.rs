//! Addresses that are not proven to belong to the peer, and paths that were reported as moved. The bytes sent to such
//! an address are limited until a nonce returns (RFC 9260 §5.4, §8.3).

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
    /// Removes and returns the candidate address of `path`, if the returned `nonce` was sent to this address.
    pub fn take_answered_candidate(&mut self, path: PathId, nonce: u64) -> Option<Candidate> {
        self.paths.get_mut(path.index())?.candidate.take_if(|c| c.sent(nonce).is_some())
    }

    /// Records a packet from the peer's address of `path`, or from the path's candidate address. The packet raises the
    /// limit of bytes for that address.
    pub fn earn(&mut self, path: PathId, from: &FourTuple, len: usize) {
        let bytes = MOST_AMPLIFIED * (len + self.headers(from));
        let p = &mut self.paths[path.index()];
        if let Some(candidate) = p.candidate.as_mut().filter(|c| c.tuple == *from) {
            candidate.credit += bytes as isize;
        } else if let Some(credit) = &mut p.credit {
            *credit += bytes;
        }
    }

    /// Marks the path's address as claimed by the peer but not proven. Until a packet arrives from this address, only
    /// heartbeats are sent there, at the rate for a path that does not answer.
    pub fn distrust(&mut self, path: PathId) {
        let tries = 1 + self.config.path_max_retrans as usize;
        let headers = self.headers(&self.paths[path.index()].tuple);
        self.paths[path.index()].credit = Some(tries * (HEARTBEAT_PACKET + headers));
    }

    /// Returns the number of bytes that IP, UDP and the envelope add to each packet to or from `tuple`.
    pub fn headers(&self, tuple: &FourTuple) -> usize {
        tuple.headers() + self.config.envelope.len()
    }

    /// Returns whether there is still no proof that the peer receives at the address of `path`.
    pub fn unproven(&self, path: PathId) -> bool {
        self.paths[path.index()].credit.is_some()
    }

    /// Returns the path whose candidate address is `tuple`.
    pub fn candidate_of(&self, tuple: &FourTuple) -> Option<PathId> {
        let candidate = |p: &crate::path::Path| p.candidate.as_ref().is_some_and(|c| c.tuple == *tuple);
        let at = self.paths.iter().position(candidate)?;
        Some(PathId(at as u8)).filter(|p| self.is_open(*p))
    }

    /// Records a candidate address of `path`: the peer uses this new address from now on, or seems to. The packet that
    /// reports the address raises the limit of bytes that may be sent there ([`Self::earn`]). The packet that reports
    /// an address also causes a heartbeat ([`Self::probe_candidate`]).
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

    /// Sends a heartbeat to the candidate address of `path`, at most one per retransmission timeout.
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

    /// Sends a chunk to the candidate address of `path`, if the address's limit of bytes permits.
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

    /// Sends COOKIE ACK to the candidate address of `path`, because COOKIE ECHO arrived again from there.
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

    /// Adopts a change of the peer's UDP port. The new port is the source port of the peer's last valid packet (RFC
    /// 6951 §5.4). An open association verifies a new port before sending there. With a seal, the seal verifies the
    /// port.
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
