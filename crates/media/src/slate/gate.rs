//! The return from a slate to the sender. The sender's packets wait for its next key frame.

use core::time::Duration;

use super::source::Source;
use super::tables::{Map, Stream};
use crate::MediaTime;
use crate::ts::{KeySearch, Packet, Pcr, PesHeader};

/// Greatest number of packets that wait until the type of a picture is known, and then until the next PCR.
const MOST: usize = 512;
/// Bytes of a picture that are searched for its first header.
const HEAD: usize = 16 << 10;
/// Time without a key frame after which the sender is played anyway, because not every stream marks its key frames.
const GIVE_UP: Duration = Duration::from_secs(10);
/// Time after which the sender is played although no picture has begun.
const NO_ENTRY: Duration = Duration::from_secs(20);
/// Longest time between two PCRs that are compared, in ticks.
const LONGEST: u64 = Pcr::HZ;

/// Finds the point at which the sender's stream can be entered.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Time of the sender's first packet.
    since: Option<MediaTime>,
    /// Waiting packets, from the beginning of a picture on.
    held: Vec<Packet>,
    /// Search for a key frame in this picture.
    search: KeySearch,
    /// True if the picture is a key frame.
    key: bool,
    /// True if `random_access_indicator` announced that the next picture is a key frame.
    announced: bool,
    /// Last PCR before the picture, and the number of packets since.
    before: Option<(Pcr, u64)>,
}

/// Packets with which the sender's stream begins.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) packets: Vec<Packet>,
    /// PCR for a packet before the others, if the first of them has no PCR.
    pub(super) clock: Option<(u16, Pcr)>,
}

impl Gate {
    /// Processes the next packet, which `source` has observed. Returns the beginning of the stream once it is complete.
    pub(super) fn push(&mut self, packet: &Packet, now: MediaTime, source: &Source) -> Option<Opening> {
        let since = *self.since.get_or_insert(now);
        let waited = now - since >= GIVE_UP;
        let Some(map) = source.map() else {
            return waited.then(|| Opening { packets: vec![*packet], clock: None });
        };
        let Some(entry) = map.video().or(map.audio()).or(map.streams.first()) else {
            return Some(Opening { packets: vec![*packet], clock: None });
        };
        let of_entry = packet.pid() == entry.pid;
        let begins = of_entry && packet.unit_start();
        self.announced |= of_entry && packet.adaptation().is_some_and(|field| field.random_access);
        if begins && !self.key {
            self.drop_held(map);
            self.key = waited || std::mem::take(&mut self.announced) || !entry.is_video();
        } else if self.held.is_empty() {
            self.skip(packet, map);
            // The sender's video does not arrive, so that the rest of its stream is played.
            return (now - since >= NO_ENTRY).then(|| Opening { packets: vec![*packet], clock: None });
        }
        self.held.push(*packet);
        if !self.key {
            let found = if of_entry { self.look(packet, entry) } else { None };
            let too_long = self.held.len() >= MOST || self.search.bytes() > HEAD;
            self.key = found == Some(true);
            if found == Some(false) || found.is_none() && too_long {
                self.drop_held(map);
            }
        }
        self.key.then(|| self.opening(map)).flatten()
    }

    /// Searches a further packet of the waiting picture for a key frame. Returns whether the picture is a key frame,
    /// once this is known.
    fn look(&mut self, packet: &Packet, entry: &Stream) -> Option<bool> {
        let payload = packet.payload();
        let from = if self.search.bytes() == 0 {
            PesHeader::parse(payload).map_or(0, |header| header.data_at)
        } else {
            0
        };
        self.search.push(entry.stream_type, payload.get(from..).unwrap_or(&[]))
    }

    fn drop_held(&mut self, map: &Map) {
        let held = std::mem::take(&mut self.held);
        held.iter().for_each(|packet| self.skip(packet, map));
        self.search = KeySearch::default();
    }

    /// Counts a packet that is not played.
    fn skip(&mut self, packet: &Packet, map: &Map) {
        match (clock_of(packet, map), &mut self.before) {
            (Some(pcr), before) => *before = Some((pcr, 0)),
            (None, Some((_, packets))) => *packets += 1,
            (None, None) => {}
        }
    }

    /// Beginning of the stream, once the clock of its first packet is known.
    fn opening(&mut self, map: &Map) -> Option<Opening> {
        let clock = match map.pcr_pid {
            None => None,
            Some(_) if clock_of(self.held.first()?, map).is_some() => None,
            Some(pid) => {
                let next =
                    self.held.iter().enumerate().find_map(|(k, packet)| Some((k, clock_of(packet, map)?)));
                match next {
                    Some((k, next)) => Some((pid, self.between(next, k as u64))),
                    None if self.held.len() >= MOST => self.before.map(|(pcr, _)| (pid, pcr)),
                    None => return None,
                }
            }
        };
        Some(Opening { packets: std::mem::take(&mut self.held), clock })
    }

    /// Value of the clock at the first packet. The PCR `next` follows `ahead` packets later. The value is less than
    /// `next`.
    fn between(&self, next: Pcr, ahead: u64) -> Pcr {
        match self.before {
            Some((before, packets)) if (1..=LONGEST).contains(&next.since(before)) => {
                let share = u128::from(next.since(before)) * u128::from(packets + 1)
                    / u128::from(packets + 1 + ahead);
                Pcr::from_ticks(before.ticks() + u64::try_from(share).unwrap_or_default())
            }
            _ => Pcr::from_ticks(next.ticks() + Pcr::WRAP - Pcr::HZ / 1000),
        }
    }
}

/// PCR of the first program in this packet.
fn clock_of(packet: &Packet, map: &Map) -> Option<Pcr> {
    packet.adaptation().filter(|_| map.pcr_pid == Some(packet.pid()))?.pcr
}
