//! State of a slate while it plays.

use core::time::Duration;

use super::clip::{Clip, Role};
use super::counters::Counters;
use super::edit::{Bytes, PER_STAMP, carry, null_packet, pcr_packet, set_pcr, set_pid, shift_stamps};
use super::kind::Slate;
use super::source::{Source, ticks};
use super::tables::{Map, Stream, Table, association};
use crate::MediaTime;
use crate::ts::{NULL_PID, PAT_PID, Packet, Pcr};

/// Number of packets in a message, which is the number in a datagram.
pub(super) const DATAGRAM: usize = 7;
/// Time between two datagrams of null packets, in ticks: 40 ms. The PCRs in the two datagrams are also 40 ms apart.
const NULL_STEP: u64 = Pcr::HZ / 25;
/// Time between two repetitions of the tables, in ticks: 80 ms. ETSI TR 101 154 asks for at most 100 ms.
const TABLE_STEP: u64 = Pcr::HZ / 25 * 2;
/// Shortest time between two calls for the slate.
const LOOK: Duration = Duration::from_millis(5);
/// Lateness up to which a slate catches up. A slate that is later is delayed instead.
const LATE: Duration = Duration::from_millis(500);
/// Time from the sender's last time stamp to the slate's first one, in ticks. The time is the duration of a frame.
const FRAME: u64 = Pcr::HZ / 25;
/// First PID that tables do not use (§2.4.3.3, Table 2-3; ETSI EN 300 468).
const FIRST_PID: u16 = 0x20;

/// PIDs of the output for the parts of a clip.
#[derive(Debug, Default)]
struct Pids {
    video: u16,
    audio: u16,
    clock: Option<u16>,
}

/// A slate that plays.
#[derive(Debug)]
pub(super) struct Playing {
    /// Time of tick 0.
    origin: MediaTime,
    /// Time of the last call.
    looked: MediaTime,
    /// PCR at tick 0. `None`: no sender had a PCR, so that the slate has no PCR either.
    base: Option<Pcr>,
    pids: Pids,
    /// Packets of the tables.
    tables: Vec<Bytes>,
    /// Ticks at which the tables are due.
    tables_at: u64,
    /// Ordinal of the next packet of a clip.
    item: usize,
    /// Tick at which the current repetition of the clip began, or at which the next null packets are due.
    round: u64,
    /// Number of PCRs sent.
    clocks: u32,
    /// Message that is being filled.
    message: Vec<u8>,
}

/// Destination of a slate's packets.
pub(super) struct Sink<'a> {
    pub(super) counters: &'a mut Counters,
    /// Callback for messages.
    pub(super) each: &'a mut dyn FnMut(Vec<u8>),
}

/// The tables of the output.
pub(super) struct Out<'a> {
    pub(super) pat: &'a mut Table,
    pub(super) map: &'a mut Table,
}

impl Playing {
    /// Begins a slate after `source`.
    pub(super) fn start(slate: &Slate, source: &Source, out: &mut Out<'_>, now: MediaTime) -> Playing {
        let mut playing = Playing {
            origin: now,
            looked: now,
            base: source.clock_at(now),
            pids: Pids::default(),
            tables: Vec::new(),
            tables_at: 0,
            item: 0,
            round: 0,
            clocks: 0,
            message: Vec::new(),
        };
        match slate {
            Slate::Null => playing.continue_tables(source, out),
            Slate::Clip(clip) => {
                playing.base = Some(base(clip, source, playing.base));
                playing.map_clip(clip, source, out);
            }
        }
        playing
    }

    /// Repeats the sender's tables.
    fn continue_tables(&mut self, source: &Source, out: &Out<'_>) {
        let (Some((_, pid)), Some(pat), Some(map)) = (source.tables.first, out.pat.last(), out.map.last())
        else {
            return;
        };
        self.tables = [carry(PAT_PID, pat), carry(pid, map)].concat();
        self.pids.clock = source.map().and_then(|map| map.pcr_pid);
    }

