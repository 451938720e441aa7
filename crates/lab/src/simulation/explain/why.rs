//! Causes of delay, derived from recorded events.

use core::time::Duration;
use std::collections::BTreeMap;

use strandcast_proto::association::HeldBy;
use strandcast_proto::time::Instant;

use super::explanation::{Explanation, Hold, MessageTrace, Outcome, Transmission};

/// Least share of a message's wait in its host that a cause must have to be listed. Smaller causes are left out.
const MIN_SHARE: f64 = 0.01;

/// Kind of a cause of delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CauseKind {
    /// A condition held the sender back.
    Held(HeldBy),
    /// The send buffer was full of data that were sent and not acknowledged.
    SendBuffer,
    /// A part of the message was sent and did not arrive. The wait ends when that part was sent again.
    Retransmission,
    /// A part of the message was sent and did not arrive. The wait ends when repair symbols that cover it were sent.
    Repair,
    /// Symbols of the message's coded block were sent. The wait ends when enough of them have arrived.
    Block,
    /// The message waited in queues of links.
    Queue,
    /// Time that the packet spent at the host, in serialisation and in propagation.
    Transit,
    /// The message had arrived, but an earlier message had not.
    HeadOfLine,
}

/// A cause of a part of a message's delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Kind of the cause.
    pub kind: CauseKind,
    /// Time at which the cause first applied.
    pub from: Instant,
    /// Time at which the cause last applied.
    pub to: Instant,
    /// Duration of the wait. If there were other causes in between, it is shorter than the time from `from` to `to`.
    pub time: Duration,
    /// Message that caused the wait. The message is an earlier message, or this message itself after it had been sent.
    /// If several messages caused it, this is the one for which the message waited longest.
    pub message: Option<u64>,
    /// Time for which that message caused the wait.
    pub longest: Duration,
    /// Number of messages that caused the wait, one after the other.
    pub messages: usize,
    /// Paths whose full congestion windows limited the sender.
    pub full: Vec<String>,
    /// Paths that had room for another packet.
    pub open: Vec<String>,
}

impl Cause {
    fn new(kind: CauseKind, from: Instant, to: Instant, message: Option<u64>) -> Self {
        let (time, messages) = (to - from, usize::from(message.is_some()));
        let (full, open) = (Vec::new(), Vec::new());
        Cause { kind, from, to, time, message, longest: time, messages, full, open }
    }
}

impl MessageTrace {
    /// Transmission that completed the message. `None`: the message was never complete.
    pub fn completed_by(&self) -> Option<&Transmission> {
        let complete = self.complete?;
        self.transmissions.iter().find(|t| t.outcome == Outcome::Arrived(complete))
    }

    /// Time at which the whole message had been sent for the first time. For a message in blocks, it is the time of the
    /// first symbol of these blocks.
    fn begun(&self) -> Option<Instant> {
        if self.blocks.is_some() {
            return self.transmissions.first().map(|t| t.sent);
        }
        self.own().filter(|t| t.nth == 1).map(|t| t.sent).max()
    }
}

impl Explanation {
    /// A message whose whole history is recorded.
    pub fn message(&self, number: u64) -> Option<&MessageTrace> {
        let all = self.messages.iter().chain(&self.blockers).chain(&self.holders);
        all.into_iter().find(|message| message.number == number)
    }

