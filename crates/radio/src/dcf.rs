//! The distributed coordination function (DCF): contention, exchanges of frames, and retries.

use strandcast_proto::seeds::Random;
use strandcast_proto::time::Instant;

use crate::address::{Destination, StationId};
use crate::config::{Retries, Timeout};
use crate::frame::{ALL, Frame, FrameKind, FrameOutcome};
use crate::medium::Medium;
use crate::output::{Alarm, FrameRecord, RadioEvent, RadioOutput, Reception};
use crate::queue::{Duplicates, Packet, Queue};
use crate::receivers::FrameEnd;
use crate::rules::{CTS_BYTES, NEVER, RTS_BYTES};
use crate::station::{Exchange, NO_FRAME};

/// MAC state of a station in addition to its [`Station`](crate::station::Station).
#[derive(Debug)]
struct Node<P> {
    queue: Queue<P>,
    duplicates: Duplicates,
    /// Number of the packet that the station is sending.
    sequence: u32,
    short: u32,
    long: u32,
    /// Receiver of the CTS or ACK to be sent, and the duration field of that frame.
    answer: (u32, u64),
    /// True if data arrived while the station waited for a response. The ACK is then sent later.
    owes_ack: bool,
}

/// MAC state of all stations.
#[derive(Debug)]
pub(crate) struct Dcf<P> {
    pub medium: Medium,
    nodes: Vec<Node<P>>,
    random: Random,
    /// Buffer that is reused, so that its memory stays allocated.
    frame_ends: Vec<FrameEnd>,
}

impl<P: Clone> Dcf<P> {
    pub fn new(medium: Medium, random: Random) -> Self {
        let node = |_| Node {
            queue: Queue::new(),
            duplicates: Duplicates::default(),
            sequence: 0,
            short: 0,
            long: 0,
            answer: (ALL, 0),
            owes_ack: false,
        };
        let nodes = (0..medium.receivers.stations.len()).map(node).collect();
        Dcf { medium, nodes, random, frame_ends: Vec::new() }
    }

    /// Adds a packet to the interface queue of station `at`.
    pub fn enqueue(&mut self, now: Instant, at: u32, packet: Packet<P>, out: &mut RadioOutput<P>) {
        let limit = self.medium.receivers.rules.queue;
        let queue = &mut self.nodes[at as usize].queue;
        let first = queue.is_empty();
        if let Some((packet, cause)) = queue.push(packet, limit) {
            self.medium.receivers.counters[at as usize].queue_drops += 1;
            out.events.push(RadioEvent::Dropped { from: StationId(at), packet: packet.packet, cause });
        }
        if first {
            self.serve(at);
            self.contend(now.as_nanos(), at);
            self.medium.receivers.arm(at);
        }
    }

    /// Starts to send the next packet, unless a packet is being sent.
    fn serve(&mut self, at: u32) -> bool {
        let node = &mut self.nodes[at as usize];
        let fresh = node.queue.service.is_none();
        let served = node.queue.serve();
        if fresh && served {
            node.sequence += 1;
            if self.medium.receivers.rules.retries == Retries::Packet {
                (node.short, node.long) = (0, 0);
            }
        }
        served
    }

    /// Starts to contend for the medium, unless a backoff is pending.
    fn contend(&mut self, now: u64, at: u32) {
        let station = &mut self.medium.receivers.stations[at as usize];
        if station.backing_off() {
            return;
        }
        if self.medium.receivers.rules.immediate_access
            && station.access_now(now, &self.medium.receivers.rules)
        {
            return;
        }
        self.back_off(now, at);
    }

    /// Draws a backoff from the contention window.
    fn back_off(&mut self, now: u64, at: u32) {
        let slots = self.draw(at);
        self.medium.receivers.stations[at as usize].back_off(now, slots, &self.medium.receivers.rules);
    }

    fn draw(&mut self, at: u32) -> u32 {
        let most = self.medium.receivers.stations[at as usize].cw
            + u32::from(self.medium.receivers.rules.inclusive_draw);
        self.random.below(u64::from(most)) as u32
    }

