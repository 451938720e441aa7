//! A clip that is played repeatedly.

mod schedule;
mod stamps;

use std::collections::BTreeMap;

use self::schedule::{Clock, with_clock};
use self::stamps::Stamps;
use super::edit::{Bytes, clear_discontinuity, pcr_packet};
use super::tables::{Map, Stream, Tables};
use crate::ts::{ContinuityChecker, Framer, KeySearch, PACKET_LEN, Packet, Pcr, PesHeader, TsError};

/// Size of the largest clip in bytes: half a minute at 4 Mbit/s.
pub const MAX_CLIP: usize = 16 << 20;

/// Shortest clip, in ticks of the PCR: 0.2 s.
const SHORTEST: u64 = Pcr::HZ / 5;
/// Greatest lead of time stamps over the PCR at the end of a clip, in ticks. It is one minute.
const MOST_AHEAD: u64 = 60 * Pcr::HZ;
/// Bytes of a picture that are searched for its first header.
const HEAD: usize = 16 << 10;

/// Reason why a clip cannot be a slate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClipError {
    /// The clip is not a transport stream.
    #[error(transparent)]
    Ts(#[from] TsError),
    /// The clip is too long.
    #[error("it has {bytes} bytes, and a slate has {MAX_CLIP} at most: cut it, or lower its bitrate")]
    TooLong {
        /// Length of the clip.
        bytes: u64,
    },
    /// Packets are missing, or other bytes lie between them.
    #[error(
        "it is damaged: {0} packets or pieces are missing in it; ffmpeg -i FILE -c copy -f mpegts OUT repairs many"
    )]
    Damaged(u64),
    /// The clip has no PAT, or no PMT.
    #[error("it has no {0}: ffmpeg -i FILE -c copy -f mpegts OUT writes one")]
    NoTable(&'static str),
    /// The clip has neither video nor audio.
    #[error("its first program has no video and no audio")]
    NoMedia,
    /// The clip is scrambled.
    #[error("packet {0} is scrambled: a slate is a clear stream")]
    Scrambled(usize),
    /// The clip has no clock.
    #[error("its first program has no PCR: ffmpeg -i FILE -c copy -f mpegts OUT writes one")]
    NoPcr,
    /// The clock jumps.
    #[error("its PCR jumps at packet {0}: ffmpeg -i FILE -c copy -f mpegts OUT writes a steady one")]
    PcrJumps(usize),
    /// The time stamps do not agree with the clock.
    #[error("its time stamps are far from its PCR: ffmpeg -i FILE -c copy -f mpegts OUT writes both anew")]
    StampsJump,
    /// The first picture depends on other pictures.
    #[error(
        "its video does not begin with a key frame: ffmpeg -i FILE -c:v libx264 -c:a copy -f mpegts OUT begins with one"
    )]
    NoKey,
    /// The header of a PES packet is not in one packet.
    #[error(
        "packet {0} has no whole PES header: ffmpeg -i FILE -c copy -f mpegts OUT writes it into one packet"
    )]
    SplitHeader(usize),
    /// The clip is too short.
    #[error("it is shorter than 0.2 s")]
    TooShort,
}

/// Part of the output to which a packet of a clip belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Video,
    Audio,
    /// A packet that was added and contains only a PCR.
    Clock,
}

/// A packet of a clip.
#[derive(Debug)]
pub(super) struct Item {
    /// Time since the clip's beginning, in ticks of the PCR.
    pub(super) at: u64,
    pub(super) role: Role,
    pub(super) bytes: Bytes,
}

/// A clip: the first video and the first audio of the first program of a transport stream. Each packet has its time.
#[derive(Debug)]
pub struct Clip {
    pub(super) items: Vec<Item>,
    /// Time from one start of the clip to the next, in ticks of the PCR. The time between two starts is a multiple of
    /// the ticks of a time stamp.
    pub(super) length: u64,
    /// PCR at the beginning.
    pub(super) first_pcr: Pcr,
    /// Ticks from the clock to the first time stamp.
    pub(super) lead: u64,
    pub(super) number: u16,
    pub(super) map_pid: u16,
    pub(super) video: Option<Stream>,
    pub(super) audio: Option<Stream>,
    /// True if the PCR is on the PID of the audio.
    pub(super) clock_on_audio: bool,
    /// Length and checksum of the file.
    file: (u64, u32),
}

impl Clip {
    /// Reads a transport stream.
    ///
    /// # Errors
    /// Returns [`ClipError`] if the clip cannot be a slate.
    pub fn read(bytes: &[u8]) -> Result<Clip, ClipError> {
        if bytes.len() > MAX_CLIP {
            return Err(ClipError::TooLong { bytes: bytes.len() as u64 });
        }
        let packets = packets(bytes)?;
        let (map_pid, map) = tables(&packets)?;
        let mut roles = BTreeMap::new();
        roles.extend(map.audio().map(|stream| (stream.pid, Role::Audio)));
        roles.extend(map.video().map(|stream| (stream.pid, Role::Video)));
        if roles.is_empty() {
            return Err(ClipError::NoMedia);
        }
        let clock = Clock::of(&packets, map.pcr_pid.ok_or(ClipError::NoPcr)?)?;
        let first = beginning(&packets, &map)?;
        let taken = take(&packets, first, &roles, &clock)?;
        let clock_on_audio =
            map.pcr_pid.is_some_and(|pid| roles.get(&pid) == Some(&Role::Audio)) || map.video().is_none();
        let first_pcr = clock.at(first);
        let lead = taken.stamps.lead(first_pcr);
        let played = clock.last().since(first_pcr);
        let length = taken.stamps.length(played);
        if played > Pcr::WRAP / 2 || length > played + MOST_AHEAD {
            return Err(ClipError::StampsJump);
        }
        if length < SHORTEST {
            return Err(ClipError::TooShort);
        }
        let mut items = taken.items;
        // After the last PCR the clock can only be estimated. The remaining packets leave before the next repetition.
        items.iter_mut().for_each(|item| item.at = item.at.min(length - 1));
        let items = with_clock(items, length);
        let (video, audio) = (map.video().cloned(), map.audio().cloned());
        let file = (bytes.len() as u64, crc32c::crc32c(bytes));
        Ok(Clip {
            items,
            length,
            first_pcr,
            lead,
            number: map.number,
            map_pid,
            video,
            audio,
            clock_on_audio,
            file,
        })
    }

