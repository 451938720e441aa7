//! State of the sender's stream that the splicer needs.

use core::time::Duration;

use super::edit::{PER_STAMP, STAMP_WRAP};
use super::tables::{Completed, Map, Stream, Tables};
use crate::MediaTime;
use crate::time::nanos;
use crate::ts::{PAT_PID, Packet, Pcr, PesHeader};

/// Longest time by which time stamps may be ahead of the clock. A longer time is an error of the stream.
const AHEAD: Duration = Duration::from_secs(10);

/// Tables, clock and time stamps of the sender.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) tables: Tables,
    /// Last PCR of the first program, and the time of its packet.
    clock: Option<(Pcr, MediaTime)>,
    /// Last time stamps of decoding, of video and audio.
    stamps: [Option<u64>; 2],
}

impl Source {
    /// Processes the next packet. Returns the table that it completes.
    pub(super) fn observe(&mut self, packet: &Packet, now: MediaTime) -> Option<Completed> {
        let completed = self.tables.observe(packet);
        let Some((_, map)) = &self.tables.map else { return completed };
        if map.pcr_pid == Some(packet.pid())
            && let Some(pcr) = packet.adaptation().and_then(|field| field.pcr)
        {
            self.clock = Some((pcr, now));
        }
        if packet.unit_start() {
            let kinds = [map.video(), map.audio()].map(|stream| stream.map(|stream| stream.pid));
            if let Some(kind) = kinds.iter().position(|pid| *pid == Some(packet.pid()))
                && let Some(header) = PesHeader::parse(packet.payload())
            {
                self.stamps[kind] = header.dts.or(header.pts).or(self.stamps[kind]);
            }
        }
        completed
    }

    /// The map of the first program.
    pub(super) fn map(&self) -> Option<&Map> {
        self.tables.map.as_ref().map(|(_, map)| map)
    }

    /// Returns whether the packets of a PID carry tables or PES packets, whose beginnings are marked. Private data may
    /// have no such marks (§2.4.3.3).
    pub(super) fn has_units(&self, pid: u16) -> bool {
        let of_stream = |stream: &Stream| stream.pid == pid && (stream.is_video() || stream.is_audio());
        let of_table = pid == PAT_PID || self.tables.first.is_some_and(|(_, map)| map == pid);
        of_table || self.map().is_some_and(|map| map.streams.iter().any(of_stream))
    }

    /// Returns the clock at `now`, under the assumption that it has advanced in real time since the last PCR. Returns
    /// `None` if no PCR has arrived.
    pub(super) fn clock_at(&self, now: MediaTime) -> Option<Pcr> {
        let (pcr, at) = self.clock?;
        Some(Pcr::from_ticks(pcr.ticks() + ticks(now - at) % Pcr::WRAP))
    }

    /// Ticks by which the sender's last time stamp is ahead of `clock`.
    pub(super) fn ahead_of(&self, clock: Pcr) -> u64 {
        let clock = clock.ticks() / PER_STAMP;
        let ahead = self.stamps.iter().flatten().map(|stamp| (stamp + STAMP_WRAP - clock) % STAMP_WRAP);
        let plausible = ahead.map(|stamps| stamps * PER_STAMP).filter(|ahead| *ahead < ticks(AHEAD));
        plausible.max().unwrap_or_default()
    }

    /// Drops the tables, because another sender has other tables. The clock is kept, so that a slate can continue it.
    pub(super) fn end(&mut self) {
        self.tables = Tables::default();
    }
}

/// A duration in ticks of the PCR.
pub(super) fn ticks(duration: Duration) -> u64 {
    u64::try_from(u128::from(nanos(duration)) * 27 / 1000).unwrap_or(u64::MAX)
}
