//! Time stamps of a clip.

use super::Role;
use crate::slate::edit::{PER_STAMP, STAMP_WRAP};
use crate::ts::Pcr;

/// Time stamps of one part of a clip.
#[derive(Debug, Default)]
struct Part {
    /// First time of decoding.
    first: Option<u64>,
    /// First time of presentation. Other times are relative to it.
    origin: u64,
    earliest: i64,
    latest: i64,
    count: i64,
    /// Bytes of data of the last unit, and of the units before it.
    bytes: i64,
    before: i64,
}

impl Part {
    fn note(&mut self, pts: u64, dts: u64) {
        if self.first.is_none() {
            (self.first, self.origin) = (Some(dts), pts);
        }
        let relative = difference(pts, self.origin);
        (self.earliest, self.latest) = (self.earliest.min(relative), self.latest.max(relative));
        self.count += 1;
        self.before += std::mem::take(&mut self.bytes);
    }

    /// Time from the first picture to the end of the last one.
    fn of_pictures(&self) -> u64 {
        let span = self.latest - self.earliest;
        u64::try_from(span + span / (self.count - 1).max(1)).unwrap_or_default()
    }

    /// Time from the first audio to the end of the last one. A unit of audio has several frames, and the last unit may have
    /// fewer of them, so that it lasts as long as its bytes do in the units before it.
    fn of_audio(&self) -> u64 {
        let span = self.latest - self.earliest;
        u64::try_from(span + span * self.bytes / self.before.max(1)).unwrap_or_default()
    }
}

/// Time stamps of a clip's video and audio.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    video: Part,
    audio: Part,
}

impl Stamps {
    /// Records the time stamps of a unit.
    pub(super) fn note(&mut self, role: Role, pts: Option<u64>, dts: Option<u64>) {
        let part = if role == Role::Video { &mut self.video } else { &mut self.audio };
        if let Some(pts) = pts {
            part.note(pts, dts.unwrap_or(pts));
        }
    }

    /// Records the bytes of data of a packet, which belongs to the unit that was noted last.
    pub(super) fn bytes(&mut self, role: Role, count: usize) {
        let part = if role == Role::Video { &mut self.video } else { &mut self.audio };
        part.bytes += i64::try_from(count).unwrap_or_default();
    }

    /// Ticks of the PCR from the clock's value at the beginning to the first decoding time.
    pub(super) fn lead(&self, begin: Pcr) -> u64 {
        let firsts = [self.video.first, self.audio.first].into_iter().flatten();
        let leads = firsts.map(|first| difference(first, begin.ticks() / PER_STAMP));
        u64::try_from(leads.min().unwrap_or_default()).unwrap_or_default() * PER_STAMP
    }

    /// Returns the time from one start of the clip to the next, in ticks of the PCR. `last` is the time of the last
    /// PCR. The longer part, video or audio, determines the time.
    pub(super) fn length(&self, last: u64) -> u64 {
        let stamps = self.video.of_pictures().max(self.audio.of_audio()).max(last / PER_STAMP + 1);
        stamps * PER_STAMP
    }
}

/// Signed difference from `earlier` to `later`, in the shorter direction of the circular number space.
fn difference(later: u64, earlier: u64) -> i64 {
    let ahead = later.wrapping_sub(earlier) % STAMP_WRAP;
    let ahead = i64::try_from(ahead).unwrap_or_default();
    if ahead < 1 << 32 { ahead } else { ahead - (1 << 33) }
}
