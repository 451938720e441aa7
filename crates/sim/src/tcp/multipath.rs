//! What several subflows of one connection share: the scheduler, copies, reinjection, and the way out of a full receive
//! window.

use strandcast_proto::policy::{Backlog, Holder, LossTrigger, PathId, PathSet};
use strandcast_proto::time::Instant;

use super::schedule::Choice;
use super::scoreboard::Record;
use super::segment::Segment;
use super::sender::{Limit, Sender};
use super::subflow::{LossEvent, Mode, Phase, Subflow};

/// What an endless application has to send, bytes, so that schedulers may add to it.
const ENDLESS: u64 = 1 << 40;

impl Sender {
    /// Subflows that may send `len` bytes now: their windows have room. One in slow start after a timeout gets data of the
    /// connection only while there is no other. `tried` are not taken.
    pub(super) fn with_room(&self, len: u32, tried: PathSet) -> impl Iterator<Item = (u8, &Subflow)> {
        let open = || self.subflows.iter().zip(0..).filter(|(s, _)| s.phase == Phase::Open);
        let worst = open().all(|(s, _)| s.mode == Mode::Loss);
        open().filter_map(move |(s, id)| {
            let usable = !tried.contains(PathId(id)) && (worst || s.mode != Mode::Loss);
            (usable && s.has_room(len, self.windows.cwnd(usize::from(id)), &self.config)).then_some((id, s))
        })
    }

    /// The subflow for `len` bytes, of those that were not `tried` before. `None`: they are held back.
    pub(super) fn choose(&mut self, now: Instant, len: u32, tried: PathSet) -> Option<Choice> {
        if self.windows.scheduling.is_none() {
            let only = self.with_room(len, tried).next();
            return only.map(|(subflow, _)| Choice { subflow, copies: PathSet::default() });
        }
        let backlog = Backlog {
            bytes: self.backlog().min(ENDLESS) + self.shared.bytes(),
            messages: usize::from(self.backlog() > 0),
            next_len: u64::from(len),
            retransmission: !tried.is_empty(),
            tried,
            ..Backlog::default()
        };
        let (windows, at) = self.scene(now);
        windows.choose(&at, &backlog)
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
                self.shared.again(*data_seq, *len, from);
            }
        }
    }

    /// The next data to be sent on another subflow, too.
    pub(super) fn reinjection(&mut self, now: Instant) -> Option<Segment> {
        let what = self.shared.next(self.data_una)?;
        let tried = PathSet::one(PathId(what.from));
        self.with_room(what.len, tried).next()?;
        let Choice { subflow, copies } = self.choose(now, what.len, tried)?;
        self.shared.pop();
        self.shared.owe(copies, what.data_seq, what.len);
        self.subflows[usize::from(subflow)].stats.reinjections += 1;
        Some(self.send(now, subflow, what.data_seq, what.len))
    }

    /// The next data that the scheduler sends on several subflows, for one that has room by now; what the receiver has
    /// acknowledged meanwhile is left out.
    pub(super) fn copy(&mut self, now: Instant) -> Option<Segment> {
        for id in 0..self.subflows.len() {
            let Some((data_seq, len)) = self.shared.owed(id, self.data_una) else { continue };
            let subflow = &mut self.subflows[id];
            if subflow.mode == Mode::Loss || !subflow.has_room(len, self.windows.cwnd(id), &self.config) {
                continue;
            }
            self.shared.paid(id);
            subflow.stats.copies += 1;
            return Some(self.send(now, id as u8, data_seq, len));
        }
        None
    }

    /// The subflow whose first segment is at the edge of the receive window.
    fn holder(&self) -> Option<(u8, &Record)> {
        let una = self.data_una;
        let holds = |r: &&Record| r.data_seq <= una && una < r.data_seq + u64::from(r.len);
        let mut subflows = self.subflows.iter().zip(0..);
        subflows.find_map(|(s, id)| s.board.front().filter(holds).map(|record| (id, record)))
    }

    /// Tells the scheduler what keeps new data back while there is room: nothing, unless `limit` is the receive window.
    pub(super) fn note_blocked(&mut self, now: Instant, limit: Option<Limit>) {
        let full = limit == Some(Limit::ReceiveWindow);
        let holder = if full && self.windows.scheduling.is_some() { self.holder() } else { None };
        let first = holder.map(|(id, _)| (id, self.subflows[usize::from(id)].board.first()));
        if let Some(scheduling) = &mut self.windows.scheduling {
            scheduling.note_blocked(now, first);
        }
    }

    /// With the receive window full, the segment that holds it up is sent on a much faster subflow with room, too, and
    /// the window of the subflow that holds it up is cut, as [`HeadOfLine`](strandcast_proto::policy::HeadOfLine) decides
    /// by Linux's rules (mptcp_rcv_buf_optimization; the cut is the congestion control's own answer to a loss).
    pub(super) fn opportunity(&mut self, now: Instant, limit: Limit) -> Option<Segment> {
        let remedy = self.shared.remedy?;
        if limit != Limit::ReceiveWindow || self.subflows.len() < 2 {
            return None;
        }
        let with_room = self.with_room(self.config.segment, PathSet::default());
        let (fast, _) = with_room.min_by_key(|(id, s)| (s.rto.srtt.unwrap_or_default(), *id))?;
        let (id, sent) = self.holder().map(|(id, record)| (id, record.sent))?;
        let holder = usize::from(id);
        let asks = Holder { path: self.windows.path(id), sent };
        let intact = self.subflows[holder].mode == Mode::Open;
        if intact && remedy.penalty && self.shared.head_of_line.penalise(now, self.windows.path(fast), asks) {
            self.penalise(now, id);
        }
        let asks = Holder { path: self.windows.path(id), sent };
        let worth = self.shared.head_of_line.resend(now, self.windows.path(fast), asks);
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

    /// Asks the scheduler which subflow is to be held back for data that wait, and does so once per round trip of it at most;
    /// whether it did.
    pub(super) fn ask_for_penalty(&mut self, now: Instant) -> bool {
        let (windows, at) = self.scene(now);
        let asked = windows.penalty(&at).map(|path| path.0);
        let intact = |id: &u8| self.subflows.get(usize::from(*id)).is_some_and(|s| s.mode == Mode::Open);
        let Some(id) = asked.filter(intact) else { return false };
        let due = self.shared.head_of_line.asked(now, self.windows.path(id));
        if due {
            self.penalise(now, id);
        }
        due
    }

    fn penalise(&mut self, now: Instant, id: u8) {
        let subflow = &mut self.subflows[usize::from(id)];
        subflow.stats.penalties += 1;
        let event = LossEvent { flight: subflow.in_flight(&self.config), highest: subflow.board.next() - 1 };
        self.tell_loss(now, id, event, LossTrigger::HeadOfLine);
    }
}
