//! Losses: by miss indications, by timeout, and chunks that are given up.

use strandcast_proto::policy::{AckInfo, ChunkInfo, LossCause, LossTrigger, PathId, Signal};
use strandcast_proto::time::Instant;

use super::harness::SchemeHarness;
use super::model::{Delivery, Model, SENDER};

impl Model {
    pub fn count_misses(&mut self, ack: &AckInfo) {
        let Some(highest) = ack.highest_newly_acked else { return };
        let open = |c: &super::model::Chunk| {
            c.info.tsn.is_before(highest) && c.info.on(ack.path).is_some_and(|t| t.in_flight)
        };
        let missing: Vec<u32> = self.chunks.iter().filter(|(_, c)| open(c)).map(|(s, _)| *s).collect();
        for seq in missing {
            let misses = self.ends[SENDER].misses(self.now, ack, &self.chunks[&seq].info);
            let threshold = self.ends[SENDER].threshold(ack.path);
            assert!(threshold > 0, "a loss without a miss");
            let chunk = self.chunks.get_mut(&seq).expect("just seen");
            let first_sent = chunk.info.transmissions[0].at;
            let t = chunk.info.transmissions.iter_mut().find(|t| t.path == ack.path && t.in_flight);
            let t = t.expect("it is open here");
            if misses > 0 {
                let (scope, tsn) = (self.ends[SENDER].miss_scope(self.now, ack), chunk.info.tsn);
                let first = t.at == first_sent;
                let admits = if first { scope.first.admits(tsn) } else { scope.again.admits(t.next_tsn - 1) };
                assert!(admits, "TSN {tsn} gets {misses} misses beyond {scope:?}");
            }
            t.misses = t.misses.saturating_add(misses);
            if misses > 0 && t.misses >= threshold {
                self.lose_by_misses(seq, ack.path);
            }
        }
    }

    fn lose_by_misses(&mut self, seq: u32, path: PathId) {
        let highest = self.highest_in_flight(path).unwrap_or(seq);
        let Some(cause) = self.lose(seq, path, LossTrigger::FastRetransmit) else { return };
        if seq > self.recover[path.index()] {
            self.recover[path.index()] = highest;
            self.free_retransmit[path.index()] = true;
            self.loss_event(path, LossTrigger::FastRetransmit, highest, cause);
        }
    }

    fn loss_event(&mut self, path: PathId, trigger: LossTrigger, highest: u32, cause: LossCause) {
        let highest = self.tsn(highest);
        self.ends[SENDER].signal(self.now, &Signal::LossEvent { path, trigger, highest, cause });
    }

    /// Penalises `path`, because its data in flight block other data. The window of `path` must not become larger.
    pub fn penalise(&mut self, path: PathId) {
        let Some(highest) = self.highest_in_flight(path) else { return };
        // The view is as of the last signal but `Sent`, after which limits are not read.
        let end = &self.ends[SENDER];
        let before = end.view(path).limit.cwnd.max(end.driver.scheme().congestion().limit(path).cwnd);
        self.loss_event(path, LossTrigger::HeadOfLine, highest, LossCause::Congestion);
        let after = self.ends[SENDER].view(path).limit.cwnd;
        assert!(after <= before, "a penalty made the window of path {path:?} {after} of {before}");
    }

    /// Asks the scheduler for a penalty if data wait although paths may have room. The method asks once per round trip.
    /// Returns whether a path was penalised.
    pub fn ask_for_penalty(&mut self) -> bool {
        let path = self.ends[SENDER].penalise(self.now);
        let due = path.filter(|path| self.asked.asked(self.now, self.ends[SENDER].view(*path)));
        if let Some(path) = due {
            self.penalise(path);
        }
        due.is_some()
    }

    fn highest_in_flight(&self, path: PathId) -> Option<u32> {
        let here = |c: &super::model::Chunk| c.info.on(path).is_some_and(|t| t.in_flight);
        self.chunks.iter().rfind(|(_, c)| here(c)).map(|(s, _)| *s)
    }

