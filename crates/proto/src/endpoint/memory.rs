//! Memory limits of all associations of an endpoint together, and of each.

/// Heap in bytes of an association without data: its state, its scheme, and memory that queues keep.
const IDLE: usize = 24 << 10;
/// Number of bytes that each association may hold regardless of the others.
const LEAST: usize = 32 << 10;

/// Memory of an endpoint. Half of it is divided in advance, with a part for each possible association, so that an
/// association whose application reads can continue regardless of the memory that others hold. Associations take
/// further memory from the other half, first come, first served.
#[derive(Debug)]
pub(super) struct Memory {
    /// Number of bytes that each association may always hold.
    reserve: usize,
    /// Bytes that all associations may hold beyond that, together.
    common: usize,
    /// Bytes of `common` in use.
    used: usize,
    /// Maximum number of associations.
    pub associations: usize,
}

impl Memory {
    /// Divides `total` bytes among at most `associations`.
    pub fn new(total: usize, associations: usize) -> Self {
        let associations = associations.min((total / 2 / (IDLE + LEAST)).max(1));
        let reserve = (total / 2 / associations.max(1)).saturating_sub(IDLE);
        Memory { reserve, common: total / 2, used: 0, associations }
    }

    /// Maximum bytes that an association with `heap` bytes may hold.
    pub fn room(&self, heap: usize) -> usize {
        self.reserve.max(heap).saturating_add(self.common.saturating_sub(self.used))
    }

    /// Records that an association holds `now` bytes after it held `before`.
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
            // Each association takes all that it gets.
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
