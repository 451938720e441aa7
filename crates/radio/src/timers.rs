//! The timers of all stations. The caller's engine gets only the timer that expires first. Stopping and continuing a
//! backoff therefore costs only one write to memory.

use crate::rules::NEVER;

/// Number of children of a node in the tree.
const FAN: usize = 16;

/// A tree of minima. The leaves are the stations' timers. Each inner node has the earliest time of its children. An
/// inner node that is out of date may have an earlier time.
#[derive(Debug)]
pub(crate) struct Timers {
    leaves: Vec<u64>,
    /// Levels of the tree, from the parents of the leaves to the root.
    levels: Vec<Level>,
    /// Times of requested alarms that the caller has not returned yet. Each alarm is earlier than the alarm requested
    /// before it.
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

    /// Returns the earliest timer below a node.
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

    /// Returns the time of the alarm to request; `None` if an earlier alarm is pending.
    pub fn ask(&mut self) -> Option<u64> {
        let earliest = self.earliest(self.levels.len() - 1, 0);
        if earliest >= self.asked.last().copied().unwrap_or(NEVER) {
            return None;
        }
        self.asked.push(earliest);
        Some(earliest)
    }

    /// Handles an alarm that the caller returned. Returns false if these timers did not request this alarm.
    pub fn came(&mut self, now: u64) -> bool {
        let mine = self.asked.last() == Some(&now);
        if mine {
            self.asked.pop();
        }
        mine
    }

    /// Returns the first station, starting at `from`, whose timer has expired.
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
        /// Timers are set in any order. The requested alarm is the earliest timer, and expired timers are found in
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
