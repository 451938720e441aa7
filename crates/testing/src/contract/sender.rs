//! Output of the toy association: lost chunks first, then new chunks. The scheme chooses their paths, and windows limit
//! them.

use strandcast_proto::policy::fixture;
use strandcast_proto::policy::{
    Act, Backlog, Blocked, BlockedBy, ChunkInfo, Heads, Importance, MOST_ACTS, MessageHead, PathId,
    ReportTrigger, Retransmit, Transmission,
};
use strandcast_proto::time::Instant;
use strandcast_proto::wire::serial::StreamId;

use super::model::{Chunk, Delivery, Flying, Model, SENDER};

/// Number of lost chunks about which the scheme is asked at one send opportunity.
const LOST_LOOKED_AT: usize = 16;

impl Model {
    /// Sends all chunks that may be sent. Records the time since which none could be sent.
    pub fn send(&mut self) {
        let mut sent = 0;
        while self.send_lost() || self.send_new() {
            sent += 1;
            assert!(sent < 10_000, "sends without end: {self:#?}");
        }
        let waits = self.queue > 0 || !self.lost.is_empty();
        let mute =
            waits && self.ends[SENDER].views.in_flight() == 0 && !self.ends[SENDER].views.usable().is_empty();
        self.mute_since = if mute { self.mute_since.or(Some(self.now)) } else { None };
    }

    /// Executes the scheme's spontaneous actions, if anything has happened since the last question.
    pub fn act(&mut self) {
        if !self.ends[SENDER].driver.act_due() {
            return;
        }
        for n in 0.. {
            assert!(n < MOST_ACTS, "acts without end");
            let outstanding = fixture::Outstanding::new(self.chunks.values().map(|c| &c.info));
            match self.ends[SENDER].act(self.now, &outstanding) {
                Some(Act::Copy { tsn, to }) => self.copy(tsn.0.wrapping_sub(self.base.0), to),
                Some(Act::Lose { path, sent_before, cause }) => self.lose_sent(path, sent_before, cause),
                Some(Act::Drop { .. }) => {}
                None => break,
            }
        }
        self.ends[SENDER].driver.acted();
    }

    fn copy(&mut self, seq: u32, to: PathId) {
        let flies = self.chunks.get(&seq).is_some_and(|c| c.delivery == Delivery::InFlight);
        let there = flies && self.chunks[&seq].info.transmissions.iter().any(|t| t.path == to && t.in_flight);
        if flies && !there && self.admits(to) {
            self.transmit(seq, to);
        }
    }

    fn admits(&mut self, path: PathId) -> bool {
        let room = self.ends[SENDER].views.paths().get(path.index()).is_some_and(|p| p.has_room());
        room && self.ends[SENDER].views.usable().contains(path)
    }

    fn within_aggregate(&self) -> bool {
        !self.ends[SENDER].driver.aggregate_full(&self.ends[SENDER].views)
    }

    fn send_lost(&mut self) -> bool {
        let lost: Vec<u32> = self.lost.iter().copied().take(LOST_LOOKED_AT).collect();
        for seq in lost {
            let paths = match self.verdict(seq) {
                Retransmit::On(path) => {
                    let free =
                        self.free_retransmit[path.index()] && self.ends[SENDER].views.usable().contains(path);
                    let fits = self.admits(path) && self.within_aggregate();
                    if free || fits { vec![path] } else { Vec::new() }
                }
                Retransmit::Requeue if self.within_aggregate() => {
                    let path = self.assign(Some(seq));
                    path.map_or(Vec::new(), |path| self.copies(path))
                }
                Retransmit::Abandon if self.chunks[&seq].info.expires.is_some() => {
                    self.abandon(seq);
                    continue;
                }
                // A message without lifetime is reliable.
                Retransmit::Hold | Retransmit::Abandon | Retransmit::Requeue => Vec::new(),
            };
            if let Some(first) = paths.first() {
                self.lost.remove(&seq);
                self.free_retransmit[first.index()] = false;
                self.chunks.get_mut(&seq).expect("just seen").delivery = Delivery::InFlight;
                paths.iter().for_each(|path| self.transmit(seq, *path));
                return true;
            }
        }
        false
    }

    fn verdict(&mut self, seq: u32) -> Retransmit {
        let chunk = &self.chunks[&seq];
        let Delivery::Lost(cause) = chunk.delivery else { panic!("{seq} is among the lost: {chunk:?}") };
        self.ends[SENDER].retransmit(self.now, &chunk.info, cause)
    }

    /// Returns `path`, and the other paths of the assignment that admit a copy.
    fn copies(&mut self, path: PathId) -> Vec<PathId> {
        let paths = self.assignment.as_ref().map(|a| a.paths.clone()).unwrap_or_default();
        let others: Vec<PathId> = paths.into_iter().filter(|p| *p != path && self.admits(*p)).collect();
        core::iter::once(path).chain(others).collect()
    }

    /// Returns the payload bytes of lost chunks that the loss policy left to the scheduler.
    fn requeued(&mut self) -> u64 {
        let lost: Vec<u32> = self.lost.iter().copied().collect();
        let requeued = lost.into_iter().filter(|seq| self.verdict(*seq) == Retransmit::Requeue);
        let requeued: Vec<u32> = requeued.collect();
        requeued.iter().map(|seq| self.chunks[seq].info.len - 16).sum()
    }

