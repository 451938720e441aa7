//! What came before: messages that were answered, and where sessions were opened from.

use strandcast_proto::seeds::Random;

/// Sets of the table.
const SETS: usize = 2048;
/// Digests of a set.
const WAYS: usize = 4;

/// Remembers digests, in 64 KiB. Of messages 1: an observer who recorded some gets no second Diffie–Hellman out of the
/// same message. Digests are keyed, so that no sender chooses which of them push others out; of a full set one is, by
/// chance.
#[derive(Default)]
pub(super) struct Seen {
    /// Made with the first one. Zero is none, and so the one digest in 2^64 that counts as seen from the beginning.
    sets: Box<[[u64; WAYS]]>,
}

impl Seen {
    pub fn contains(&self, digest: u64) -> bool {
        self.sets.get(set(digest)).is_some_and(|set| set.contains(&digest))
    }

    pub fn insert(&mut self, digest: u64, random: &mut Random) {
        if self.contains(digest) {
            return;
        }
        if self.sets.is_empty() {
            self.sets = vec![[0; WAYS]; SETS].into();
        }
        let Some(set) = self.sets.get_mut(set(digest)) else { return };
        let by_chance = random.below(WAYS as u64) as usize;
        let place = set.iter().position(|d| *d == 0).unwrap_or(by_chance);
        set[place] = digest;
    }
}

fn set(digest: u64) -> usize {
    digest as usize % SETS
}
