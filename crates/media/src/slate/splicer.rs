//! Joins the sender's stream and a slate.

use core::time::Duration;
use std::collections::VecDeque;

use super::counters::Counters;
use super::edit::{Bytes, carry, pcr_packet};
use super::gate::{Gate, Opening};
use super::kind::Slate;
use super::playing::{DATAGRAM, Out, Playing, Sink};
use super::source::Source;
use super::tables::{Completed, Table};
use super::version::VersionShift;
use crate::MediaTime;
use crate::ts::{PACKET_LEN, PAT_PID, Packet, Pcr, TABLE_PAT, TABLE_PMT};

/// Joins the packets of senders and a slate into one transport stream.
///
/// The splicer begins with the slate. A sender is played from its next key frame on. If 10 s pass without a key frame,
/// the sender is played anyway. The slate is played again when the sender has sent no packets for some time, or has
/// ended.
#[derive(Debug)]
pub struct Splicer {
    slate: Slate,
    after: Duration,
    counters: Counters,
    pat: Table,
    map: Table,
    shifts: [VersionShift; 2],
    source: Source,
    state: State,
    /// Time of the sender's last packet.
    last: MediaTime,
    /// Number of PCRs of the sender's first program since the sender plays.
    clocks: u32,
    queue: VecDeque<Vec<u8>>,
}

#[derive(Debug)]
enum State {
    Live,
    Slate(Box<Playing>, Gate),
}

impl Splicer {
    /// Begins with the slate at `now`. `after` is the time without packets after which the slate is played again.
    pub fn new(slate: Slate, after: Duration, now: MediaTime) -> Splicer {
        let mut splicer = Splicer {
            slate,
            after,
            counters: Counters::default(),
            pat: Table::default(),
            map: Table::default(),
            shifts: Default::default(),
            source: Source::default(),
            state: State::Live,
            last: now,
            clocks: 0,
            queue: VecDeque::new(),
        };
        splicer.play_slate(now);
        splicer
    }

    /// Returns whether the slate plays.
    pub fn plays_slate(&self) -> bool {
        matches!(self.state, State::Slate(..))
    }

    /// Accepts a message of the present sender, which has whole packets. Other bytes are left out.
    pub fn push(&mut self, now: MediaTime, message: &[u8]) {
        self.resume_slate(now);
        self.last = now;
        let mut message_out = Vec::with_capacity(message.len());
        for bytes in message.as_chunks::<PACKET_LEN>().0 {
            let Some(packet) = Packet::new(*bytes) else { continue };
            let completed = self.source.observe(&packet, now);
            match &mut self.state {
                State::Live => self.pass(&packet, completed, &mut message_out),
                State::Slate(_, gate) => {
                    if let Some(opening) = gate.push(&packet, now, &self.source) {
                        self.open(opening, now);
                    }
                }
            }
        }
        if !message_out.is_empty() {
            self.queue.push_back(message_out);
        }
    }

    /// Ends the present sender, because it has ended or another one begins.
    pub fn end(&mut self, now: MediaTime) {
        if matches!(self.state, State::Live) {
            self.play_slate(now);
        }
        if let State::Slate(_, gate) = &mut self.state {
            *gate = Gate::default();
        }
        self.source.end();
    }

    /// Returns the next message to send. The message has as many packets as a datagram, or as the sender's message. The
    /// caller repeats the call until it returns `None`.
    pub fn poll(&mut self, now: MediaTime) -> Option<Vec<u8>> {
        self.resume_slate(now);
        if self.queue.is_empty()
            && let State::Slate(playing, _) = &mut self.state
        {
            let each = &mut |message| self.queue.push_back(message);
            playing.poll(&self.slate, now, &mut Sink { counters: &mut self.counters, each });
        }
        self.queue.pop_front()
    }

    /// Time of the next message, unless the sender has an earlier message.
    pub fn poll_timeout(&self) -> MediaTime {
        match &self.state {
            _ if !self.queue.is_empty() => MediaTime::ZERO,
            State::Live => self.last + self.after,
            State::Slate(playing, _) => playing.next(&self.slate),
        }
    }

