//! Earlier messages and sources: answered messages, and addresses from which sessions were opened.

use strandcast_proto::seeds::Random;

/// Number of sets in the table.
const SETS: usize = 2048;
/// Digests per set.
const WAYS: usize = 4;

/// Remembers digests in 64 KiB. For messages 1, an observer who recorded some cannot cause a second
/// Diffie–Hellman with the same message. Digests are keyed, so no sender chooses which of them are replaced;
/// in a full set a random one is.
#[derive(Default)]
pub(super) struct Seen {
    /// Sets, allocated with the first digest. Zero marks an empty place, so the one digest in 2^64 that is
    /// zero counts as seen from the beginning.
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