    /// Returns the first path in the scheduler's answer that admits the next new chunk, or the lost chunk `again`.
    fn assign(&mut self, again: Option<u32>) -> Option<PathId> {
        if self.ends[SENDER].driver.held() || !self.ends[SENDER].views.paths().iter().any(|p| p.has_room()) {
            return None;
        }
        let requeued = if again.is_some() { self.requeued() } else { 0 };
        let lost = again.map(|seq| self.chunks[&seq].info.clone());
        let tried = lost.iter().flat_map(|info| info.transmissions.iter().map(|t| t.path)).collect();
        let backlog = Backlog {
            bytes: u64::from(self.queue) * 500 + requeued,
            messages: self.queue as usize,
            next_len: lost.as_ref().map_or(self.next_len, |info| info.len),
            next_expires: lost.as_ref().map_or(expiry(self.next), |info| info.expires),
            retransmission: again.is_some(),
            tried,
            heads: self.heads(),
            ..Backlog::default()
        };
        self.assignment = self.ends[SENDER].next(self.now, &backlog);
        if self.assignment.is_none() && self.ask_for_penalty() {
            self.assignment = self.ends[SENDER].next(self.now, &backlog);
        }
        let paths = self.assignment.as_ref().map(|a| a.paths.clone()).unwrap_or_default();
        let heads = |i| backlog.heads.of(i).is_some();
        let named =
            self.assignment.as_ref().is_none_or(|a| again.is_some() || a.importance.is_none_or(heads));
        let path = paths.into_iter().find(|p| named && self.admits(*p));
        if path.is_none() {
            self.ends[SENDER].driver.hold();
        }
        path
    }

    /// Returns the first waiting messages. All waiting messages have one importance.
    fn heads(&self) -> Heads {
        let head = MessageHead {
            importance: Importance::Normal,
            next_len: self.next_len,
            next_expires: expiry(self.next),
            group: None,
            bytes: u64::from(self.queue) * 500,
        };
        Some(head).into_iter().filter(|_| self.queue > 0).collect()
    }

    fn send_new(&mut self) -> bool {
        let len = self.next_len;
        let window = len <= self.ends[SENDER].views.rwnd() || self.ends[SENDER].views.in_flight() == 0;
        if self.queue == 0 || !window || !self.within_aggregate() {
            if self.queue > 0 && !window {
                self.block();
            }
            return false;
        }
        let paths = self.assignment.as_ref().filter(|a| a.chunks > 0).map(|a| a.paths.clone());
        let kept = paths.unwrap_or_default().into_iter().find(|p| self.admits(*p));
        let Some(path) = kept.or_else(|| self.assign(None)) else { return false };
        let assignment = self.assignment.as_mut().expect("it named the path");
        assignment.chunks -= 1;
        let others: Vec<PathId> = assignment.paths.iter().copied().filter(|p| *p != path).collect();
        let seq = self.next;
        let info = ChunkInfo {
            tsn: self.tsn(seq),
            len,
            stream: StreamId(0),
            expires: expiry(seq),
            importance: Default::default(),
            group: None,
            transmissions: Default::default(),
            losses: 0,
            symbol: None,
        };
        self.chunks.insert(seq, Chunk { info, delivery: Delivery::InFlight });
        self.next += 1;
        self.queue -= 1;
        self.next_len = 100 + self.random.below(400);
        self.ends[SENDER].views.set_last_path_used(path);
        self.transmit(seq, path);
        for other in others {
            if self.admits(other) {
                self.transmit(seq, other);
            }
        }
        true
    }

    /// Handles a full receive window at the peer. While a path has room, the scheduler's view shows the chunk that
    /// blocks the window.
    fn block(&mut self) {
        let any = (0..self.wires.len()).any(|i| self.admits(PathId(i as u8)));
        let front = self.chunks.values().next().filter(|_| any).map(|c| &c.info);
        let blocked = front.map(|info| {
            let (by, tsn, path) = (BlockedBy::ReceiveWindow, info.tsn, info.path());
            Blocked { by, tsn, path, since: self.now }
        });
        self.ends[SENDER].views.set_blocked(blocked);
        if any {
            self.ask_for_penalty();
        }
        self.ends[SENDER].views.set_blocked(None);
    }

    fn transmit(&mut self, seq: u32, path: PathId) {
        let next_tsn = self.tsn(self.next);
        let chunk = self.chunks.get_mut(&seq).expect("it exists");
        let at = self.now;
        chunk.info.transmissions.push(Transmission::new(path, at, next_tsn));
        self.ends[SENDER].views.enter(path, chunk.info.len, chunk.info.symbol);
        let view = self.ends[SENDER].view_mut(path);
        view.last_sent = Some(at);
        let rto = view.rto;
        self.t3[path.index()].get_or_insert(at + rto);
        self.ends[SENDER].sent(at, &chunk.info);
        let reports = self.ends[SENDER].reports(at, ReportTrigger::Data(path));
        self.launch(path, Flying::Data { seq, path, reports });
    }
}

/// Returns the time at which the message of chunk `seq` becomes useless. Every third message has a lifetime, and all
/// lifetimes are longer than the test.
fn expiry(seq: u32) -> Option<Instant> {
    seq.is_multiple_of(3).then(|| Instant::from_millis(3_600_000 + u64::from(seq)))
}