    /// Chooses the PIDs of a clip, and makes its tables.
    fn map_clip(&mut self, clip: &Clip, source: &Source, out: &mut Out<'_>) {
        let live = source.map();
        let (number, map_pid) =
            source.tables.first.filter(|_| live.is_some()).unwrap_or((clip.number, clip.map_pid));
        let mut used = vec![PAT_PID, map_pid, NULL_PID];
        used.extend(
            live.iter().flat_map(|map| map.streams.iter().map(|stream| stream.pid).chain(map.pcr_pid)),
        );
        let mut choose = |own: &Option<Stream>, theirs: Option<&Stream>| {
            let own = own.as_ref()?;
            let pid = theirs.map_or_else(|| free(own.pid, &used), |stream| stream.pid);
            used.push(pid);
            Some(Stream { pid, ..own.clone() })
        };
        let video = choose(&clip.video, live.and_then(Map::video));
        let audio = choose(&clip.audio, live.and_then(Map::audio));
        let pid = |stream: &Option<Stream>| stream.as_ref().map_or(NULL_PID, |stream| stream.pid);
        self.pids = Pids { video: pid(&video), audio: pid(&audio), clock: None };
        self.pids.clock = Some(if clip.clock_on_audio { self.pids.audio } else { self.pids.video });
        let map = Map { number, pcr_pid: self.pids.clock, streams: video.into_iter().chain(audio).collect() };
        let pat = match &source.tables.pat {
            Some(pat) if live.is_some() => pat.clone(),
            _ => association(number, map_pid),
        };
        self.tables =
            [carry(PAT_PID, &out.pat.switch(&pat)), carry(map_pid, &out.map.switch(&map.section()))].concat();
    }

    /// Time of the next packets.
    pub(super) fn next(&self, slate: &Slate) -> MediaTime {
        self.due(self.next_tick(slate)).max(self.looked + LOOK)
    }

