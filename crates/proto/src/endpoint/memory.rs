//! What all associations of an endpoint may hold together, and each of them.

/// Heap of an association that holds nothing, bytes: its own state, its scheme, room that queues keep.
const IDLE: usize = 24 << 10;
/// What each association may hold at least, whatever the others do, bytes.
const LEAST: usize = 32 << 10;

/// Half of the memory is shared out in advance, a part for each association that may come, so that one that reads what it
/// receives goes on beside any number that don't; associations take what more they need from the other half, first come, first served.
#[derive(Debug)]
pub(super) struct Memory {
    /// What each association may hold in any case.
    reserve: usize,
    /// What all of them may hold beyond that, together.
    common: usize,
    /// What they do hold of it.
    used: usize,
    /// Associations at a time.
    pub associations: usize,
}

impl Memory {
    /// `total` bytes for at most `associations`.
    pub fn new(total: usize, associations: usize) -> Self {
        let associations = associations.min((total / 2 / (IDLE + LEAST)).max(1));
        let reserve = (total / 2 / associations.max(1)).saturating_sub(IDLE);
        Memory { reserve, common: total / 2, used: 0, associations }
    }

    /// The most that an association may hold which holds `heap` bytes.
    pub fn room(&self, heap: usize) -> usize {
        self.reserve.max(heap).saturating_add(self.common.saturating_sub(self.used))
    }

    /// An association holds `now` bytes after it held `before`.
    pub fn change(&mut self, before: usize, now: usize) {
        let beyond = |heap: usize| heap.saturating_sub(self.reserve);
        self.used = self.used + beyond(now) - beyond(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hoarders_leave_everybody_its_part() {
        let total = 64 << 20;
        let mut memory = Memory::new(total, 256);
        let mut held = vec![0; 256];
        for heap in &mut held {
            // Each takes all it gets.
            let room = memory.room(*heap);
            memory.change(*heap, room);
            *heap = room;
        }
        let sum: usize = held.iter().sum();
        assert!(sum + 256 * IDLE <= total, "{sum}");
        assert!(held.iter().all(|h| *h >= LEAST), "{:?}", held.iter().min());
        for heap in &mut held {
            memory.change(*heap, 0);
        }
        assert_eq!(memory.used, 0);
    }

    #[test]
    fn little_memory_is_for_few() {
        let memory = Memory::new(2 << 20, 1024);
        assert!((1..32).contains(&memory.associations), "{}", memory.associations);
        assert!(memory.reserve >= LEAST);
        assert_eq!(Memory::new(usize::MAX, 1024).associations, 1024);
    }
}
