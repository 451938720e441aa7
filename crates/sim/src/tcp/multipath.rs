//! What several subflows of one connection share: the scheduler, reinjection, and the way out of a full receive window.

use super::scoreboard::Record;
use super::segment::Segment;
use super::sender::{Limit, Reinjection, Sender};
use super::subflow::{LossEvent, Mode, Phase, Subflow};
use strandcast_proto::policy::{Holder, LossTrigger};
use strandcast_proto::time::Instant;

impl Sender {
    /// The subflow for `len` bytes: of those whose window has room, the one with the lowest round-trip time. One in slow
    /// start after a timeout gets new data only while there is no other. `avoid` is not taken.
    pub(super) fn schedule(&self, len: u32, avoid: Option<u8>) -> Option<u8> {
        let open = || self.subflows.iter().enumerate().filter(|(_, s)| s.phase == Phase::Open);
        let any = self.subflows.len() == 1 || open().all(|(_, s)| s.mode == Mode::Loss);
        open()
            .filter(|(id, s)| {
                avoid != Some(*id as u8)
                    && (any || s.mode != Mode::Loss)
                    && s.has_room(len, self.windows.cwnd(*id), &self.config)
            })
            .min_by_key(|(id, s)| (s.rto.srtt.unwrap_or_default(), *id))
            .map(|(id, _)| id as u8)
    }

    /// The timer of a subflow expired: others send what it has in flight, too, once.
    pub(super) fn reinject(&mut self, from: u8) {
        if self.subflows.len() < 2 {
            return;
        }
        let subflow = &mut self.subflows[usize::from(from)];
        if subflow.mode != Mode::Loss {
            return;
        }
        for Record { data_seq, len, reinjected, .. } in subflow.board.iter_mut() {
            if !core::mem::replace(reinjected, true) {
                self.reinjections.push_back(Reinjection { data_seq: *data_seq, len: *len, from });
            }
        }
    }

    /// The next data to be sent on another subflow, too.
    pub(super) fn reinjection(&mut self, now: Instant) -> Option<Segment> {
        let what = loop {
            let what = *self.reinjections.front()?;
            if what.data_seq + u64::from(what.len) > self.data_una {
                break what;
            }
            self.reinjections.pop_front();
        };
        let id = self.schedule(what.len, Some(what.from))?;
        self.reinjections.pop_front();
        self.subflows[usize::from(id)].stats.reinjections += 1;
        Some(self.send(now, id, what.data_seq, what.len))
    }

    /// With the receive window full, the segment that holds it up is sent on a much faster subflow with room, too, and
    /// the window of the subflow that holds it up is cut, as [`HeadOfLine`](strandcast_proto::policy::HeadOfLine) decides
    /// by Linux's rules (mptcp_rcv_buf_optimization; the cut is the congestion control's own answer to a loss).
    pub(super) fn opportunity(&mut self, now: Instant, limit: Limit) -> Option<Segment> {
        if limit != Limit::ReceiveWindow || !self.config.opportunistic || self.subflows.len() < 2 {
            return None;
        }
        let fast = self.schedule(self.config.segment, None)?;
        let una = self.data_una;
        let holds = |r: &Record| r.data_seq <= una && una < r.data_seq + u64::from(r.len);
        let front = |s: &mut Subflow| s.board.front_mut().filter(|r| holds(r)).map(|r| r.sent);
        let (id, sent) = self.subflows.iter_mut().zip(0..).find_map(|(s, id)| front(s).map(|at| (id, at)))?;
        let holder = usize::from(id);
        let asks = Holder { path: self.windows.path(id), sent };
        let intact = self.subflows[holder].mode == Mode::Open;
        if intact && self.head_of_line.penalise(now, self.windows.path(fast), asks) {
            self.penalise(now, id);
        }
        let asks = Holder { path: self.windows.path(id), sent };
        let worth = self.head_of_line.resend(now, self.windows.path(fast), asks);
        let front = self.subflows[holder].board.front_mut()?;
        if front.reinjected || !worth {
            return None;
        }
        front.reinjected = true;
        let (data_seq, len) = (front.data_seq, front.len);
        let stats = &mut self.subflows[usize::from(fast)].stats;
        (stats.reinjections, stats.opportunistic) = (stats.reinjections + 1, stats.opportunistic + 1);
        Some(self.send(now, fast, data_seq, len))
    }

    fn penalise(&mut self, now: Instant, id: u8) {
        let subflow = &mut self.subflows[usize::from(id)];
        subflow.stats.penalties += 1;
        let event = LossEvent { flight: subflow.in_flight(&self.config), highest: subflow.board.next() - 1 };
        self.tell_loss(now, id, event, LossTrigger::HeadOfLine);
    }
}
