//! Packets out: which path the next one takes, and how many go in one batch.

use super::pick::Pick;
use super::state::{Association, State};
use crate::path::FourTuple;
use crate::policy::{PathId, PathState};
use crate::time::Instant;
use crate::wire::chunk::DataHeader;
use crate::wire::packet::HEADER_LEN;

/// Packets that may turn out empty before `poll_output` gives up until the next input.
const MAX_EMPTY: usize = 16;

/// Datagrams for one path, at the end of the buffer handed to `poll_output`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// Where from and to.
    pub tuple: FourTuple,
    /// All datagrams together, bytes.
    pub len: usize,
    /// Each datagram but the last has this many bytes; `len` if there is one.
    pub segment_size: usize,
}

impl Association {
    /// Appends the next datagrams for one path to `buf`. Call until `None`.
    pub fn poll_output(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        // Each round that writes nothing has used up a reason to write; a few in a row can only be a refusal.
        for _ in 0..MAX_EMPTY {
            if let Some(transmit) = self.stray_output(buf) {
                return Some(transmit);
            }
            let path = self.next_path(now)?;
            let start = buf.len();
            let segment_size = self.write_packet(now, path, usize::MAX, buf);
            if segment_size == 0 {
                continue;
            }
            self.extend_batch(now, path, segment_size, buf);
            let len = buf.len() - start;
            return Some(Transmit { tuple: self.paths[path.index()].tuple, len, segment_size });
        }
        None
    }

    /// More packets of the same size for the same path, data only.
    fn extend_batch(&mut self, now: Instant, path: PathId, segment_size: usize, buf: &mut Vec<u8>) {
        for _ in 1..self.config.max_batch.max(1) {
            let more = self.state != State::Closed
                && self.control.is_empty()
                && self.rx.acks.due().is_none()
                && self.paths[path.index()].heartbeats.wanted.is_empty()
                && self.pick(now).is_some_and(|p| p.path == path && self.first_len(p) <= segment_size);
            if !more || self.write_packet(now, path, segment_size, buf) < segment_size {
                break;
            }
        }
    }

    /// Bytes of a packet with nothing but the picked chunk.
    fn first_len(&self, pick: Pick) -> usize {
        HEADER_LEN + self.driver.scheme().overhead() + DataHeader::encoded_len(pick.len)
    }

    /// The path that has something to say: control first, then acknowledgements, then data.
    fn next_path(&mut self, now: Instant) -> Option<PathId> {
        if let Some(control) = self.control.front() {
            let path = control.path;
            if self.is_open(path) {
                return Some(path);
            }
            self.control.pop();
            return self.next_path(now);
        }
        if matches!(self.state, State::Closed | State::CookieWait | State::CookieEchoed) {
            return None;
        }
        if let Some(i) = self.paths.iter().position(|p| !p.heartbeats.wanted.is_empty()) {
            if self.paths.view(i).state == PathState::Closed {
                self.paths[i].heartbeats.wanted.clear();
                return self.next_path(now);
            }
            return Some(PathId(i as u8));
        }
        if let Some(via) = self.rx.acks.due() {
            let open = self.is_open(via);
            let via = if open { via } else { self.paths.seen().control_path() };
            self.rx.acks.schedule(now, via, None);
            return Some(via);
        }
        if self.tx.forward_due {
            return Some(self.paths.seen().control_path_in_turn(self.tx.forward_tries));
        }
        let path = self.pick(now).map(|p| p.path);
        // Looking for lost chunks may have found some that are too old.
        let forward = || self.paths.seen().control_path_in_turn(self.tx.forward_tries);
        path.or_else(|| self.tx.forward_due.then(forward))
    }
}