    /// Handles the alarm for the timers that expire first. Timers that expire at one time are handled in the order of
    /// their stations.
    pub fn alarm(&mut self, now: u64, out: &mut RadioOutput<P>) {
        if !self.medium.receivers.timers.came(now) {
            return;
        }
        let mut next = 0;
        while let Some(at) = self.medium.receivers.timers.next_due(now, next) {
            self.due(now, at, out);
            self.medium.receivers.arm(at);
            next = at + 1;
        }
    }

    /// Requests an alarm for the timer that expires first.
    pub fn ask(&mut self, out: &mut RadioOutput<P>) {
        if let Some(at) = self.medium.receivers.timers.ask() {
            out.alarms.push((Instant::from_nanos(at), Alarm::Timer));
        }
    }

    /// Handles the expiry of a station's timer.
    fn due(&mut self, now: u64, at: u32, out: &mut RadioOutput<P>) {
        let station = &mut self.medium.receivers.stations[at as usize];
        if station.deadline > now {
            // The table contained an earlier time: see `Receivers::meet`.
            return;
        }
        station.deadline = NEVER;
        match station.exchange {
            Exchange::None => self.access(now, at, out),
            Exchange::CtsDue | Exchange::DataDue | Exchange::AckDue => self.respond(now, at, out),
            Exchange::AwaitCts | Exchange::AwaitAck => {
                // In `Timeout::Start`, the station waits for the end of a frame that has begun.
                if self.medium.receivers.rules.timeout == Timeout::Whole || station.frame == NO_FRAME {
                    self.unanswered(now, at, out);
                    self.settle(now, at);
                }
            }
            Exchange::AwaitData => {
                station.exchange = Exchange::None;
                self.settle(now, at);
            }
            Exchange::Sending => {}
        }
    }

    /// Handles the end of a backoff, after which the station may transmit its packet.
    fn access(&mut self, now: u64, at: u32, out: &mut RadioOutput<P>) {
        if self.medium.receivers.stations[at as usize].undrawn() {
            let slots = self.draw(at);
            if !self.medium.receivers.stations[at as usize].draw_late(
                now,
                slots,
                &self.medium.receivers.rules,
            ) {
                return;
            }
        }
        self.medium.receivers.stations[at as usize].backoff_done();
        if !self.serve(at) {
            return;
        }
        let Some(packet) = &self.nodes[at as usize].queue.service else { return };
        let (to, bytes, rules) = (packet.to, packet.bytes, &self.medium.receivers.rules);
        if to == ALL {
            return self.transmit(now, at, FrameKind::Broadcast, to, 0, out);
        }
        if bytes <= rules.rts_threshold {
            return self.transmit_data(now, at, out);
        }
        let data = rules.airtime(bytes, rules.data_rate);
        let nav = rules.field(3 * rules.sifs + 2 * rules.cts + data);
        self.transmit(now, at, FrameKind::Rts, to, nav, out);
    }

    /// Transmits the packet that the station is sending.
    fn transmit_data(&mut self, now: u64, at: u32, out: &mut RadioOutput<P>) {
        let Some(packet) = &self.nodes[at as usize].queue.service else { return };
        let nav = self
            .medium
            .receivers
            .rules
            .field(self.medium.receivers.rules.sifs + self.medium.receivers.rules.cts);
        let to = packet.to;
        self.transmit(now, at, FrameKind::Data, to, nav, out);
    }

