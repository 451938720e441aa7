//! A radio with a heap for its alarms, and senders that always have packets.

use core::cmp::Reverse;
use core::time::Duration;
use std::collections::BinaryHeap;

use strandcast_proto::seeds::Seeds;
use strandcast_proto::time::Instant;
use strandcast_radio::{
    Alarm, Destination, FrameRecord, Position, Priority, Radio, RadioConfig, RadioEvent, RadioOutput,
    StationId,
};

/// A packet. The value of a packet is a number, from which the harness finds the next destination.
pub type Packet = u64;

/// A radio with an event heap like the simulator's. Events are ordered by time, and then by the order of their
/// requests.
pub struct Net {
    pub radio: Radio<Packet>,
    pub now: Instant,
    heap: BinaryHeap<Reverse<(Instant, u64, usize)>>,
    alarms: Vec<Alarm>,
    free: Vec<usize>,
    asked: u64,
    pub handled: u64,
    pub out: RadioOutput<Packet>,
    /// All events so far, each with its time.
    pub log: Vec<(Instant, RadioEvent<Packet>)>,
    pub keep_log: bool,
    /// Stations that always have a packet to send, with its destination and length.
    pub saturated: Vec<Option<(Destination, u32)>>,
    /// Next station of each station, if packets follow a chain.
    pub next: Vec<Option<(StationId, u32)>>,
    /// Number of packets received, by station.
    pub received: Vec<u64>,
    /// Number of packets acknowledged or broadcast, by sender.
    pub acknowledged: Vec<u64>,
    sent: u64,
}

impl Net {
    pub fn new(config: &RadioConfig, positions: &[(f64, f64)], seed: u64) -> Net {
        let places: Vec<Position> = positions.iter().map(|&(x, y)| Position { x, y }).collect();
        let n = places.len();
        let mut net = Net {
            radio: Radio::new(config, places, &Seeds::new(seed, 0), "radio"),
            now: Instant::ZERO,
            heap: BinaryHeap::new(),
            alarms: Vec::new(),
            free: Vec::new(),
            asked: 0,
            handled: 0,
            out: RadioOutput::default(),
            log: Vec::new(),
            keep_log: true,
            saturated: vec![None; n],
            next: vec![None; n],
            received: vec![0; n],
            acknowledged: vec![0; n],
            sent: 0,
        };
        net.radio.start(&mut net.out);
        net.take_output();
        net
    }

    pub fn record(mut self) -> Net {
        self.out.frames = Some(Vec::new());
        self
    }

    pub fn frames(&self) -> &[FrameRecord] {
        self.out.frames.as_deref().unwrap_or_default()
    }

    /// Keeps the queue of a station full for the whole run.
    pub fn saturate(&mut self, from: u32, to: Destination, bytes: u32) {
        self.saturated[from as usize] = Some((to, bytes));
        self.fill(StationId(from));
    }

    fn fill(&mut self, from: StationId) {
        let Some((to, bytes)) = self.saturated[from.0 as usize] else { return };
        // Two, so that one waits while the other is sent.
        while self.radio.room(from) > 48 {
            self.send(from.0, to, bytes);
        }
    }

    pub fn send(&mut self, from: u32, to: Destination, bytes: u32) {
        self.sent += 1;
        self.radio.send(self.now, StationId(from), to, (self.sent, bytes, Priority::Normal), &mut self.out);
        self.take_alarms();
    }

    pub fn unicast(&mut self, from: u32, to: u32, bytes: u32) {
        self.send(from, Destination::Station(StationId(to)), bytes);
    }

    pub fn take_alarms(&mut self) {
        for (at, alarm) in self.out.alarms.drain(..) {
            assert!(at >= self.now, "an alarm for the past");
            let slot = self.free.pop().unwrap_or_else(|| {
                self.alarms.push(alarm);
                self.alarms.len() - 1
            });
            self.alarms[slot] = alarm;
            self.asked += 1;
            self.heap.push(Reverse((at, self.asked, slot)));
        }
    }

    fn take_output(&mut self) {
        self.take_alarms();
        let mut events = core::mem::take(&mut self.out.events);
        for event in events.drain(..) {
            match &event {
                RadioEvent::Received(reception) => {
                    let at = reception.at.0 as usize;
                    self.received[at] += 1;
                    if let Some((to, bytes)) = self.next[at] {
                        let packet = (reception.packet, bytes, Priority::Normal);
                        self.radio.send(
                            self.now,
                            reception.at,
                            Destination::Station(to),
                            packet,
                            &mut self.out,
                        );
                    }
                }
                RadioEvent::Sent { from, .. } => {
                    self.acknowledged[from.0 as usize] += 1;
                    self.fill(*from);
                }
                RadioEvent::Failed { from, .. } => self.fill(*from),
                RadioEvent::Dropped { .. } => {}
            }
            if self.keep_log {
                self.log.push((self.now, event));
            }
        }
        if self.out.events.is_empty() {
            self.out.events = events;
        }
        self.take_alarms();
    }

    /// Handles one event. Returns `false` if no event is due until `end`.
    pub fn step(&mut self, end: Instant) -> bool {
        match self.heap.peek() {
            Some(Reverse((at, ..))) if *at <= end => {}
            _ => return false,
        }
        let Some(Reverse((at, _, slot))) = self.heap.pop() else { return false };
        self.now = at;
        self.handled += 1;
        self.free.push(slot);
        self.radio.handle_alarm(at, self.alarms[slot], &mut self.out);
        self.take_output();
        true
    }

    pub fn run(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.step(end) {}
        self.now = end;
    }
}

/// Returns positions on a line, `spacing` metres apart.
pub fn line(n: usize, spacing: f64) -> Vec<(f64, f64)> {
    (0..n).map(|i| (i as f64 * spacing, 0.0)).collect()
}

/// Returns positions on a circle. Any two are at most `2 * radius` apart.
pub fn circle(n: usize, radius: f64) -> Vec<(f64, f64)> {
    let angle = |i: usize| 2.0 * core::f64::consts::PI * i as f64 / n as f64;
    (0..n).map(|i| (radius * libm::cos(angle(i)), radius * libm::sin(angle(i)))).collect()
}

pub fn to(station: u32) -> Destination {
    Destination::Station(StationId(station))
}
