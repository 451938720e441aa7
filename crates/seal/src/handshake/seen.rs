//! Record of earlier messages and sources: messages that were answered, and addresses that opened sessions.

use strandcast_proto::seeds::Random;

/// Number of sets in the table.
const SETS: usize = 2048;
/// Number of digests per set.
const WAYS: usize = 4;

/// Set of recent digests, in 64 KiB. An attacker may record a message 1 and send it again. The sets prevent a second
/// Diffie–Hellman computation for this message. The digests depend on a secret key. No sender can therefore choose
/// which digests are replaced. If a set is full, a random digest in it is replaced.
#[derive(Default)]
pub(super) struct Seen {
    /// The sets of digests. The sets are allocated with the first digest. Zero marks an empty entry. One digest in 2^64
    /// is zero, and counts as recorded from the beginning.
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
