//! Streams for tests, and a player that checks what it gets.

use core::time::Duration;
use std::collections::BTreeMap;

use crate::MediaTime;
use crate::slate::edit::{carry, set_counter};
use crate::slate::tables::{Map, Stream, association};
use crate::slate::{Clip, Slate, Splicer};
use crate::testing::Build;
use crate::ts::{Continuity, ContinuityChecker, KeySearch, PACKET_LEN, Packet, Pcr, PesHeader, ProgramTable};

pub(super) const H264: u8 = 0x1b;
const AAC: u8 = 0x0f;
/// Time of a frame.
pub(super) const FRAME_MS: u64 = 40;

/// A well-formed stream of H.264 and AAC, frame by frame.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    pub(super) number: u16,
    pub(super) map_pid: u16,
    pub(super) video: u16,
    pub(super) audio: Option<u16>,
    /// PID of the PCR; equal to `video`, or a PID of its own.
    pub(super) pcr_pid: u16,
    /// PCR of the first frame, in ticks.
    pub(super) clock: u64,
    /// Frames from one key frame to the next.
    pub(super) gop: u64,
    /// Packets of a frame.
    pub(super) size: usize,
    /// `random_access_indicator` marks key frames.
    pub(super) marks: bool,
    pub(super) frame: u64,
    pub(super) counters: BTreeMap<u16, u8>,
}

impl Encoder {
    pub(super) fn new() -> Encoder {
        Encoder {
            number: 5,
            map_pid: 0x1000,
            video: 0x101,
            audio: Some(0x102),
            pcr_pid: 0x101,
            clock: 27_000_000,
            gop: 10,
            size: 4,
            marks: true,
            frame: 0,
            counters: BTreeMap::new(),
        }
    }

    fn map(&self) -> Map {
        let stream = |pid, stream_type| Stream { pid, stream_type, info: Vec::new() };
        let audio = self.audio.map(|pid| stream(pid, AAC));
        let streams = std::iter::once(stream(self.video, H264)).chain(audio).collect();
        Map { number: self.number, pcr_pid: Some(self.pcr_pid), streams }
    }

    /// The packets of the next frame, after tables every second frame.
    pub(super) fn next(&mut self) -> Vec<Packet> {
        let ticks = self.clock + self.frame * FRAME_MS * 27_000;
        let pcr = Some(Pcr::from_ticks(ticks));
        let mut packets = Vec::new();
        if self.frame.is_multiple_of(2) {
            let map = self.map();
            let tables =
                [carry(0, &association(self.number, self.map_pid)), carry(self.map_pid, &map.section())];
            packets.extend(tables.concat().into_iter().filter_map(Packet::new));
        }
        let key = self.frame.is_multiple_of(self.gop);
        let nal = if key { 0x65 } else { 0x41 };
        let mut unit = pes(0xe0, ticks / 300 + 9000, &[0, 0, 0, 1, 9, 0x10, 0, 0, 1, nal, 0x88]);
        unit.resize(self.size * 150, 0xaa);
        let own = self.pcr_pid == self.video;
        for (k, chunk) in unit.chunks(150).enumerate() {
            let random_access = k == 0 && key && self.marks;
            let pcr = pcr.filter(|_| k == 0 && own);
            packets.push(
                Build { unit_start: k == 0, random_access, pcr, ..Build::new(self.video, 0) }
                    .payload(chunk)
                    .packet(),
            );
        }
        if !own {
            packets.push(Build { pcr, payload: None, ..Build::new(self.pcr_pid, 0) }.packet());
        }
        if let Some(audio) = self.audio {
            let unit = pes(0xc0, ticks / 300 + 6000, &[0x55; 90]);
            packets.push(Build { unit_start: true, ..Build::new(audio, 0) }.payload(&unit).packet());
        }
        self.frame += 1;
        packets.iter().map(|packet| self.counted(packet)).collect()
    }

