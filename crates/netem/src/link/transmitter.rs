//! The transmitter, which serialises packets.

use strandcast_proto::seeds::{Random, Seeds};
use strandcast_proto::time::{Duration, Instant};

use super::Rate;
use super::opportunities::Slots;
use crate::number::{Every, Number, Varying};

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Maximum number of changes of the rate during the serialisation of one packet. A packet that would need more never
/// leaves.
const MOST_CHANGES: u32 = 1_000_000;

/// Transmitter that computes departure times in the order of arrival. Each is computed when its packet arrives, because
/// even a varying rate is known in advance.
#[derive(Clone, Debug)]
pub(super) enum Transmitter {
    Infinite,
    /// `owed`, in bit · ns, is the part of the last packet that leaves later than the returned nanosecond.
    Constant {
        bps: u64,
        owed: u64,
    },
    Varying {
        bps: Varying,
        /// Long-run rate. The long-run rate is set if the rate is drawn for each packet.
        drawn: Option<f64>,
        owed: u128,
    },
    Slots(Slots),
}

impl Transmitter {
    pub fn new(rate: &Rate, random: Random, origin: Instant) -> Self {
        match rate {
            Rate::Infinite => Transmitter::Infinite,
            Rate::Constant(bps) => Transmitter::Constant { bps: *bps, owed: 0 },
            Rate::Opportunities(trace) => Transmitter::Slots(Slots::new(trace.clone(), origin, 0)),
            Rate::Recorded { traces, offset, cause } => {
                let mut random = match cause {
                    Some(cause) => Seeds::new(*cause, 0).stream("cause"),
                    None => random,
                };
                let trace = &traces[random.below(traces.len() as u64) as usize];
                let offset = offset.within(trace.period_ns(), &mut random);
                Transmitter::Slots(Slots::new(trace.clone(), origin, offset))
            }
            Rate::Varying(number) => {
                let bps = Varying::new(number, random, origin);
                match bps.constant().map(whole).filter(|&bps| bps > 0) {
                    Some(bps) => Transmitter::Constant { bps, owed: 0 },
                    None => Transmitter::Varying { bps, drawn: drawn_bps(number), owed: 0 },
                }
            }
        }
    }

    /// Returns the time at which the last bit of a packet leaves the transmitter. The packet arrived at `now`, and
    /// follows one that leaves at `free`. [`Instant::MAX`] means never.
    pub fn serve(&mut self, now: Instant, free: Instant, len: usize) -> Instant {
        let start = now.max(free);
        match self {
            Transmitter::Infinite => start,
            Transmitter::Constant { bps, owed } => {
                if now > free {
                    *owed = 0;
                }
                serve_constant(*bps, owed, start, len)
            }
            Transmitter::Varying { bps, drawn, owed } => {
                if now > free {
                    *owed = 0;
                }
                *owed += len as u128 * u128::from(8 * NANOS_PER_SECOND);
                match drawn {
                    Some(_) => {
                        let rate = u128::from(whole(bps.at(start)).max(1));
                        let end = start + nanos(*owed / rate);
                        *owed %= rate;
                        end
                    }
                    None => serve_varying(bps, owed, start),
                }
            }
            Transmitter::Slots(slots) => slots.serve(now, free, len as u64),
        }
    }

    /// Returns the number of bits that could be sent after `from` and until `to`; `None` if it is unlimited.
    pub fn capacity_bits(&self, from: Instant, to: Instant) -> Option<f64> {
        let seconds = (to - from).as_secs_f64();
        match self {
            Transmitter::Infinite => None,
            Transmitter::Constant { bps, .. } => Some(*bps as f64 * seconds),
            Transmitter::Varying { drawn: Some(mean), .. } => Some(mean * seconds),
            Transmitter::Varying { bps, .. } => Some(integral(&mut bps.clone(), from, to)),
            Transmitter::Slots(slots) => Some(slots.bytes(from, to) as f64 * 8.0),
        }
    }
}

/// Returns the long-run rate of a transmitter whose rate is drawn for each packet. Slow packets take longer. The
/// long-run rate is therefore the harmonic mean, (high - low) / ln(high / low).
fn drawn_bps(number: &Number) -> Option<f64> {
    match *number {
        Number::Uniform { low, high, every: Every::Packet } if high > low => {
            Some((high - low) / libm::log(high / low))
        }
        Number::Uniform { high, every: Every::Packet, .. } => Some(high),
        _ => None,
    }
}

fn serve_constant(bps: u64, owed: &mut u64, start: Instant, len: usize) -> Instant {
    let work = (len as u64).checked_mul(8 * NANOS_PER_SECOND).and_then(|work| work.checked_add(*owed));
    let time = match work {
        Some(work) => {
            *owed = work % bps;
            work / bps
        }
        None => {
            let work = len as u128 * u128::from(8 * NANOS_PER_SECOND) + u128::from(*owed);
            *owed = u64::try_from(work % u128::from(bps)).expect("a rest is less than what it divides by");
            u64::try_from(work / u128::from(bps)).unwrap_or(u64::MAX)
        }
    };
    Instant::from_nanos(start.as_nanos().saturating_add(time))
}

/// Sends `owed`, in bit · ns, from `start` on, at each rate while it lasts. Leaves the remainder of the last nanosecond
/// in `owed`.
fn serve_varying(bps: &mut Varying, owed: &mut u128, start: Instant) -> Instant {
    let mut at = start;
    for _ in 0..MOST_CHANGES {
        if at == Instant::MAX {
            break;
        }
        let rate = u128::from(whole(bps.at(at)));
        let next = bps.next_change(at).unwrap_or(Instant::MAX);
        let possible = rate * (next - at).as_nanos();
        if *owed < possible {
            let end = at + nanos(*owed / rate);
            *owed %= rate;
            return end;
        }
        *owed -= possible;
        at = next;
        if *owed == 0 && at < Instant::MAX {
            return at;
        }
    }
    Instant::MAX
}

fn integral(bps: &mut Varying, from: Instant, to: Instant) -> f64 {
    let (mut at, mut bits) = (from, 0.0);
    while at < to {
        let rate = whole(bps.at(at)) as f64;
        let next = bps.next_change(at).unwrap_or(to).min(to);
        bits += rate * (next - at).as_secs_f64();
        at = next;
    }
    bits
}

/// Returns `bps` rounded to a whole number, and limited to the range of the result.
fn whole(bps: f64) -> u64 {
    bps.round() as u64
}

fn nanos(time: u128) -> Duration {
    Duration::from_nanos(time.try_into().unwrap_or(u64::MAX))
}