    /// Starts the transmission of a frame.
    fn transmit(
        &mut self,
        now: u64,
        from: u32,
        kind: FrameKind,
        to: u32,
        nav: u64,
        out: &mut RadioOutput<P>,
    ) {
        let (node, rules) = (&self.nodes[from as usize], &self.medium.receivers.rules);
        let (data_bytes, queued) = match &node.queue.service {
            Some(packet) => (packet.bytes, packet.queued),
            None => (0, Instant::ZERO),
        };
        let (bytes, rate) = match kind {
            FrameKind::Rts => (RTS_BYTES, rules.basic_rate),
            FrameKind::Cts | FrameKind::Ack => (CTS_BYTES, rules.basic_rate),
            FrameKind::Data => (data_bytes, rules.data_rate),
            FrameKind::Broadcast => (data_bytes, rules.basic_rate),
        };
        let airtime = rules.airtime(bytes, rate);
        let counters = &mut self.medium.receivers.counters[from as usize];
        *counters.sent(kind) += 1;
        counters.transmit_time += core::time::Duration::from_nanos(airtime);
        let (end, sequence) = (now + airtime, node.sequence);
        let outcome = if kind == FrameKind::Broadcast { FrameOutcome::Received } else { FrameOutcome::Weak };
        let frame =
            Frame { start: now, end, nav, from, to, bytes, sequence, queued, kind, rate, outcome, list: 0 };
        self.medium.receivers.stations[from as usize].exchange = Exchange::Sending;
        let id = self.medium.begin(now, frame);
        out.alarms.push((Instant::from_nanos(end), Alarm::Frame(id)));
        self.hear(now, out);
    }

    /// Sends the pending CTS or ACK, SIFS after a frame.
    fn respond(&mut self, now: u64, at: u32, out: &mut RadioOutput<P>) {
        let station = &self.medium.receivers.stations[at as usize];
        let (to, nav) = self.nodes[at as usize].answer;
        let busy = self.medium.receivers.rules.sense_before_response && station.senses(now);
        match station.exchange {
            Exchange::AckDue => self.transmit(now, at, FrameKind::Ack, to, 0, out),
            Exchange::CtsDue if !busy => self.transmit(now, at, FrameKind::Cts, to, nav, out),
            Exchange::DataDue if !busy => self.transmit_data(now, at, out),
            Exchange::DataDue => {
                // ns-2 starts again with an RTS, without counting a retry.
                self.medium.receivers.stations[at as usize].exchange = Exchange::None;
                self.widen(at);
                self.back_off(now, at);
                self.settle(now, at);
            }
            _ => {
                self.medium.receivers.stations[at as usize].exchange = Exchange::None;
                self.settle(now, at);
            }
        }
    }

    /// Handles the end of a frame.
    pub fn frame_ends(&mut self, now: u64, id: u32, out: &mut RadioOutput<P>) {
        self.medium.end(now, id);
        self.hear(now, out);
        let frame = *self.medium.receivers.frames.get(id);
        self.sent(now, &frame, out);
        if let Some(frames) = &mut out.frames {
            frames.push(FrameRecord {
                kind: frame.kind,
                from: StationId(frame.from),
                to: Destination::of(frame.to),
                start: Instant::from_nanos(frame.start),
                end: Instant::from_nanos(frame.end),
                bytes: frame.bytes,
                rate: frame.rate,
                outcome: frame.outcome,
            });
        }
        self.medium.receivers.frames.release(id);
    }

    /// Continues an exchange of frames at the station that transmitted `frame`.
    fn sent(&mut self, now: u64, frame: &Frame, out: &mut RadioOutput<P>) {
        let (at, rules) = (frame.from, &self.medium.receivers.rules);
        let response_by = now + rules.response_timeout(rules.cts);
        // The data, and the difference between a timeout and its frame.
        let data_by =
            (now + frame.nav + rules.response_timeout(0)).saturating_sub(2 * rules.sifs + rules.cts);
        let station = &mut self.medium.receivers.stations[at as usize];
        match frame.kind {
            FrameKind::Rts => station.enter(Exchange::AwaitCts, response_by),
            FrameKind::Data => station.enter(Exchange::AwaitAck, response_by),
            FrameKind::Cts if rules.data_needs_cts => station.enter(Exchange::AwaitData, data_by),
            FrameKind::Cts | FrameKind::Ack => station.exchange = Exchange::None,
            FrameKind::Broadcast => return self.done(now, at, out),
        }
        self.settle(now, at);
    }