    fn counted(&mut self, packet: &Packet) -> Packet {
        let counter = self.counters.entry(packet.pid()).or_default();
        let mut bytes = *packet.as_bytes();
        if packet.has_payload() {
            *counter = (*counter + 1) & 15;
        }
        set_counter(&mut bytes, *counter);
        Packet::new(bytes).expect("it has a sync byte")
    }

    /// A unit of audio with `bytes` bytes of data, at a time in milliseconds since the first frame.
    pub(super) fn audio_unit(&mut self, pid: u16, ms: u64, bytes: usize) -> Packet {
        let unit = pes(0xc0, self.clock / 300 + 6000 + ms * 90, &vec![0x55; bytes]);
        let packet = Build { unit_start: true, ..Build::new(pid, 0) }.payload(&unit).packet();
        self.counted(&packet)
    }

    /// The packets of `frames` frames as a file.
    pub(super) fn file(mut self, frames: u64) -> Vec<u8> {
        (0..frames).flat_map(|_| self.next()).flat_map(|packet| *packet.as_bytes()).collect()
    }
}

/// A PES packet with a time stamp.
fn pes(stream_id: u8, pts: u64, data: &[u8]) -> Vec<u8> {
    let bits = |from: u64, mask: u64| u8::try_from(pts >> from & mask).expect("masked");
    let stamp = [
        0x20 | bits(30, 7) << 1 | 1,
        bits(22, 255),
        bits(15, 127) << 1 | 1,
        bits(7, 255),
        bits(0, 127) << 1 | 1,
    ];
    [&[0, 0, 1, stream_id, 0, 0, 0x80, 0x80, 5][..], &stamp, data].concat()
}

/// A clip of a second that is like the default stream, but for its PIDs, its clock and its number.
pub(super) fn clip() -> Slate {
    let encoder = Encoder {
        number: 1,
        map_pid: 0x1fe,
        video: 0x200,
        audio: Some(0x201),
        pcr_pid: 0x200,
        clock: 999,
        ..Encoder::new()
    };
    Slate::Clip(Clip::read(&encoder.file(25)).expect("it is a clip").into())
}

/// A splicer, and a player that checks its output.
pub(super) struct World {
    pub(super) splicer: Splicer,
    pub(super) now: MediaTime,
    pub(super) seen: Player,
}

impl World {
    pub(super) fn new(slate: Slate, after_ms: u64) -> World {
        let now = MediaTime::from_millis(5000);
        let splicer = Splicer::new(slate, Duration::from_millis(after_ms), now);
        World { splicer, now, seen: Player::default() }
    }

    /// Lets time pass, without packets of a sender.
    pub(super) fn wait(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        loop {
            while let Some(message) = self.splicer.poll(self.now) {
                self.seen.take(self.now, &message, self.splicer.plays_slate());
            }
            let next = self.splicer.poll_timeout();
            if next > until {
                break;
            }
            self.now = next.max(self.now);
        }
        self.now = until;
    }

    /// Plays `frames` frames of a sender.
    pub(super) fn play(&mut self, encoder: &mut Encoder, frames: u64) {
        for _ in 0..frames {
            for message in encoder.next().chunks(7) {
                let bytes: Vec<u8> = message.iter().flat_map(|packet| *packet.as_bytes()).collect();
                self.splicer.push(self.now, &bytes);
            }
            self.wait(FRAME_MS);
        }
    }
}

/// A player: it panics at what the standard forbids.
#[derive(Default)]
pub(super) struct Player {
    pub(super) packets: Vec<(MediaTime, Packet)>,
    counters: ContinuityChecker,
    table: ProgramTable,
    sections: BTreeMap<u16, Packet>,
    /// Last PCR, its time, and the number of PCRs of its time base.
    clock: BTreeMap<u16, (Pcr, MediaTime, u32)>,
    /// Pictures, by whether they are key frames.
    pub(super) pictures: Vec<bool>,
    /// The last packet was one of the slate.
    slate: bool,
    /// The sender has returned, and no picture has begun since.
    returned: bool,
    pub(super) discontinuities: usize,
    pub(super) nulls: usize,
}

