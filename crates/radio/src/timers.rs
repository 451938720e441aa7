//! The timers of all stations. The caller's engine gets only the earliest timer, so that freezing and resuming a
//! backoff costs only one store to memory.

use crate::rules::NEVER;

/// Children per node.
const FAN: usize = 16;

/// A tree of minima. The leaves are the stations' timers; each inner node contains the earliest of its
/// children, or, while it is stale, an earlier time.
#[derive(Debug)]
pub(crate) struct Timers {
    leaves: Vec<u64>,
    /// Levels from the parents of the leaves to the root.
    levels: Vec<Level>,
    /// Requested alarms that the caller has not returned. Each is earlier than the alarm requested before it.
    asked: Vec<u64>,
}

#[derive(Debug)]
struct Level {
    earliest: Vec<u64>,
    stale: Vec<bool>,
}

impl Timers {
    pub fn new(stations: usize) -> Timers {
        let mut nodes = stations.div_ceil(FAN).max(1);
        let leaves = vec![NEVER; nodes * FAN];
        let mut levels = Vec::new();
        while levels.is_empty() || nodes > 1 {
            if !levels.is_empty() {
                nodes = nodes.div_ceil(FAN);
            }
            // Each level except the root contains whole families of nodes.
            let length = if nodes == 1 { 1 } else { nodes.next_multiple_of(FAN) };
            levels.push(Level { earliest: vec![NEVER; length], stale: vec![false; length] });
        }
        Timers { leaves, levels, asked: Vec::with_capacity(16) }
    }

    /// Sets a station's timer to `at`.
    #[inline]
    pub fn set(&mut self, station: u32, at: u64) {
        let mut index = station as usize;
        let was = core::mem::replace(&mut self.leaves[index], at);
        if was == at {
            return;
        }
        for level in &mut self.levels {
            index /= FAN;
            let earliest = level.earliest[index];
            if at < earliest {
                level.earliest[index] = at;
            } else if was == earliest {
                level.stale[index] = true;
            } else {
                return;
            }
        }
    }

    /// Earliest timer below a node.
    fn earliest(&mut self, level: usize, index: usize) -> u64 {
        if !self.levels[level].stale[index] {
            return self.levels[level].earliest[index];
        }
        let children = index * FAN..(index + 1) * FAN;
        let mut earliest = NEVER;
        if level == 0 {
            earliest = self.leaves[children].iter().copied().fold(NEVER, u64::min);
        } else {
            for child in children {
                // A stale node contains a time that is too early, never too late.
                if self.levels[level - 1].earliest[child] < earliest {
                    earliest = earliest.min(self.earliest(level - 1, child));
                }
            }
        }
        self.levels[level].stale[index] = false;
        self.levels[level].earliest[index] = earliest;
        earliest
    }

    /// Time of the alarm to request, unless an earlier one is pending.
    pub fn ask(&mut self) -> Option<u64> {
        let earliest = self.earliest(self.levels.len() - 1, 0);
        if earliest >= self.asked.last().copied().unwrap_or(NEVER) {
            return None;
        }
        self.asked.push(earliest);
        Some(earliest)
    }

    /// Handles an alarm. Returns false if these timers did not request the alarm.
    pub fn came(&mut self, now: u64) -> bool {
        let mine = self.asked.last() == Some(&now);
        if mine {
            self.asked.pop();
        }
        mine
    }

    /// The first station at or after `from` whose timer has expired.
    pub fn next_due(&mut self, now: u64, from: u32) -> Option<u32> {
        let top = self.levels.len() - 1;
        if self.earliest(top, 0) > now {
            return None;
        }
        self.due_below(top, 0, now, from as usize)
    }

    fn due_below(&self, level: usize, index: usize, now: u64, from: usize) -> Option<u32> {
        if self.levels[level].earliest[index] > now {
            return None;
        }
        if level == 0 {
            let (begin, end) = (from.max(index * FAN), (index + 1) * FAN);
            let leaves = self.leaves.get(begin..end)?;
            return leaves.iter().position(|due| *due <= now).map(|at| (begin + at) as u32);
        }
        // Stations per child.
        let width = self.levels[..level].iter().fold(1, |width, _| width * FAN);
        let children = (index * FAN).max(from / width)..(index + 1) * FAN;
        children.into_iter().find_map(|child| self.due_below(level - 1, child, now, from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Timers set in any order: the requested alarm is the earliest, and expired timers are found in
        /// order.
        #[test]
        fn the_earliest_is_found(
            stations in 1usize..700,
            changes in prop::collection::vec((0u32..700, prop::option::weighted(0.7, 0u64..50)), 1..300),
            every in 1usize..20,
        ) {
            let mut timers = Timers::new(stations);
            let mut plain = vec![NEVER; stations];
            for (i, (station, at)) in changes.into_iter().enumerate() {
                let (station, at) = (station % stations as u32, at.unwrap_or(NEVER));
                timers.set(station, at);
                plain[station as usize] = at;
                if i % every != 0 {
                    continue;
                }
                let earliest = plain.iter().copied().fold(NEVER, u64::min);
                let before = timers.asked.last().copied().unwrap_or(NEVER);
                let asked = timers.ask();
                prop_assert_eq!(asked, (earliest < before).then_some(earliest));
                let from = station / 2;
                let due = (from..stations as u32).find(|s| plain[*s as usize] <= 20);
                prop_assert_eq!(timers.next_due(20, from), due);
            }
        }
    }
}
