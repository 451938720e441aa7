//! Detection of a live input that runs faster than its own clock.

use core::time::Duration;

use crate::MediaTime;
use crate::ts::{Packet, Pcr};

/// A larger step between two references starts a new time base.
const MAX_STEP: u64 = 2 * Pcr::HZ;
/// Reciprocal of the share by which the input's clock may permanently be faster than this machine's clock. The share is
/// 5 %, far more than the error of any oscillator.
const DRIFT: u64 = 20;

/// Measures how far an input is ahead of its clock. An input that catches up after it was silent or was not read does
/// not count as ahead.
#[derive(Debug)]
pub(crate) struct Governor {
    credit: Duration,
    /// Time for which the input was not read before its first packet.
    waited: Duration,
    pid: Option<u16>,
    last: Option<Seen>,
}

/// The last reference, in ticks of 27 MHz.
#[derive(Clone, Copy, Debug)]
struct Seen {
    pcr: Pcr,
    /// Time of the input's clock since the first reference.
    media: u64,
    arrived: MediaTime,
    first: MediaTime,
    /// Largest lead over this machine's clock that is attributed to the input's own pace.
    lead: i128,
}

impl Governor {
    /// Creates a governor for an input that may be ahead by `credit`. The input was not read for `waited` before its
    /// first packet.
    pub(crate) fn new(credit: Duration, waited: Duration) -> Self {
        Governor { credit, waited, pid: None, last: None }
    }

    /// Permitted lead of the input.
    pub(crate) fn credit(&self) -> Duration {
        self.credit
    }

    /// Takes the next packet. Returns whether the input runs faster than its clock.
    pub(crate) fn is_ahead(&mut self, now: MediaTime, packet: &Packet) -> bool {
        let Some(adaptation) = packet.adaptation() else { return false };
        let Some(pcr) = adaptation.pcr else { return false };
        if *self.pid.get_or_insert(packet.pid()) != packet.pid() {
            return false;
        }
        let step = self.last.map(|last| pcr.since(last.pcr)).filter(|step| *step <= MAX_STEP);
        let (Some(last), Some(step), false) = (self.last, step, adaptation.discontinuity) else {
            // This much of the stream waits in the pipe, or the encoder catches up by this much.
            let lead = i128::from(ticks(core::mem::take(&mut self.waited)));
            self.last = Some(Seen { pcr, media: 0, arrived: now, first: now, lead });
            return false;
        };
        let media = last.media.saturating_add(step);
        let ahead = i128::from(media) - i128::from(ticks(now - last.first));
        let allowed = last.lead + i128::from(ticks(now - last.arrived) / DRIFT);
        self.last = Some(Seen { pcr, media, arrived: now, lead: last.lead.max(ahead.min(allowed)), ..last });
        ahead > allowed + i128::from(ticks(self.credit))
    }
}

fn ticks(time: Duration) -> u64 {
    u64::try_from(time.as_nanos() * u128::from(Pcr::HZ) / 1_000_000_000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Build;

    const SECOND: Duration = Duration::from_secs(1);

    fn clock(ms: u64) -> Packet {
        let pcr = Some(Pcr::from_ticks(ms * (Pcr::HZ / 1000)));
        Build { pcr, ..Build::new(0x100, 0) }.packet()
    }

    fn at(ms: u64) -> MediaTime {
        MediaTime::ZERO + Duration::from_millis(ms)
    }

    /// Returns the time at which an input is ahead for the first time. Each reference has its arrival time and its time
    /// on the input's clock, in milliseconds.
    fn ahead(mut governor: Governor, references: impl Iterator<Item = (u64, u64)>) -> Option<u64> {
        references
            .map(|(now, media)| (now, governor.is_ahead(at(now), &clock(media))))
            .find(|x| x.1)
            .map(|x| x.0)
    }

    fn unread(credit: Duration) -> Governor {
        Governor::new(credit, Duration::ZERO)
    }

    #[test]
    fn an_input_is_ahead_after_its_credit() {
        // The input is ten times as fast as its clock.
        let first = ahead(unread(SECOND), (0..100).map(|n| (n * 10, n * 100)));
        assert!(first.is_some_and(|ms| (110..=130).contains(&ms)), "{first:?}");
    }

    /// One hour of an encoder that sends its output every 800 ms. The clock of the encoder is fast by `fast`
    /// thousandths.
    fn encoder(fast: u64) -> impl Iterator<Item = (u64, u64)> {
        (0..4500_u64)
            .flat_map(move |n| (0..8).map(move |k| (n * 800, (n * 800 + k * 100) * (1000 + fast) / 1000)))
    }

    #[test]
    fn bursts_within_the_credit_and_a_clock_that_drifts_are_the_pace_of_an_encoder() {
        let credit = Duration::from_millis(750);
        assert_eq!(ahead(unread(credit), encoder(0)), None);
        assert_eq!(ahead(unread(credit), encoder(10)), None);
        assert_eq!(ahead(unread(credit), encoder(40)), None);
        // The first burst is 700 ms ahead of its arrival. No oscillator has an error of 10 %.
        assert_eq!(ahead(unread(Duration::from_millis(650)), encoder(0)), Some(0));
        assert!(ahead(unread(credit), encoder(100)).is_some_and(|ms| ms < 60_000));
    }

    #[test]
    fn one_that_was_not_read_may_make_up_for_it_and_no_more() {
        // 30 s of the stream wait, and the rest arrives at the pace of its clock.
        let waits = || (0..750).map(|n| (0, n * 40)).chain((0..1000).map(|n| (n * 40, 30_000 + n * 40)));
        let waited = Duration::from_secs(30);
        assert_eq!(ahead(Governor::new(SECOND, waited), waits()), None);
        assert_eq!(ahead(unread(SECOND), waits()), Some(0));
        let all_at_once = (0..800).map(|n| (n, n * 40));
        assert!(ahead(Governor::new(SECOND, waited), all_at_once).is_some_and(|ms| (775..800).contains(&ms)));
    }

    #[test]
    fn one_that_catches_up_after_a_silence_or_jumps_is_not_ahead() {
        let mut governor = unread(SECOND);
        let mut media = 0;
        for n in 0..50 {
            media = n * 40;
            assert!(!governor.is_ahead(at(media), &clock(media)));
        }
        // The input was held up for 30 s, and then all of the delayed data arrive at once.
        for _ in 0..750 {
            media += 40;
            assert!(!governor.is_ahead(at(32_000), &clock(media)), "{media}");
        }
        assert!(!governor.is_ahead(at(32_010), &clock(media + 3_600_000)), "another time base");
    }
}
