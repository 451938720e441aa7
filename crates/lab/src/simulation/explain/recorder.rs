//! Records the events that concern some messages of a flow.

mod drops;
mod known;
mod listen;

use std::collections::{BTreeMap, VecDeque};

use strandcast_proto::coding::Header;
use strandcast_proto::time::Instant;
use strandcast_radio::FrameRecord;
use strandcast_sim::host::{SymbolName, data_parts, symbol};
use strandcast_sim::net::{Agent, AgentId, Body, DirectedLinkId, FlowId, Framing, Packet, RadioId};

use super::blocks::Blocks;
use super::covered::Covered;
use super::explanation::{Explanation, Hold, MessageTrace, Outcome, Transmission};
use super::query::{ExplainError, FrameInfo, Query, base, frames_in, meant};
use super::span::{Missing, Unwrap};
use super::waits::Waits;
use crate::scenario::{App, Scenario, Transport};
use crate::simulation::{Names, Simulation};

/// Number of bytes at the beginning of each message of this project's SCTP flows. They contain number and submission
/// time.
const HEADER: usize = 16;
/// Maximum number of delivered messages that are stored because they blocked the receive window. If there are more,
/// only the half that blocked it longest is kept.
const MOST_HOLDERS: usize = 4096;

/// Follows messages of a flow from submission to delivery. If messages are delivered in order, it also follows earlier
/// messages for which they may wait. Until the messages are sent, it also records the conditions that hold the sender
/// back.
///
/// Until the requested messages are delivered, the explainer stores every message that has not been delivered yet. It
/// also stores some thousand messages that blocked the receive window, and a few bytes for each change of the reason
/// for waiting. Afterwards it stores only the requested messages and the messages for which they waited.
#[derive(Debug)]
pub struct Explainer {
    subject: Subject,
    names: Names,
    /// Highest TSN that was sent, and the message to which it belongs.
    tsn: Unwrap,
    highest: Option<u64>,
    current: u64,
    /// Number of bytes of a stream that were submitted, and number that were delivered.
    submitted: u64,
    delivered: u64,
    /// Number of submitted messages.
    handed_in: u64,
    waits: Waits,
    /// Number of the last requested message that is complete.
    last_complete: Option<u64>,
    /// Number of the message after the last delivered one. With delivery in order, it is the next message.
    next: u64,
    /// Number of stored messages that were delivered and had blocked the receive window.
    holders: usize,
    /// Messages of which no byte was sent. They are ordered by number, or by the position of their first byte.
    unsent: VecDeque<u64>,
    messages: BTreeMap<u64, Open>,
    /// Messages that were just dropped.
    dropped: Vec<u64>,
    covered: Covered,
    /// Sent parts of the followed messages: start, end, and number of the message.
    parts: BTreeMap<u64, (u64, u64)>,
    blocks: Blocks,
    flights: BTreeMap<u64, Flight>,
    /// Time at which each link's transmitter is free.
    free: Vec<Instant>,
    /// Number of the last packet that left a link.
    last_out: u64,
    /// Data frames that have just ended on the air.
    frames: Vec<(RadioId, FrameRecord)>,
}

/// Flow and messages that are followed.
#[derive(Debug)]
struct Subject {
    flow: FlowId,
    label: String,
    sender: AgentId,
    frame: Option<FrameInfo>,
    app: App,
    /// Numbers of the requested messages.
    first: u64,
    last: u64,
    /// True if messages wait for earlier messages.
    ordered: bool,
    /// True if the transport has no messages, only bytes.
    stream: bool,
}

/// A message that is followed.
#[derive(Debug)]
struct Open {
    explanation: MessageTrace,
    missing: Missing,
    /// True if all parts of the message are known.
    known: bool,
    /// True if a requested message waited for this one.
    blocks: bool,
    /// True if the message blocked the receive window.
    holds: bool,
    packets: Vec<u64>,
    /// Time at which the last new symbol of the message's coded blocks arrived.
    last_symbol: Option<Instant>,
}

/// A packet that is followed.
#[derive(Debug)]
struct Flight {
    path: u8,
    messages: Vec<u64>,
    parts: Vec<(u64, u64)>,
    transmission: Transmission,
    /// Link of each hop. `None`: the hop is over a radio.
    wires: Vec<Option<DirectedLinkId>>,
    /// First hop of each step of the route.
    steps: Vec<usize>,
}

