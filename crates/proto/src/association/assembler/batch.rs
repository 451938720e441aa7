//! Output of packets: the path of the next packet, and the number of packets in a batch.

use super::{Assembler, Transmit};
use crate::association::lifecycle::State;
use crate::association::sender::PendingChunk;
use crate::policy::{PathId, PathState};
use crate::time::Instant;
use crate::wire::chunk::DataHeader;
use crate::wire::packet::HEADER_LEN;

/// Number of consecutive empty packets after which `poll_output` waits for the next input.
const MAX_EMPTY: usize = 16;

impl Assembler<'_> {
    /// Appends the next datagrams to `buf`, all for one path. Call this method until it returns `None`.
    pub fn poll_output(&mut self, now: Instant, buf: &mut Vec<u8>) -> Option<Transmit> {
        self.tx.act(self.cx, now);
        // Each round without output uses up a reason to write. Several such rounds in a row can only be a refusal.
        for _ in 0..MAX_EMPTY {
            if let Some(transmit) = self.off_path_output(buf).or_else(|| self.mtu_probe(now, buf)) {
                return Some(transmit);
            }
            let path = self.next_path(now)?;
            let start = buf.len();
            let segment_size = self.write_packet(now, path, usize::MAX, buf);
            if segment_size == 0 {
                continue;
            }
            self.extend_batch(now, path, segment_size, buf);
            let p = &self.cx.paths[path.index()];
            let fragment = segment_size > p.packet_size(&self.cx.config);
            let (len, segment_size) = (buf.len() - start, segment_size + self.cx.config.envelope.len());
            return Some(Transmit { tuple: p.tuple, len, segment_size, fragment });
        }
        None
    }

    /// Appends further packets of equal size for the same path. The appended packets contain only data.
    fn extend_batch(&mut self, now: Instant, path: PathId, segment_size: usize, buf: &mut Vec<u8>) {
        for _ in 1..self.cx.config.max_batch.max(1) {
            let more = self.cx.state != State::Closed
                && self.cx.control.is_empty()
                && self.rx.sack_due().is_none()
                && self.cx.paths[path.index()].heartbeats.requests.is_empty()
                && self
                    .tx
                    .decide(self.cx, now)
                    .is_some_and(|p| p.path == path && self.first_len(p) <= segment_size);
            if !more || self.write_packet(now, path, segment_size, buf) < segment_size {
                break;
            }
        }
    }

    /// Returns the bytes of a packet that contains only the chunk `pending`.
    fn first_len(&mut self, pending: PendingChunk) -> usize {
        HEADER_LEN + self.cx.driver.overhead() + DataHeader::encoded_len(pending.len)
    }

    /// Returns the next path that has output. Paths with control chunks come first, then paths with acknowledgements,
    /// then paths with data.
    fn next_path(&mut self, now: Instant) -> Option<PathId> {
        if let Some(control) = self.cx.control.front() {
            let path = control.path;
            if self.cx.is_open(path) {
                return Some(path);
            }
            self.cx.control.pop();
            return self.next_path(now);
        }
        if matches!(self.cx.state, State::Closed | State::CookieWait | State::CookieEchoed) {
            return None;
        }
        if let Some(i) = self.cx.paths.iter().position(|p| !p.heartbeats.requests.is_empty()) {
            if self.cx.paths.view(i).state == PathState::Closed {
                self.cx.paths[i].heartbeats.requests.clear();
                return self.next_path(now);
            }
            return Some(PathId(i as u8));
        }
        if let Some(via) = self.rx.sack_due() {
            let open = self.cx.is_open(via);
            let via = if open { via } else { self.cx.paths.seen().control_path() };
            self.rx.redirect_sack(via, true);
            return Some(via);
        }
        if let Some(path) = self.tx.forward_path(self.cx) {
            return Some(path);
        }
        let path = self.tx.decide(self.cx, now).map(|p| p.path);
        // The search for lost chunks may have found expired ones.
        path.or_else(|| self.tx.forward_path(self.cx))
    }
}