    /// Removes the transmission of chunk `seq` on `path` from flight. The chunk is lost if no copy of it is in flight.
    fn lose(&mut self, seq: u32, path: PathId, trigger: LossTrigger) -> Option<LossCause> {
        self.lose_by(seq, path, |end, now, info| end.classify(now, info, trigger))
    }

    /// Removes a transmission from flight. The function `judge` decides on its loss.
    fn lose_by(
        &mut self,
        seq: u32,
        path: PathId,
        judge: impl FnOnce(&mut SchemeHarness, Instant, &ChunkInfo) -> LossCause,
    ) -> Option<LossCause> {
        let chunk = self.chunks.get_mut(&seq)?;
        let t = chunk.info.transmissions.iter_mut().find(|t| t.path == path && t.in_flight)?;
        t.in_flight = false;
        chunk.info.losses = chunk.info.losses.saturating_add(1);
        self.ends[SENDER].views.leave(path, chunk.info.len, chunk.info.symbol);
        let cause = judge(&mut self.ends[SENDER], self.now, &chunk.info);
        if !chunk.info.transmissions.iter().any(|t| t.in_flight) {
            chunk.delivery = Delivery::Lost(cause);
            self.lost.insert(seq);
        }
        self.ends[SENDER].signal(self.now, &Signal::Lost { chunk: &chunk.info, path, cause });
        Some(cause)
    }

    /// Declares all chunks lost that were sent on `path` before `sent_before`, because the scheme requests this.
    pub fn lose_sent(&mut self, path: PathId, sent_before: Instant, cause: LossCause) {
        if !self.ends[SENDER].is_open(path) {
            return;
        }
        let old = |c: &super::model::Chunk| {
            c.info.transmissions.iter().any(|t| t.path == path && t.in_flight && t.at < sent_before)
        };
        let gone: Vec<u32> = self.chunks.iter().filter(|(_, c)| old(c)).map(|(s, _)| *s).collect();
        for seq in gone {
            self.lose_by(seq, path, |_, _, _| cause);
        }
        let empty = self.ends[SENDER].view(path).in_flight == 0;
        self.t3[path.index()] = self.t3[path.index()].filter(|_| !empty);
    }

    pub fn lose_all(&mut self, path: PathId, trigger: LossTrigger) -> Option<LossCause> {
        let here = |c: &super::model::Chunk| c.info.on(path).is_some_and(|t| t.in_flight);
        let gone: Vec<u32> = self.chunks.iter().filter(|(_, c)| here(c)).map(|(s, _)| *s).collect();
        let causes: Vec<LossCause> = gone.iter().filter_map(|s| self.lose(*s, path, trigger)).collect();
        causes.first().copied()
    }

    pub fn on_t3(&mut self, path: PathId) {
        self.t3[path.index()] = None;
        let highest = self.highest_in_flight(path);
        let cause = self.lose_all(path, LossTrigger::Timeout);
        if let (Some(highest), Some(cause)) = (highest, cause) {
            self.recover[path.index()] = highest;
            self.loss_event(path, LossTrigger::Timeout, highest, cause);
        }
        self.error(path);
    }

    /// Abandons one outstanding chunk (partial reliability). The receiver is notified immediately.
    pub fn give_up(&mut self) {
        let open: Vec<u32> =
            self.chunks.iter().filter(|(_, c)| c.delivery != Delivery::Acked).map(|(s, _)| *s).collect();
        let Some(&seq) = open.get(self.random.below(open.len() as u64) as usize) else { return };
        self.abandon(seq);
    }

    pub fn abandon(&mut self, seq: u32) {
        let chunk = self.chunks.get_mut(&seq).expect("just seen");
        for t in chunk.info.transmissions.iter_mut().filter(|t| t.in_flight) {
            t.in_flight = false;
            self.ends[SENDER].views.leave(t.path, chunk.info.len, chunk.info.symbol);
        }
        chunk.delivery = Delivery::Acked;
        self.lost.remove(&seq);
        self.received.insert(seq);
        self.ends[SENDER].signal(self.now, &Signal::Abandoned(&chunk.info));
        for (t3, view) in self.t3.iter_mut().zip(self.ends[SENDER].views.paths()) {
            *t3 = t3.filter(|_| view.in_flight > 0);
        }
    }
}
