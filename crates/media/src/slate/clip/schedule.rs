//! Times of a clip's packets.

use super::{ClipError, Item, Role};
use crate::slate::edit::pcr_packet;
use crate::ts::{Packet, Pcr};

/// Longest time between two PCRs of a clip, in ticks: one second. §2.7.2 allows a tenth of a second, but not every file
/// complies with it.
const LONGEST: u64 = Pcr::HZ;
/// Longest time between two PCRs of a slate, in ticks: 40 ms.
const STEP: u64 = Pcr::HZ / 25;

/// The clock of a clip: its PCRs, by the ordinals of their packets.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) pid: u16,
    points: Vec<(usize, Pcr)>,
}

impl Clock {
    /// Reads the clock on this PID.
    ///
    /// # Errors
    /// Returns [`ClipError`] if there are fewer than two PCRs, or the PCRs jump.
    pub(super) fn of(packets: &[Packet], pid: u16) -> Result<Clock, ClipError> {
        let of_pid = packets.iter().enumerate().filter(|(_, packet)| packet.pid() == pid);
        let points: Vec<(usize, Pcr)> =
            of_pid.filter_map(|(number, packet)| Some((number, packet.adaptation()?.pcr?))).collect();
        if points.len() < 2 {
            return Err(ClipError::NoPcr);
        }
        let jumps = points.windows(2).find(|pair| !(1..=LONGEST).contains(&pair[1].1.since(pair[0].1)));
        match jumps {
            Some(pair) => Err(ClipError::PcrJumps(pair[1].0)),
            None => Ok(Clock { pid, points }),
        }
    }

    /// The last PCR.
    pub(super) fn last(&self) -> Pcr {
        self.points[self.points.len() - 1].1
    }

    /// Value of the clock at a packet. Between two PCRs the clock advances by the same amount with each packet.
    /// §2.4.2.2 defines this rule for bytes. Before the first and after the last PCR it advances as between the nearest
    /// two PCRs.
    pub(super) fn at(&self, number: usize) -> Pcr {
        let after = self.points.partition_point(|(at, _)| *at <= number);
        let (left, right) = match after {
            0 => (0, 1),
            all if all == self.points.len() => (all - 2, all - 1),
            after => (after - 1, after),
        };
        let ((from, start), (to, end)) = (self.points[left], self.points[right]);
        let (ticks, packets) = (i128::from(end.since(start)), (to - from) as i128);
        let ahead = (number as i128 - from as i128) * ticks / packets;
        let ticks = (i128::from(start.ticks()) + ahead).rem_euclid(i128::from(Pcr::WRAP));
        Pcr::from_ticks(u64::try_from(ticks).unwrap_or_default())
    }
}

/// Adds packets with a PCR where the clip's PCRs are farther apart than a slate's step. This includes the beginning of
/// the clip and the end before the next repetition.
pub(super) fn with_clock(items: Vec<Item>, length: u64) -> Vec<Item> {
    let mut all = Vec::with_capacity(items.len() + 1);
    // Time by which the next PCR must be sent.
    let mut next = 0;
    let clock = |at| Item { at, role: Role::Clock, bytes: pcr_packet(0, Pcr::from_ticks(0)) };
    for item in items {
        let has = Packet::new(item.bytes).and_then(|packet| packet.adaptation()?.pcr).is_some();
        while next < item.at || next == item.at && !has {
            all.push(clock(next));
            next += STEP;
        }
        if has {
            next = item.at + STEP;
        }
        all.push(item);
    }
    while next < length {
        all.push(clock(next));
        next += STEP;
    }
    all
}