    /// Duration from one start of the clip to the next.
    pub fn duration(&self) -> core::time::Duration {
        core::time::Duration::from_nanos(self.length * 1000 / 27)
    }

    /// Length of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.0
    }

    /// CRC-32C of the file.
    pub fn checksum(&self) -> u32 {
        self.file.1
    }
}

/// All packets of a stream without damage.
fn packets(bytes: &[u8]) -> Result<Vec<Packet>, ClipError> {
    let mut framer = Framer::new();
    framer.push(bytes);
    framer.finish();
    let (mut packets, mut checker) = (Vec::with_capacity(bytes.len() / PACKET_LEN), ContinuityChecker::new());
    while let Some(packet) = framer.poll()? {
        checker.check(&packet);
        packets.push(packet);
    }
    match checker.counts().gaps + framer.counts().sync_losses {
        0 => Ok(packets),
        damaged => Err(ClipError::Damaged(damaged)),
    }
}

/// PID and content of the first program's map.
fn tables(packets: &[Packet]) -> Result<(u16, Map), ClipError> {
    let mut tables = Tables::default();
    for packet in packets {
        tables.observe(packet);
        if tables.map.is_some() {
            break;
        }
    }
    let (_, pid) = tables.first.ok_or(ClipError::NoTable("PAT"))?;
    let (_, map) = tables.map.ok_or(ClipError::NoTable("PMT of its first program"))?;
    Ok((pid, map))
}

/// Ordinal of the packet with which the clip begins. The first packet is the first key frame, or the first audio if the
/// clip has no video.
fn beginning(packets: &[Packet], map: &Map) -> Result<usize, ClipError> {
    let Some(stream) = map.video().or(map.audio()) else { return Err(ClipError::NoMedia) };
    let begins = |packet: &Packet| packet.pid() == stream.pid && packet.unit_start();
    let first = packets.iter().position(begins).ok_or(ClipError::NoMedia)?;
    let random = packets[first].adaptation().is_some_and(|field| field.random_access);
    if random || !stream.is_video() {
        return Ok(first);
    }
    let mut search = KeySearch::default();
    for (k, packet) in packets[first..].iter().enumerate().filter(|(_, packet)| packet.pid() == stream.pid) {
        if k > 0 && packet.unit_start() || search.bytes() > HEAD {
            break;
        }
        match search.push(stream.stream_type, packet.payload()) {
            Some(true) => return Ok(first),
            Some(false) => break,
            None => {}
        }
    }
    Err(ClipError::NoKey)
}

/// Packets of a clip, and their time stamps.
struct Taken {
    items: Vec<Item>,
    stamps: Stamps,
}

/// Selects the packets that the slate uses, from the first one on.
fn take(
    packets: &[Packet],
    first: usize,
    roles: &BTreeMap<u16, Role>,
    clock: &Clock,
) -> Result<Taken, ClipError> {
    let (mut items, mut stamps) = (Vec::new(), Stamps::default());
    let begin = clock.at(first);
    let mut begun: Vec<u16> = Vec::new();
    for (number, packet) in packets.iter().enumerate().skip(first) {
        let at = clock.at(number).since(begin);
        let pcr = packet.pid() == clock.pid && packet.adaptation().is_some_and(|field| field.pcr.is_some());
        let mut add = |role, bytes| items.push(Item { at, role, bytes });
        let role = roles.get(&packet.pid()).filter(|_| packet.unit_start() || begun.contains(&packet.pid()));
        let Some(&role) = role else {
            if pcr {
                add(Role::Clock, pcr_packet(packet.pid(), Pcr::from_ticks(0)));
            }
            continue;
        };
        let mut bytes = *packet.as_bytes();
        if bytes[3] & 0xc0 != 0 {
            return Err(ClipError::Scrambled(number));
        }
        if packet.unit_start() && packet.has_payload() {
            let header = PesHeader::parse(packet.payload()).ok_or(ClipError::SplitHeader(number))?;
            stamps.note(role, header.pts, header.dts);
            stamps.bytes(role, packet.payload().len().saturating_sub(header.data_at));
            begun.push(packet.pid());
            begun.dedup();
        } else {
            stamps.bytes(role, packet.payload().len());
        }
        if packet.adaptation().is_some() {
            clear_discontinuity(&mut bytes);
        }
        add(role, bytes);
    }
    Ok(Taken { items, stamps })
}