    /// Handles the ends of frames that were collected.
    fn hear(&mut self, now: u64, out: &mut RadioOutput<P>) {
        if self.medium.receivers.frame_ends.is_empty() {
            return;
        }
        core::mem::swap(&mut self.frame_ends, &mut self.medium.receivers.frame_ends);
        for i in 0..self.frame_ends.len() {
            let end = self.frame_ends[i];
            self.handle(now, end, out);
            self.settle(now, end.at);
        }
        self.frame_ends.clear();
    }

    /// Handles a frame at a station that received it. Either the frame has no errors and is for this station, or the
    /// station waits for a response.
    fn handle(&mut self, now: u64, end: FrameEnd, out: &mut RadioOutput<P>) {
        let FrameEnd { at, frame: id, good } = end;
        let frame = *self.medium.receivers.frames.get(id);
        let exchange = self.medium.receivers.stations[at as usize].exchange;
        match (exchange, frame.kind) {
            (Exchange::AwaitCts, FrameKind::Cts) if good => return self.cleared(now, at),
            (Exchange::AwaitAck, FrameKind::Ack) if good => return self.done(now, at, out),
            (Exchange::AwaitCts | Exchange::AwaitAck, _)
                if self.medium.receivers.rules.timeout == Timeout::Start =>
            {
                self.unanswered(now, at, out);
            }
            _ => {}
        }
        if !good {
            return;
        }
        let took = match frame.kind {
            FrameKind::Broadcast => {
                self.deliver(at, &frame, out);
                true
            }
            FrameKind::Rts => self.requested(now, at, &frame),
            FrameKind::Data => self.data(now, at, &frame, out),
            FrameKind::Cts | FrameKind::Ack => false,
        };
        if !took {
            self.medium.receivers.frames.get_mut(id).outcome = FrameOutcome::Refused;
        }
    }

    /// Handles an RTS. A CTS follows if the station is in no exchange of frames and its NAV is not set.
    fn requested(&mut self, now: u64, at: u32, frame: &Frame) -> bool {
        let rules = &self.medium.receivers.rules;
        let station = &mut self.medium.receivers.stations[at as usize];
        if station.exchange != Exchange::None || (!rules.sense_before_response && station.nav() > now) {
            return false;
        }
        let nav = rules.field(frame.nav.saturating_sub(rules.sifs + rules.cts));
        self.nodes[at as usize].answer = (frame.from, nav);
        station.respond(now, Exchange::CtsDue, rules);
        true
    }

    /// Handles a data frame. An ACK follows even if the data are a duplicate.
    fn data(&mut self, now: u64, at: u32, frame: &Frame, out: &mut RadioOutput<P>) -> bool {
        let rules = &self.medium.receivers.rules;
        let station = &mut self.medium.receivers.stations[at as usize];
        let node = &mut self.nodes[at as usize];
        let long = frame.bytes > rules.rts_threshold;
        if long && rules.data_needs_cts && station.exchange != Exchange::AwaitData {
            return false;
        }
        match station.exchange {
            Exchange::None | Exchange::AwaitData => station.respond(now, Exchange::AckDue, rules),
            Exchange::AwaitCts | Exchange::AwaitAck if !node.owes_ack => node.owes_ack = true,
            _ => return false,
        }
        node.answer = (frame.from, 0);
        if node.duplicates.seen(frame.from, frame.sequence) {
            self.medium.receivers.counters[at as usize].duplicates += 1;
        } else {
            self.deliver(at, frame, out);
        }
        true
    }

    /// Delivers a packet to the caller.
    fn deliver(&mut self, at: u32, frame: &Frame, out: &mut RadioOutput<P>) {
        let Some(packet) = &self.nodes[frame.from as usize].queue.service else { return };
        self.medium.receivers.counters[at as usize].received += 1;
        out.events.push(RadioEvent::Received(Reception {
            at: StationId(at),
            from: StationId(frame.from),
            broadcast: frame.to == ALL,
            queued: frame.queued,
            packet: packet.packet.clone(),
        }));
    }

