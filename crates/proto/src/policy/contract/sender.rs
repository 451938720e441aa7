//! What leaves: lost chunks first, then new ones, where the scheme says and windows admit it.

use super::model::{Chunk, Fate, Flying, Model, SENDER};
use crate::policy::{Backlog, ChunkInfo, Occasion, PathId, PathSet, Retransmit, Signal, Transmission};
use crate::wire::serial::StreamId;

/// Lost chunks asked about at one opportunity.
const LOST_LOOKED_AT: usize = 16;

impl Model {
    /// Sends whatever may leave; notes since when nothing does.
    pub fn send(&mut self) {
        let mut sent = 0;
        while self.send_lost() || self.send_new() {
            sent += 1;
            assert!(sent < 10_000, "sends without end: {self:#?}");
        }
        let waits = self.queue > 0 || !self.lost.is_empty();
        let mute = waits && self.ends[SENDER].in_flight() == 0 && !self.ends[SENDER].usable().is_empty();
        self.mute_since = if mute { self.mute_since.or(Some(self.now)) } else { None };
    }

    fn admits(&mut self, path: PathId) -> bool {
        let room = self.ends[SENDER].views.get(path.index()).is_some_and(|p| p.has_room());
        room && self.ends[SENDER].usable().contains(path)
    }

    fn within_aggregate(&self) -> bool {
        self.ends[SENDER].aggregate.is_none_or(|a| self.ends[SENDER].in_flight() < a)
    }

    fn send_lost(&mut self) -> bool {
        let lost: Vec<u32> = self.lost.iter().copied().take(LOST_LOOKED_AT).collect();
        for seq in lost {
            let chunk = &self.chunks[&seq];
            let Fate::Lost(cause) = chunk.fate else { panic!("{seq} is among the lost: {chunk:?}") };
            let path = match self.ends[SENDER].retransmit(self.now, &chunk.info, cause) {
                Retransmit::On(path) => {
                    let free =
                        self.free_retransmit[path.index()] && self.ends[SENDER].usable().contains(path);
                    let fits = self.admits(path) && self.within_aggregate();
                    Some(path).filter(|_| free || fits)
                }
                Retransmit::Requeue => {
                    let tried = chunk.info.transmissions.iter().map(|t| t.path).collect();
                    self.assign(chunk.info.len, Some(tried)).filter(|_| self.within_aggregate())
                }
                // Messages of the toy are reliable.
                Retransmit::Hold | Retransmit::Abandon => None,
            };
            if let Some(path) = path {
                self.lost.remove(&seq);
                self.free_retransmit[path.index()] = false;
                self.chunks.get_mut(&seq).expect("just seen").fate = Fate::InFlight;
                self.transmit(seq, path);
                return true;
            }
        }
        false
    }

    /// The first path of the scheduler's answer that admits a chunk.
    fn assign(&mut self, len: u64, again: Option<PathSet>) -> Option<PathId> {
        if self.ends[SENDER].held || !self.ends[SENDER].views.iter().any(|p| p.has_room()) {
            return None;
        }
        let backlog = Backlog {
            bytes: u64::from(self.queue) * 500,
            messages: self.queue as usize,
            next_len: len,
            next_expires: None,
            retransmission: again.is_some(),
            tried: again.unwrap_or_default(),
        };
        self.assignment = self.ends[SENDER].next(self.now, &backlog);
        let paths = self.assignment.as_ref().map(|a| a.paths.clone()).unwrap_or_default();
        let path = paths.into_iter().find(|p| self.admits(*p));
        self.ends[SENDER].held = path.is_none();
        path
    }

    fn send_new(&mut self) -> bool {
        let len = self.next_len;
        let room = len <= self.ends[SENDER].rwnd.saturating_sub(self.ends[SENDER].in_flight());
        if self.queue == 0 || !(room || self.ends[SENDER].in_flight() == 0) || !self.within_aggregate() {
            return false;
        }
        let paths = self.assignment.as_ref().filter(|a| a.chunks > 0).map(|a| a.paths.clone());
        let kept = paths.unwrap_or_default().into_iter().find(|p| self.admits(*p));
        let Some(path) = kept.or_else(|| self.assign(len, None)) else { return false };
        let assignment = self.assignment.as_mut().expect("it named the path");
        assignment.chunks -= 1;
        let others: Vec<PathId> = assignment.paths.iter().copied().filter(|p| *p != path).collect();
        let seq = self.next;
        let info = ChunkInfo {
            tsn: self.tsn(seq),
            len,
            stream: StreamId(0),
            expires: None,
            transmissions: Default::default(),
            losses: 0,
        };
        self.chunks.insert(seq, Chunk { info, fate: Fate::InFlight });
        self.next += 1;
        self.queue -= 1;
        self.next_len = 100 + self.random.below(400);
        self.ends[SENDER].last_path_used = Some(path);
        self.transmit(seq, path);
        for other in others {
            if self.admits(other) {
                self.transmit(seq, other);
            }
        }
        true
    }

    fn transmit(&mut self, seq: u32, path: PathId) {
        let next_tsn = self.tsn(self.next);
        let chunk = self.chunks.get_mut(&seq).expect("it exists");
        let at = self.now;
        chunk.info.transmissions.push(Transmission { path, at, next_tsn, in_flight: true, misses: 0 });
        let view = &mut self.ends[SENDER].views[path.index()];
        view.in_flight += chunk.info.len;
        view.in_flight_chunks += 1;
        view.last_sent = Some(at);
        let rto = view.rto;
        self.t3[path.index()].get_or_insert(at + rto);
        self.ends[SENDER].signal(at, &Signal::Sent(&chunk.info));
        let reports = self.ends[SENDER].reports(at, Occasion::Data(path));
        self.launch(path, Flying::Data { seq, path, reports });
    }
}