impl Explainer {
    /// Creates a recorder for a run of `simulation`, which was built from `scenario`.
    ///
    /// # Errors
    /// [`ExplainError`].
    pub fn new(
        simulation: &Simulation,
        scenario: &Scenario,
        flow: &str,
        query: Query,
    ) -> Result<Self, ExplainError> {
        let unknown = || ExplainError::UnknownFlow {
            name: flow.to_owned(),
            known: simulation.flows.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(", "),
        };
        let index = simulation.flows.iter().position(|f| f.name == flow).ok_or_else(unknown)?;
        let said = &scenario.flows[&base(scenario, flow).ok_or_else(unknown)?];
        let stream = matches!(said.transport, Transport::Tcp { .. } | Transport::Mptcp { .. });
        if stream && matches!(said.app, App::Bulk { .. } | App::Finite { .. }) {
            return Err(ExplainError::NoMessages(flow.to_owned()));
        }
        let meant = meant(&said.app, flow, query, scenario.run.time)?;
        let udp = matches!(said.transport, Transport::Udp { .. });
        let expires = matches!(&said.app, App::Video(video) if video.expire);
        Ok(Explainer {
            subject: Subject {
                flow: FlowId(index as u32),
                label: flow.to_owned(),
                sender: simulation.flows[index].sender,
                frame: meant.frame,
                app: said.app.clone(),
                first: *meant.messages.start(),
                last: *meant.messages.end(),
                ordered: !udp && !expires,
                stream,
            },
            names: simulation.names(),
            tsn: Unwrap::default(),
            highest: None,
            current: 0,
            submitted: 0,
            delivered: 0,
            handed_in: 0,
            waits: Waits::default(),
            last_complete: None,
            next: 0,
            holders: 0,
            unsent: VecDeque::new(),
            messages: BTreeMap::new(),
            dropped: Vec::new(),
            covered: Covered::default(),
            parts: BTreeMap::new(),
            blocks: Blocks::default(),
            flights: BTreeMap::new(),
            free: Vec::new(),
            last_out: u64::MAX,
            frames: Vec::new(),
        })
    }

