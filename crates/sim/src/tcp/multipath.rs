//! State that the subflows of a connection share: the scheduler, copies, reinjections, and the remedy for a full
//! receive window.

use strandcast_proto::policy::{Backlog, Holder, LossTrigger, PathId, PathSet};
use strandcast_proto::time::Instant;

use super::schedule::Choice;
use super::scoreboard::Record;
use super::segment::Segment;
use super::sender::{Limit, Sender};
use super::subflow::{LossEvent, Mode, Phase, Subflow};

/// Number of bytes that an endless application offers. Schedulers can add to it without overflow.
const ENDLESS: u64 = 1 << 40;

impl Sender {
    /// Returns the subflows whose windows have room for `len` bytes now, except those in `tried`. A subflow in slow
    /// start after a timeout gets data of the connection only if it is the only subflow.
    pub(super) fn with_room(&self, len: u32, tried: PathSet) -> impl Iterator<Item = (u8, &Subflow)> {
        let open = || self.subflows.iter().zip(0..).filter(|(s, _)| s.phase == Phase::Open);
        let worst = open().all(|(s, _)| s.mode == Mode::Loss);
        open().filter_map(move |(s, id)| {
            let usable = !tried.contains(PathId(id)) && (worst || s.mode != Mode::Loss);
            (usable && s.has_room(len, self.windows.cwnd(usize::from(id)), &self.config)).then_some((id, s))
        })
    }

    /// Chooses a subflow for `len` bytes, except those in `tried`. Returns `None` if the data must wait.
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

    /// Handles a timeout of subflow `from`: other subflows also send its data in flight, once.
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

    /// Returns the next data that a second subflow must also send.
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

    /// Returns the next copy that a subflow with room must send. There are copies if the scheduler sends data on
    /// several subflows. Data that the receiver has acknowledged are skipped.
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

    /// Returns the subflow whose first segment is at the edge of the receive window.
    fn holder(&self) -> Option<(u8, &Record)> {
        let una = self.data_una;
        let holds = |r: &&Record| r.data_seq <= una && una < r.data_seq + u64::from(r.len);
        let mut subflows = self.subflows.iter().zip(0..);
        subflows.find_map(|(s, id)| s.board.front().filter(holds).map(|record| (id, record)))
    }

    /// Notifies the scheduler that the receive window blocks new data although a subflow has room. For any other
    /// `limit`, notifies it that this has ended.
    pub(super) fn note_blocked(&mut self, now: Instant, limit: Option<Limit>) {
        let full = limit == Some(Limit::ReceiveWindow);
        let holder = if full && self.windows.scheduling.is_some() { self.holder() } else { None };
        let first = holder.map(|(id, _)| (id, self.subflows[usize::from(id)].board.first()));
        if let Some(scheduling) = &mut self.windows.scheduling {
            scheduling.note_blocked(now, first);
        }
    }

    /// Handles a full receive window. The segment that blocks it is also sent on a much faster subflow with room, and
    /// the window of the blocking subflow is cut. [`HeadOfLine`](strandcast_proto::policy::HeadOfLine) decides on both
    /// by Linux's rules (mptcp_rcv_buf_optimization). The size of the cut is the congestion control's answer to a loss.
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

    /// Asks the scheduler which subflow to penalise, because data wait. The subflow's window is cut at most once per
    /// round trip of this subflow. Returns whether a window was cut.
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
