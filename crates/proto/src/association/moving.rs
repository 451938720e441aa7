//! Addresses that the peer may not be at: how little goes there until a nonce came back (RFC 9260 §5.4, §8.3), and paths
//! that are said to have moved.

use bytes::Bytes;
use smallvec::SmallVec;

use super::control_queue::Control;
use super::state::{Association, State};
use crate::path::{FourTuple, MOST_AMPLIFIED};
use crate::policy::PathId;
use crate::time::{Duration, Instant};
use crate::wire::chunk::{ChunkEncode as _, CookieAck, Heartbeat, HeartbeatAck, SackHeader};
use crate::wire::packet::HEADER_LEN;

/// A packet with nothing but a heartbeat of ours, bytes.
const HEARTBEAT_PACKET: usize = HEADER_LEN + 20;
/// Heartbeats to a candidate that may still be answered.
const PROBES: usize = 4;

/// Where a path goes on if a nonce comes back from there. Until then it is where it was: whoever can say that a path
/// has moved may not be able to receive there.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub tuple: FourTuple,
    /// Bytes that may still go there, headers counted; below zero when what is answered is yet to be counted.
    credit: isize,
    /// The report that named it.
    serial: Option<u32>,
    nonces: SmallVec<[(u64, Instant); PROBES]>,
    next_probe: Instant,
}

impl Association {
    /// Something came from the peer's address of `path`, or of its candidate.
    pub(super) fn earn(&mut self, path: PathId, from: &FourTuple, len: usize) {
        let bytes = MOST_AMPLIFIED * (len + from.headers());
        let p = &mut self.paths[path.index()];
        if let Some(candidate) = p.candidate.as_mut().filter(|c| c.tuple == *from) {
            candidate.credit += bytes as isize;
        } else if let Some(credit) = &mut p.credit {
            *credit += bytes;
        }
    }

    /// The path's address was only claimed: all it gets is a heartbeat, and that as often as an unanswered path is
    /// probed, until something comes from there.
    pub(super) fn distrust(&mut self, path: PathId) {
        let tries = 1 + self.config.path_max_retrans as usize;
        let headers = self.paths[path.index()].tuple.headers();
        self.paths[path.index()].credit = Some(tries * (HEARTBEAT_PACKET + headers));
    }

    /// Whether nothing has proven that the peer receives at `path`'s address.
    pub(super) fn unproven(&self, path: PathId) -> bool {
        self.paths[path.index()].credit.is_some()
    }

    /// Bytes that the next packet for `path` may have, at most `limit`. What an unproven address can't be sent is
    /// dropped here: it would hold up the rest, and the peer asks again for whatever matters.
    pub(super) fn room_on(&mut self, path: PathId, limit: usize) -> usize {
        let i = path.index();
        let limit = limit.min(self.paths[i].packet_size(&self.config));
        let Some(credit) = self.paths[i].credit else { return limit };
        let room = limit.min(credit.saturating_sub(self.paths[i].tuple.headers()));
        let hmac = self.auth.as_ref().map_or(0, |a| a.hmac.encoded_len() + 20);
        let fits = |c: &Control| HEADER_LEN + c.chunk.encoded_len() + if c.auth { hmac } else { 0 } <= room;
        self.control.drop_on(path, fits);
        let sack = HEADER_LEN + SackHeader::encoded_len(4, 0);
        if self.rx.acks.due() == Some(path) && room < sack {
            let other = self.paths.seen().control_path();
            self.rx.acks.redirect(other, !self.unproven(other));
        }
        self.tx.forward_due &= path != self.paths.seen().control_path_in_turn(self.tx.forward_tries);
        room
    }

    /// The path whose candidate `tuple` is.
    pub(super) fn candidate_of(&self, tuple: &FourTuple) -> Option<PathId> {
        let candidate = |p: &crate::path::Path| p.candidate.as_ref().is_some_and(|c| c.tuple == *tuple);
        let at = self.paths.iter().position(candidate)?;
        Some(PathId(at as u8)).filter(|p| self.is_open(*p))
    }