    /// Handles a CTS, after which data are sent.
    fn cleared(&mut self, now: u64, at: u32) {
        if self.medium.receivers.rules.retries == Retries::Station {
            self.nodes[at as usize].short = 0;
        }
        self.medium.receivers.stations[at as usize].respond(
            now,
            Exchange::DataDue,
            &self.medium.receivers.rules,
        );
    }

    /// Completes the packet being sent, because it was acknowledged or broadcast.
    fn done(&mut self, now: u64, at: u32, out: &mut RadioOutput<P>) {
        let (node, rules) = (&mut self.nodes[at as usize], &self.medium.receivers.rules);
        let Some(packet) = node.queue.service.take() else { return };
        if packet.to != ALL {
            match packet.bytes > rules.rts_threshold {
                true => node.long = 0,
                false => node.short = 0,
            }
        }
        out.events.push(RadioEvent::Sent { from: StationId(at), to: Destination::of(packet.to) });
        let station = &mut self.medium.receivers.stations[at as usize];
        station.cw = self.medium.receivers.rules.cw_min;
        station.exchange = Exchange::None;
        self.back_off(now, at);
        self.serve(at);
        self.settle(now, at);
    }

    /// Handles a missing CTS or ACK.
    fn unanswered(&mut self, now: u64, at: u32, out: &mut RadioOutput<P>) {
        let (node, rules) = (&mut self.nodes[at as usize], &self.medium.receivers.rules);
        let station = &mut self.medium.receivers.stations[at as usize];
        let awaited = core::mem::replace(&mut station.exchange, Exchange::None);
        station.deadline = NEVER;
        self.medium.receivers.counters[at as usize].retries += 1;
        let Some(packet) = &node.queue.service else { return };
        let long = awaited == Exchange::AwaitAck && packet.bytes > rules.rts_threshold;
        let (count, limit) = match long {
            true => (&mut node.long, rules.long_limit),
            false => (&mut node.short, rules.short_limit),
        };
        *count += 1;
        if *count >= limit {
            *count = 0;
            return self.give_up(now, at, out);
        }
        self.widen(at);
        self.back_off(now, at);
    }

    /// Abandons the packet being sent. The next packet is sent only after its backoff. The caller can therefore
    /// withdraw other packets for this station before.
    fn give_up(&mut self, now: u64, at: u32, out: &mut RadioOutput<P>) {
        let node = &mut self.nodes[at as usize];
        let Some(Packet { to, packet, .. }) = node.queue.service.take() else { return };
        let waiting = !node.queue.is_empty();
        self.medium.receivers.counters[at as usize].failures += 1;
        out.events.push(RadioEvent::Failed { from: StationId(at), to: StationId(to), packet });
        self.medium.receivers.stations[at as usize].cw = self.medium.receivers.rules.cw_min;
        if waiting || self.medium.receivers.rules.immediate_access {
            self.back_off(now, at);
        }
    }

    /// Increases the contention window after a failed attempt.
    fn widen(&mut self, at: u32) {
        let station = &mut self.medium.receivers.stations[at as usize];
        station.cw = (2 * station.cw + 1).min(self.medium.receivers.rules.cw_max);
    }

    /// Ends a step of an exchange of frames. The station sends a postponed ACK, or continues to contend.
    fn settle(&mut self, now: u64, at: u32) {
        let node = &mut self.nodes[at as usize];
        let station = &mut self.medium.receivers.stations[at as usize];
        if station.exchange == Exchange::None {
            if core::mem::take(&mut node.owes_ack) {
                station.respond(now, Exchange::AckDue, &self.medium.receivers.rules);
            } else if node.queue.service.is_some() && !station.backing_off() {
                self.back_off(now, at);
            }
        }
        self.medium.receivers.resume(now, at);
    }

    /// Removes and returns the next packet for `to` in the queue of `from`.
    pub fn take(&mut self, from: u32, to: StationId) -> Option<P> {
        self.nodes[from as usize].queue.take(to)
    }

    /// Returns the number of packets for which the interface queue has room.
    pub fn room(&self, at: u32) -> usize {
        self.medium.receivers.rules.queue.saturating_sub(self.nodes[at as usize].queue.len())
    }
}