impl Player {
    fn take(&mut self, now: MediaTime, message: &[u8], slate: bool) {
        assert!(message.len().is_multiple_of(PACKET_LEN) && message.len() <= 7 * PACKET_LEN);
        self.returned |= self.slate && !slate;
        self.returned &= !slate;
        self.slate = slate;
        for bytes in message.as_chunks::<PACKET_LEN>().0 {
            let packet = Packet::new(*bytes).expect("a packet begins with the sync byte");
            self.packet(now, &packet, slate);
            self.packets.push((now, packet));
        }
    }

    fn packet(&mut self, now: MediaTime, packet: &Packet, slate: bool) {
        self.nulls += usize::from(packet.pid() == crate::ts::NULL_PID);
        // The indicator of a PCR excuses the counter: this player does not need it.
        let mut plain = *packet.as_bytes();
        if packet.adaptation().is_some() {
            plain[5] &= 0x7f;
        }
        let verdict = self.counters.check(&Packet::new(plain).expect("a sync byte"));
        assert_eq!(verdict, Continuity::Fine, "at {now:?}: {packet:?}");
        self.tables(packet);
        self.clock(now, packet, slate);
        let video = self.table.program().and_then(|program| program.video);
        if video.is_some_and(|video| video.pid == packet.pid()) && packet.unit_start() {
            let header = PesHeader::parse(packet.payload()).expect("a picture begins");
            self.pictures.push(
                KeySearch::default()
                    .push(H264, &packet.payload()[header.data_at..])
                    .expect("the slice is in the first packet"),
            );
        }
    }

    /// A section of another content has another version (§2.4.4.3, §2.4.4.9). Each is one packet here.
    fn tables(&mut self, packet: &Packet) {
        self.table.observe(packet);
        if !self.table.carries(packet.pid()) {
            return;
        }
        if let Some(before) = self.sections.insert(packet.pid(), *packet) {
            let version = |packet: &Packet| packet.payload()[6] >> 1 & 0x1f;
            if version(&before) == version(packet) {
                assert_eq!(before.payload(), packet.payload(), "another content, the same version");
            }
        }
    }

    fn clock(&mut self, now: MediaTime, packet: &Packet, slate: bool) {
        let program = self.table.program();
        if program.is_none_or(|program| program.pcr_pid != Some(packet.pid())) {
            return;
        }
        let adaptation = packet.adaptation();
        if let Some(pcr) = adaptation.and_then(|field| field.pcr) {
            let new = adaptation.is_some_and(|field| field.discontinuity);
            self.discontinuities += usize::from(new);
            match self.clock.get(&packet.pid()) {
                Some(&(before, at, count)) if !new => {
                    let ahead = pcr.since(before);
                    // A sender that pauses has a pause in its clock.
                    let most = if slate && count > 1 { 2_700_000 } else { 27_000_000 };
                    assert!((1..=most).contains(&ahead), "{ahead} ticks at {now:?}");
                    assert!(
                        !slate || count == 1 || now - at <= Duration::from_millis(100),
                        "a PCR after {:?}",
                        now - at
                    );
                    self.clock.insert(packet.pid(), (pcr, now, count + 1));
                }
                Some(&(_, _, count)) => {
                    assert!(count >= 2, "a time base of one PCR");
                    self.clock.insert(packet.pid(), (pcr, now, 1));
                }
                None => drop(self.clock.insert(packet.pid(), (pcr, now, 1))),
            }
        }
        // A time stamp refers to the time base that is in force: it is later than its clock, and not by much.
        if packet.unit_start()
            && let Some(pts) = PesHeader::parse(packet.payload()).and_then(|header| header.pts)
        {
            let (clock, ..) = self.clock.get(&packet.pid()).expect("a PCR comes before the first time stamp");
            let ahead = (pts + (1 << 33) - clock.ticks() / 300) % (1 << 33);
            assert!(ahead < 90_000, "{ahead} ticks of 90 kHz at {now:?}");
        }
    }
}