    /// Returns the result of the recording. Called after the end of the run.
    pub fn explanation(mut self) -> Explanation {
        self.waits.end(self.names.end);
        let messages = core::mem::take(&mut self.messages);
        let (asked, others): (Vec<_>, Vec<_>) = messages
            .into_iter()
            .partition(|(number, _)| (self.subject.first..=self.subject.last).contains(number));
        let (blockers, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, open)| open.blocks);
        let all = |open: Vec<(u64, Open)>| -> Vec<MessageTrace> {
            open.into_iter().map(|(_, open)| self.told(open)).collect()
        };
        let messages = all(asked);
        let holds = self.holds(&messages);
        let named = |number| holds.iter().any(|hold: &Hold| hold.behind == Some(number));
        let holders = all(others.into_iter().filter(|(number, _)| named(*number)).collect());
        Explanation {
            blockers: all(blockers),
            holders,
            holds,
            messages,
            flow: self.subject.label.clone(),
            frame: self.subject.frame,
            submitted: self.handed_in,
            frames: frames_in(&self.subject.app, self.handed_in),
            origin: self.names.origin,
            end: self.names.end,
        }
    }

    fn submit(&mut self, now: Instant, number: u64, bytes: u32) {
        let from = if self.subject.stream { self.submitted } else { number };
        self.submitted += u64::from(bytes);
        self.handed_in += 1;
        self.blocks.submit(number, bytes);
        if self.subject.stream {
            self.waits.begin(from, number);
        }
        let ahead = self.unsent.len() as u64;
        self.unsent.push_back(from);
        if number > self.subject.last || (number < self.subject.first && !self.subject.ordered) {
            return;
        }
        let explanation = MessageTrace {
            number,
            bytes,
            created: now,
            taken: now,
            ahead,
            transmissions: Vec::new(),
            complete: None,
            delivered: None,
            recovered: false,
            dropped: None,
            blocks: None,
        };
        let mut open = Open {
            explanation,
            missing: Missing::default(),
            known: self.subject.stream,
            blocks: false,
            holds: false,
            packets: Vec::new(),
            last_symbol: None,
        };
        if self.subject.stream {
            open.missing.add(from, self.submitted);
            self.parts.insert(from, (self.submitted, number));
        }
        self.messages.insert(number, open);
    }

    /// Returns the parts of followed messages that a packet of the sender carries. The result also has the first symbol
    /// in the packet.
    fn parts_of(&mut self, packet: &Packet) -> (Vec<(u64, u64)>, Option<SymbolName>) {
        let Some(bytes) = packet.body.sctp() else { return (self.other_parts_of(&packet.body), None) };
        let (mut parts, mut name) = (Vec::new(), None);
        for part in data_parts(bytes) {
            let tsn = self.tsn.long(part.chunk.tsn);
            let (header, data) = symbol(packet.meta.framing, &part);
            if self.highest.is_none_or(|highest| tsn > highest) {
                self.highest = Some(tsn);
                match header.filter(|header| SymbolName::of(header).is_repair()) {
                    _ if packet.meta.framing == Framing::Blocks => {}
                    Some(header) => self.covered.repair(tsn, &header),
                    None if part.begins && data.len() < HEADER => {}
                    None => self.chunk(tsn, (part.begins, part.ends), data, header.as_ref()),
                }
            }
            name = name.or(header.as_ref().map(SymbolName::of));
            parts.push((tsn, tsn + 1));
        }
        (parts, name)
    }

    fn other_parts_of(&mut self, body: &Body) -> Vec<(u64, u64)> {
        match body {
            Body::Tcp(segment) if segment.len > 0 => {
                let end = segment.data_seq + u64::from(segment.len);
                self.begun(end);
                vec![(segment.data_seq, end)]
            }
            Body::Udp(datagram) => {
                let number = datagram.message;
                self.begun(number + 1);
                self.part(number, (number, number + 1), true);
                vec![(number, number + 1)]
            }
            _ => Vec::new(),
        }
    }

    /// Records a chunk that is sent for the first time. TSNs of these calls ascend. A keep-alive message is shorter
    /// than any other message.
    fn chunk(&mut self, tsn: u64, (begins, ends): (bool, bool), data: &[u8], header: Option<&Header>) {
        if begins && let Some((number, rest)) = data.split_first_chunk::<8>() {
            self.current = u64::from_be_bytes(*number);
            self.begun(self.current + 1);
            self.waits.begin(tsn, self.current);
            let open = self.messages.get_mut(&self.current);
            if let (Some(open), Some(created)) = (open, rest.first_chunk::<8>()) {
                open.explanation.created = Instant::from_nanos(u64::from_be_bytes(*created));
            }
            if let Some(header) = header.filter(|_| self.messages.contains_key(&self.current)) {
                self.covered.source(header, self.current);
            }
        }
        self.part(self.current, (tsn, tsn + 1), ends);
    }

    fn part(&mut self, number: u64, (start, end): (u64, u64), last: bool) {
        let Some(open) = self.messages.get_mut(&number) else { return };
        open.missing.add(start, end);
        open.known |= last;
        self.parts.insert(start, (end, number));
    }

    /// Records that all messages that start before `end` have been sent, at least in part.
    fn begun(&mut self, end: u64) {
        while self.unsent.pop_front_if(|from| *from < end).is_some() {}
    }

    /// Followed messages with data in `start..end`, in order.
    fn owners(&self, start: u64, end: u64) -> Vec<u64> {
        if let Some(covered) = self.covered.by(start) {
            return covered.iter().copied().filter(|number| self.messages.contains_key(number)).collect();
        }
        let before = self.parts.range(..end).rev();
        let mut found: Vec<u64> =
            before.take_while(|(_, (to, _))| *to > start).map(|(_, (_, number))| *number).collect();
        found.reverse();
        found
    }

    /// Records a packet that arrived at its destination.
    fn receive(&mut self, now: Instant, new: bool) {
        let Some(flight) = self.flights.get_mut(&self.last_out) else { return };
        if flight.transmission.outcome != Outcome::UnderWay {
            return;
        }
        flight.transmission.outcome = if new { Outcome::Arrived(now) } else { Outcome::Duplicate(now) };
        let (owners, parts) = (flight.messages.clone(), flight.parts.clone());
        for number in owners {
            let Some(open) = self.messages.get_mut(&number) else { continue };
            if open.explanation.blocks.is_some() && new {
                open.last_symbol = Some(now);
                if number >= self.subject.first {
                    self.mark_blockers(number);
                }
                continue;
            }
            parts.iter().for_each(|&(start, end)| open.missing.remove(start, end));
            if open.known && open.missing.is_empty() && open.explanation.complete.is_none() {
                open.explanation.complete = Some(now);
                self.last_complete = self.last_complete.max(Some(number));
                if number >= self.subject.first {
                    self.mark_blockers(number);
                }
            }
        }
    }

    /// Records that a requested message is complete. Marks the earlier incomplete messages for which it waits.
    fn mark_blockers(&mut self, number: u64) {
        for (_, open) in self.messages.range_mut(..number) {
            open.blocks |= open.explanation.complete.is_none();
        }
    }

    fn deliver(&mut self, now: Instant, number: u64) {
        self.next = number + 1;
        self.blocks.deliver(number);
        let by = self.flights.get(&self.last_out).is_some_and(|flight| flight.messages.contains(&number));
        let Some(open) = self.messages.get_mut(&number) else { return };
        open.explanation.delivered.get_or_insert(now);
        if open.explanation.blocks.is_some() {
            open.explanation.complete = open.last_symbol.filter(|_| !by).or(Some(now));
        } else if open.explanation.complete.is_none() && self.covered.repairs() {
            (open.explanation.complete, open.explanation.recovered) = (Some(now), true);
        }
        if number >= self.subject.first || open.blocks {
            return;
        }
        if !open.holds {
            self.forget(number);
            return;
        }
        self.holders += 1;
        if self.holders > MOST_HOLDERS {
            self.forget_holders();
        }
    }

    /// Drops half of the messages that blocked the receive window. The messages that blocked it for the shortest time
    /// are dropped.
    fn forget_holders(&mut self) {
        for (number, _) in self.waits.heads().into_iter().skip(MOST_HOLDERS / 2) {
            let open = self.messages.get(&number);
            if open.is_some_and(|open| open.holds && !open.blocks && open.explanation.delivered.is_some()) {
                self.holders -= 1;
                self.forget(number);
            }
        }
    }

    /// Records the state of the sender. The sender has sent everything that it may send.
    fn stands(&mut self, now: Instant, agent: &dyn Agent) {
        self.waits.look_at_timers(now, agent);
        let asked = self.messages.get(&self.subject.last);
        if asked.is_some_and(|open| open.explanation.complete.is_some()) {
            self.waits.end(now);
            return;
        }
        let Some(standing) = agent.standing(now) else { return };
        let unacknowledged = standing.unacknowledged.map(|first| match self.subject.stream {
            true => first,
            false => self.tsn.long(first as u32),
        });
        let (messages, last, next) = (&self.messages, self.last_complete, self.next);
        let overtaken = |number: &u64| {
            let open = messages.get(number);
            last > Some(*number) && open.is_some_and(|open| open.explanation.complete.is_none())
        };
        // The first message that is not acknowledged may have arrived while its acknowledgement is in transit.
        let blamed = |first| [first, next].into_iter().find(overtaken);
        let meta = self.waits.stands(now, standing.held, unacknowledged, blamed);
        if let Some(open) = meta.and_then(|meta| self.messages.get_mut(&meta)) {
            open.holds = true;
        }
    }

    /// Records that further bytes of a stream were delivered.
    fn progress(&mut self, now: Instant, bytes: u64) {
        self.delivered += bytes;
        let whole = self.parts.values().take_while(|(end, _)| *end <= self.delivered);
        for number in whole.map(|(_, number)| *number).collect::<Vec<_>>() {
            self.deliver(now, number);
        }
    }

    fn forget(&mut self, number: u64) {
        let Some(open) = self.messages.remove(&number) else { return };
        self.parts.retain(|_, (_, owner)| *owner != number);
        self.covered.forget(number);
        for packet in open.packets {
            if let Some(flight) = self.flights.get_mut(&packet) {
                flight.messages.retain(|owner| *owner != number);
                if flight.messages.is_empty() {
                    self.flights.remove(&packet);
                }
            }
        }
    }
}