    /// Causes of the time from the submission of `message` to its delivery, in order of time. Reasons that took less
    /// than a hundredth of the message's wait in its host are left out.
    pub fn why(&self, message: &MessageTrace) -> Vec<Cause> {
        // If data never arrived, the time ends when they were due, or with the run.
        let last = self.due().map_or(self.end, |due| due.min(self.end)).max(message.created);
        let begun = message.begun();
        let dropped = message.dropped.as_ref().map(|dropped| dropped.at);
        let mut causes = self.in_host(message, begun.or(message.complete).or(dropped).unwrap_or(last));
        let me = Some(message.number);
        let mut add = |kind, from: Instant, to: Instant, of| {
            if to > from {
                causes.push(Cause::new(kind, from, to, of));
            }
        };
        match (begun, message.completed_by(), message.complete) {
            (Some(begun), Some(last), Some(complete)) => {
                let kind = match message.blocks {
                    Some(_) => CauseKind::Block,
                    None if message.recovered => CauseKind::Repair,
                    None => CauseKind::Retransmission,
                };
                add(kind, begun, last.sent, me);
                let queued = last.sent + last.queued();
                add(CauseKind::Queue, last.sent, queued, me);
                add(CauseKind::Transit, queued, complete, me);
            }
            (Some(begun), ..) if message.losses() > 0 => {
                add(CauseKind::Retransmission, begun, dropped.unwrap_or(last).max(begun), me);
            }
            _ => {}
        }
        if let (Some(complete), Some(blocker)) = (message.complete, self.blocker_of(message)) {
            let until = message.delivered.unwrap_or(self.end);
            add(CauseKind::HeadOfLine, complete, until, Some(blocker.number));
        }
        causes
    }

    /// Conditions that held the sender back. They cover the time from the submission of the message to `until`, when
    /// the whole message had been sent.
    fn in_host(&self, message: &MessageTrace, until: Instant) -> Vec<Cause> {
        let wait = until - message.created;
        let mut all: Vec<Waited> = Vec::new();
        for hold in &self.holds {
            let (from, to) = (hold.from.max(message.created), hold.to.min(until));
            if to > from {
                match all.iter_mut().find(|waited| waited.is_of(hold)) {
                    Some(waited) => waited.add(hold, to - from, to),
                    None => all.push(Waited::new(hold, from, to)),
                }
            }
        }
        let mut causes: Vec<Cause> = all.into_iter().map(Waited::cause).collect();
        let held: Duration = causes.iter().map(|cause| cause.time).sum();
        // If no data wait in the transport and it does not accept more, its buffer is full of data that were sent.
        let full = message.taken.min(until) - message.created;
        let unheld = wait.saturating_sub(held).min(full);
        if !unheld.is_zero() {
            let buffer = Cause::new(CauseKind::SendBuffer, message.created, message.taken, None);
            causes.insert(0, Cause { time: unheld, ..buffer });
        }
        causes.retain(|cause| cause.time.as_secs_f64() >= MIN_SHARE * wait.as_secs_f64());
        causes
    }
}

/// Waits with the same cause.
struct Waited {
    cause: Cause,
    /// Time for which each earlier message caused the wait.
    behind: BTreeMap<u64, Duration>,
}

impl Waited {
    fn new(hold: &Hold, from: Instant, to: Instant) -> Self {
        let cause = Cause::new(CauseKind::Held(hold.by), from, to, None);
        let cause = Cause { full: hold.full.clone(), open: hold.open.clone(), ..cause };
        Waited { cause, behind: hold.behind.map(|number| (number, to - from)).into_iter().collect() }
    }

    fn is_of(&self, hold: &Hold) -> bool {
        let Cause { kind, full, open, .. } = &self.cause;
        let window = hold.by == HeldBy::ReceiveWindow;
        *kind == CauseKind::Held(hold.by)
            && self.behind.is_empty() == hold.behind.is_none()
            && (window || (*full == hold.full && *open == hold.open))
    }

    fn add(&mut self, hold: &Hold, time: Duration, to: Instant) {
        self.cause.to = to;
        self.cause.time += time;
        if let Some(number) = hold.behind {
            *self.behind.entry(number).or_default() += time;
        }
        // At other times, other paths have room. The window is what counts.
        self.cause.open.retain(|path| hold.open.contains(path));
        self.cause.full.retain(|path| hold.full.contains(path));
    }

    fn cause(self) -> Cause {
        let longest = self.behind.iter().max_by_key(|(number, time)| (**time, core::cmp::Reverse(**number)));
        let (message, time) =
            longest.map_or((None, self.cause.time), |(number, time)| (Some(*number), *time));
        Cause { message, longest: time, messages: self.behind.len(), ..self.cause }
    }
}
