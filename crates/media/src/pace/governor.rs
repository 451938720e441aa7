//! A live input that runs faster than its own clock.

use core::time::Duration;

use crate::MediaTime;
use crate::ts::{Packet, Pcr};

/// A larger step between two references starts a new time base.
const MAX_STEP: u64 = 2 * Pcr::HZ;
/// Share by which the input's clock may run faster than ours for ever: 5 %, far more than any oscillator.
const DRIFT: u64 = 20;

/// Watches how far an input is ahead of its clock. An input that was silent and catches up is not ahead.
#[derive(Debug)]
pub(crate) struct Governor {
    credit: Duration,
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
    /// The largest lead over our clock that counts as the input's own pace.
    lead: i128,
}

impl Governor {
    /// A governor of an input that may be ahead by `credit`.
    pub(crate) fn new(credit: Duration) -> Self {
        Governor { credit, pid: None, last: None }
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
            self.last = Some(Seen { pcr, media: 0, arrived: now, first: now, lead: 0 });
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

    #[test]
    fn an_input_is_ahead_after_its_credit() {
        let mut governor = Governor::new(SECOND);
        // Ten times as fast as its clock.
        let first = (0..100).find(|n| governor.is_ahead(at(n * 10), &clock(n * 100)));
        assert!(first.is_some_and(|n| (11..=13).contains(&n)), "{first:?}");
    }

    #[test]
    fn an_encoder_is_never_ahead() {
        let mut governor = Governor::new(SECOND);
        // Bursts of 800 ms, and a clock that is 1 % fast, for an hour.
        for n in 0..4500_u64 {
            for k in 0..8 {
                let media = (n * 800 + k * 100) * 101 / 100;
                assert!(!governor.is_ahead(at(n * 800), &clock(media)), "{n}");
            }
        }
    }

    #[test]
    fn one_that_catches_up_after_a_silence_or_jumps_is_not_ahead() {
        let mut governor = Governor::new(SECOND);
        let mut media = 0;
        for n in 0..50 {
            media = n * 40;
            assert!(!governor.is_ahead(at(media), &clock(media)));
        }
        // It was held up for 30 s, and all of it comes at once.
        for _ in 0..750 {
            media += 40;
            assert!(!governor.is_ahead(at(32_000), &clock(media)), "{media}");
        }
        assert!(!governor.is_ahead(at(32_010), &clock(media + 3_600_000)), "another time base");
    }
}