    fn due(&self, tick: u64) -> MediaTime {
        let nanos = u128::from(tick) * 1000 / 27;
        self.origin + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Tick of the next packets.
    fn next_tick(&self, slate: &Slate) -> u64 {
        match slate {
            Slate::Null => self.round,
            Slate::Clip(clip) => {
                let item = self.round + clip.items.get(self.item).map_or(0, |item| item.at);
                item.min(self.tables_at)
            }
        }
    }

    /// Passes the packets that are due to `each`, in messages.
    pub(super) fn poll(&mut self, slate: &Slate, now: MediaTime, sink: &mut Sink<'_>) {
        if now < self.next(slate) && self.looked > self.origin {
            return;
        }
        self.looked = now;
        let due = self.due(self.next_tick(slate));
        if now - due > LATE {
            self.origin = self.origin + (now - due);
        }
        while self.due(self.next_tick(slate)) <= now {
            match slate {
                Slate::Null => self.null(sink),
                Slate::Clip(clip) => self.step(clip, sink),
            }
        }
        self.flush(sink);
    }

    /// Sends a datagram of null packets, with the tables and the clock of the sender.
    fn null(&mut self, sink: &mut Sink<'_>) {
        self.tables_if_due(self.round, sink);
        if let (Some(pid), Some(_)) = (self.pids.clock, self.base) {
            self.clock(pid, self.round, sink);
        }
        while self.message.is_empty() || !self.message.len().is_multiple_of(DATAGRAM * null_packet().len()) {
            self.message.extend(null_packet());
        }
        self.flush(sink);
        self.round += NULL_STEP;
    }

    /// Sends the next packet of a clip, or its tables.
    fn step(&mut self, clip: &Clip, sink: &mut Sink<'_>) {
        let Some(item) = clip.items.get(self.item) else { return };
        let tick = self.round + item.at;
        if self.tables_if_due(tick, sink) {
            return;
        }
        match item.role {
            Role::Clock => {
                if let Some(pid) = self.pids.clock {
                    self.clock(pid, tick, sink);
                }
            }
            Role::Video => self.media(clip, self.pids.video, tick, item.bytes, sink),
            Role::Audio => self.media(clip, self.pids.audio, tick, item.bytes, sink),
        }
        self.item += 1;
        if self.item == clip.items.len() {
            (self.item, self.round) = (0, self.round + clip.length);
        }
    }

    /// Adds the tables if they are due at `tick`.
    fn tables_if_due(&mut self, tick: u64, sink: &mut Sink<'_>) -> bool {
        if self.tables_at > tick {
            return false;
        }
        self.tables_at += TABLE_STEP;
        for bytes in self.tables.clone() {
            self.add(bytes, sink);
        }
        true
    }

    /// Adds a packet of a clip.
    fn media(&mut self, clip: &Clip, pid: u16, tick: u64, mut bytes: Bytes, sink: &mut Sink<'_>) {
        set_pid(&mut bytes, pid);
        let base = self.base.unwrap_or(clip.first_pcr);
        // Time stamps are shifted by the same time as the clock.
        let shift = Pcr::from_ticks(base.ticks() + self.round % Pcr::WRAP).since(clip.first_pcr);
        shift_stamps(&mut bytes, shift / PER_STAMP);
        if Packet::new(bytes).and_then(|packet| packet.adaptation()?.pcr).is_some() {
            set_pcr(&mut bytes, Pcr::from_ticks(base.ticks() + tick % Pcr::WRAP));
            self.clocks += 1;
        }
        self.add(bytes, sink);
    }

    /// Adds a packet with the clock at a tick.
    fn clock(&mut self, pid: u16, tick: u64, sink: &mut Sink<'_>) {
        let Some(base) = self.base else { return };
        self.clocks += 1;
        self.add(pcr_packet(pid, Pcr::from_ticks(base.ticks() + tick % Pcr::WRAP)), sink);
    }

    fn add(&mut self, mut bytes: Bytes, sink: &mut Sink<'_>) {
        if let Some(packet) = Packet::new(bytes) {
            sink.counters.add(&packet, &mut bytes);
        }
        self.message.extend(bytes);
        if self.message.len() >= DATAGRAM * bytes.len() {
            self.flush(sink);
        }
    }

    fn flush(&mut self, sink: &mut Sink<'_>) {
        if !self.message.is_empty() {
            (sink.each)(std::mem::take(&mut self.message));
        }
    }

    /// Ends the slate at `now`: its time base has two PCRs before another one begins (§2.4.3.5).
    pub(super) fn end(&mut self, now: MediaTime, sink: &mut Sink<'_>) {
        if let (1, Some(pid)) = (self.clocks, self.pids.clock) {
            // Until now, only tick 0 has had a PCR.
            self.clock(pid, ticks(now - self.origin).max(1), sink);
        }
        self.flush(sink);
    }
}

/// PCR at the beginning of a clip. The first PCR continues the sender's clock. The first PCR is late enough that the
/// clip's time stamps follow the sender's time stamps. Its difference from the clip's own clock is a multiple of 300
/// ticks, because a time stamp counts 300 ticks.
fn base(clip: &Clip, source: &Source, clock: Option<Pcr>) -> Pcr {
    let Some(clock) = clock else { return clip.first_pcr };
    let late = (source.ahead_of(clock) + FRAME).saturating_sub(clip.lead);
    let shift = Pcr::from_ticks(clock.ticks() + late).since(clip.first_pcr);
    Pcr::from_ticks(clip.first_pcr.ticks() + shift.next_multiple_of(PER_STAMP))
}

/// Returns the PID itself if it is free, otherwise the next free PID.
fn free(own: u16, used: &[u16]) -> u16 {
    let all = (own.max(FIRST_PID)..NULL_PID).chain(FIRST_PID..NULL_PID);
    all.into_iter().find(|pid| !used.contains(pid)).unwrap_or(own)
}