    /// The peer says, or seems, to be at another address of `path` from now on. What it may get there is counted with
    /// the packet that says so, and a heartbeat asked for ([`Self::earn`], [`Self::probe_candidate`]).
    pub(super) fn propose(&mut self, now: Instant, path: PathId, tuple: FourTuple, serial: Option<u32>) {
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

    /// A heartbeat to the candidate of `path`, one a retransmission timeout.
    pub(super) fn probe_candidate(&mut self, now: Instant, path: PathId) {
        let wait = self.config.rto_initial.min(self.paths.view(path.index()).rto);
        let cost = HEARTBEAT_PACKET as isize;
        let Some(candidate) = &mut self.paths[path.index()].candidate else { return };
        if candidate.next_probe > now || candidate.credit < cost + candidate.tuple.headers() as isize {
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

    /// A chunk to the candidate of `path`, if it may have it.
    fn answer_candidate(&mut self, path: PathId, chunk: impl Into<crate::wire::Chunk>) {
        let chunk = chunk.into();
        let Some(candidate) = &mut self.paths[path.index()].candidate else { return };
        let cost = (HEADER_LEN + chunk.encoded_len() + candidate.tuple.headers()) as isize;
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

    /// COOKIE ACK for a COOKIE ECHO that came again, from the candidate of `path`.
    pub(super) fn ack_cookie_there(&mut self, path: PathId) {
        let Some(candidate) = &self.paths[path.index()].candidate else { return };
        let cost = HEADER_LEN + CookieAck.encoded_len() + candidate.tuple.headers();
        self.charge_candidate(path, CookieAck.into(), cost as isize);
    }

    /// HEARTBEAT ACK, to where the heartbeat came from.
    pub(super) fn answer_heartbeat(&mut self, path: PathId, from: &FourTuple, info: Bytes) {
        if self.paths[path.index()].tuple == *from {
            self.push_control(path, HeartbeatAck { info });
        } else {
            self.answer_candidate(path, HeartbeatAck { info });
        }
    }

    /// A nonce came back: whether it is one that went to the candidate of `path`, which the path moves to then.
    pub(super) fn candidate_answered(&mut self, now: Instant, path: PathId, nonce: u64) -> Option<Duration> {
        let p = self.paths.get_mut(path.index())?;
        let sent = p.candidate.as_ref()?.nonces.iter().find(|(n, _)| *n == nonce)?.1;
        let candidate = p.candidate.take()?;
        if !self.is_open(path) || self.path_of(&candidate.tuple).is_some() {
            return None;
        }
        if candidate.serial.is_some() {
            self.paths[path.index()].news.0 = candidate.serial;
        }
        self.retarget(now, path, candidate.tuple);
        self.paths[path.index()].credit = None;
        self.paths[path.index()].heartbeats.excuse();
        self.confirm(now, path);
        Some(now - sent)
    }

    /// RFC 6951 §5.4: the peer's UDP port is the one its last good packet came from. Once it is open, an association
    /// asks before it believes that.
    pub(super) fn follow_port(&mut self, now: Instant, from: FourTuple) -> Option<PathId> {
        if self.paths.seen().peer_reports() {
            return None;
        }
        let same =
            |t: &FourTuple| t.link == from.link && t.local == from.local && t.remote.ip() == from.remote.ip();
        let path = (0..self.paths.len() as u8)
            .map(PathId)
            .find(|p| self.is_open(*p) && same(&self.paths[p.index()].tuple))?;
        if matches!(self.state, State::CookieWait | State::CookieEchoed) {
            self.paths[path.index()].tuple = from;
            self.paths_moved = true;
            self.events.push_back(super::Event::Path(path, super::PathChange::Moved));
        } else {
            self.propose(now, path, from, None);
        }
        Some(path)
    }
}
