//! Memory limits of an endpoint: for all associations together, and for each association.

/// Heap in bytes of an association without data. This heap consists of the association's state, its scheme, and memory
/// that its queues keep.
const IDLE: usize = 24 << 10;
/// Number of bytes that an association may hold regardless of the other associations.
const LEAST: usize = 32 << 10;

/// Memory of an endpoint for its associations. Half of it is reserved in equal parts, one for each possible
/// association. An association whose application reads can therefore always continue. Associations take further memory
/// from the other half, in the order of their requests.
#[derive(Debug)]
pub(super) struct Memory {
    /// Number of bytes that each association may always hold.
    reserve: usize,
    /// Bytes that all associations together may hold beyond their reserves.
    common: usize,
    /// Number of bytes of `common` in use.
    used: usize,
    /// Maximum number of associations.
    pub associations: usize,
}

impl Memory {
    /// Divides `total` bytes among at most `associations` associations.
    pub fn new(total: usize, associations: usize) -> Self {
        let associations = associations.min((total / 2 / (IDLE + LEAST)).max(1));
        let reserve = (total / 2 / associations.max(1)).saturating_sub(IDLE);
        Memory { reserve, common: total / 2, used: 0, associations }
    }

    /// Returns the maximum number of bytes that an association may hold if it now holds `heap` bytes.
    pub fn room(&self, heap: usize) -> usize {
        self.reserve.max(heap).saturating_add(self.common.saturating_sub(self.used))
    }

    /// Records that an association holds `now` bytes, and held `before` bytes previously.
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