    /// Plays the slate if the sender has sent no packets for the configured time.
    fn resume_slate(&mut self, now: MediaTime) {
        if now - self.last < self.after {
            return;
        }
        match &mut self.state {
            State::Live => self.play_slate(now),
            // A picture that was held does not continue.
            State::Slate(_, gate) => *gate = Gate::default(),
        }
    }

    fn play_slate(&mut self, now: MediaTime) {
        self.end_clock(now);
        self.counters.cut();
        let mut out = Out { pat: &mut self.pat, map: &mut self.map };
        let playing = Playing::start(&self.slate, &self.source, &mut out, now);
        self.state = State::Slate(Box::new(playing), Gate::default());
    }

    /// Adds a PCR if the sender had only one PCR. A time base must have two PCRs before another time base begins
    /// (§2.4.3.5).
    fn end_clock(&mut self, now: MediaTime) {
        let pid = self.source.map().and_then(|map| map.pcr_pid);
        if let (1, Some(pid), Some(pcr)) = (self.clocks, pid, self.source.clock_at(now)) {
            let mut bytes = pcr_packet(pid, Pcr::from_ticks(pcr.ticks() + Pcr::HZ / 1000));
            self.make(&mut bytes);
            self.queue.push_back(bytes.to_vec());
        }
        self.clocks = 0;
    }

    /// Plays the sender from `opening` on, after its tables and its clock.
    fn open(&mut self, opening: Opening, now: MediaTime) {
        let State::Slate(mut playing, _) = std::mem::replace(&mut self.state, State::Live) else { return };
        let each = &mut |message| self.queue.push_back(message);
        playing.end(now, &mut Sink { counters: &mut self.counters, each });
        self.counters.cut();
        self.shifts = Default::default();
        let mut made = Vec::new();
        if let (Some(pat), Some((_, pid)), Some((map, _))) =
            (&self.source.tables.pat, self.source.tables.first, &self.source.tables.map)
        {
            made.extend(carry(PAT_PID, &self.pat.follow(pat)));
            made.extend(carry(pid, &self.map.follow(map)));
        } else {
            (self.pat.offset, self.map.offset) = (0, 0);
        }
        self.clocks = u32::from(opening.clock.is_some());
        made.extend(opening.clock.map(|(pid, pcr)| pcr_packet(pid, pcr)));
        let mut bytes = Vec::new();
        for mut packet in made {
            self.make(&mut packet);
            bytes.extend(packet);
        }
        for packet in opening.packets {
            // Tables that were completed while packets were held are already known.
            self.pass(&packet, None, &mut bytes);
        }
        self.queue.extend(bytes.chunks(DATAGRAM * PACKET_LEN).map(<[u8]>::to_vec));
    }

    fn make(&mut self, bytes: &mut Bytes) {
        if let Some(packet) = Packet::new(*bytes) {
            self.counters.add(&packet, bytes);
        }
    }

    /// Adds a packet of the sender to a message.
    fn pass(&mut self, packet: &Packet, completed: Option<Completed>, message: &mut Vec<u8>) {
        let mut bytes = *packet.as_bytes();
        if !self.counters.pass(packet, self.source.has_units(packet.pid()), &mut bytes) {
            return;
        }
        let is_clock = self.source.map().is_some_and(|map| map.pcr_pid == Some(packet.pid()));
        if is_clock && packet.adaptation().is_some_and(|field| field.pcr.is_some()) {
            self.clocks = self.clocks.saturating_add(1);
        }
        let [pat_shift, map_shift] = &mut self.shifts;
        if packet.pid() == PAT_PID {
            if self.pat.offset != 0 {
                pat_shift.apply(packet, &mut bytes, (TABLE_PAT, None), self.pat.offset);
            }
        } else if let Some((number, pid)) = self.source.tables.first
            && packet.pid() == pid
            && self.map.offset != 0
        {
            map_shift.apply(packet, &mut bytes, (TABLE_PMT, Some(number)), self.map.offset);
        }
        match (completed, &self.source.tables) {
            (Some(Completed::Association), tables) => {
                tables.pat.iter().for_each(|section| self.pat.passed(section))
            }
            (Some(Completed::Map), tables) => {
                tables.map.iter().for_each(|(section, _)| self.map.passed(section))
            }
            (None, _) => {}
        }
        message.extend(bytes);
    }
}
