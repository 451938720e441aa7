//! Limit on the key derivations that callers can make a listener compute.

use core::hash::Hasher as _;
use core::net::IpAddr;
use std::collections::VecDeque;
use std::hash::DefaultHasher;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

/// Time that one derivation takes from the budget. `BURST` is the size of the largest burst.
const COST: Duration = Duration::from_millis(10);
const BURST: Duration = Duration::from_millis(500);
/// Part of a burst that is reserved for sources without recent failures. `FOR_KNOWN` is the part reserved for sources
/// that used the right passphrase before.
const FOR_OTHERS: Duration = Duration::from_millis(300);
const FOR_KNOWN: Duration = Duration::from_millis(100);
/// Number of entries for sources that used a wrong passphrase. Several sources may share one entry.
const FAILED: usize = 1024;
/// Number of recorded sources that used the right passphrase. The most recent ones are kept.
const KNOWN: usize = 256;
/// Time for which a failure is recorded.
const MEMORY: Duration = Duration::from_secs(10);

/// A source that used the right passphrase, with its last failure.
struct Known {
    source: u64,
    failed: Option<Instant>,
}

/// Budget that admits up to 100 derivations per second, in bursts of 50.
pub(super) struct Budget {
    /// Time at which the whole burst is available again.
    full_at: Instant,
    key: u64,
    /// Time of the last failure, indexed by the hash of the source.
    failed: Vec<Option<Instant>>,
    /// Sources that used the right passphrase, oldest success first.
    known: VecDeque<Known>,
}

impl Budget {
    pub fn new(random: &mut Random) -> Budget {
        let key = random.u64();
        Budget { full_at: Instant::ZERO, key, failed: Vec::new(), known: VecDeque::new() }
    }

    /// Returns true if a handshake of this source may be computed. If a handshake may be computed, counts the
    /// handshake.
    pub fn admit(&mut self, now: Instant, source: IpAddr) -> bool {
        let source = self.hash(source);
        let recent = |failed: Option<Instant>| failed.is_some_and(|at| now < at + MEMORY);
        let known = self.known.iter().find(|known| known.source == source);
        let failed = match known {
            Some(known) => known.failed,
            None => self.failed.get(place(source)).copied().flatten(),
        };
        let reserve = match known {
            _ if recent(failed) => FOR_OTHERS,
            Some(_) => Duration::ZERO,
            None => FOR_KNOWN,
        };
        let used = self.full_at.saturating_since(now);
        let admitted = used + COST + reserve <= BURST;
        if admitted {
            self.full_at = self.full_at.max(now) + COST;
        }
        admitted
    }

    /// Records that a source used a wrong passphrase.
    pub fn fail(&mut self, now: Instant, source: IpAddr) {
        let source = self.hash(source);
        match self.known.iter_mut().find(|known| known.source == source) {
            Some(known) => known.failed = Some(now),
            None => {
                self.failed.resize(FAILED, None);
                self.failed[place(source)] = Some(now);
            }
        }
    }

    /// Records that a source used the right passphrase.
    pub fn succeed(&mut self, source: IpAddr) {
        let source = self.hash(source);
        let at = self.known.iter().position(|known| known.source == source);
        let known = at.and_then(|at| self.known.remove(at)).unwrap_or(Known { source, failed: None });
        if self.known.len() == KNOWN {
            self.known.pop_front();
        }
        self.known.push_back(known);
    }

    /// Returns the hash of a source. A source is an IPv4 address, or an IPv6 prefix of 64 bits.
    fn hash(&self, source: IpAddr) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        match source.to_canonical() {
            IpAddr::V4(a) => hasher.write(&a.octets()),
            IpAddr::V6(a) => hasher.write(&a.octets()[..8]),
        }
        hasher.finish()
    }
}

/// Returns the index of the entry for a source that failed.
fn place(hash: u64) -> usize {
    (hash % FAILED as u64) as usize
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    fn budget() -> Budget {
        Budget::new(&mut Seeds::new(1, 0).stream("budget"))
    }

    /// Twenty callers arrive per millisecond for ten seconds, each from its own source or all from one. Returns the
    /// number of derivations, and the number of refusals of `friend`, a source that calls once per second.
    fn flood(mut budget: Budget, sources: u64, friend: &str) -> (u32, u32) {
        let friend = friend.parse().unwrap();
        let (mut computed, mut refused) = (0, 0);
        for ms in 0..10_000 {
            let now = Instant::from_millis(ms);
            for n in 0..20 {
                let number = (20 * ms + n) % sources;
                let rogue = IpAddr::from([198, (number >> 16) as u8, (number >> 8) as u8, number as u8]);
                if budget.admit(now, rogue) {
                    budget.fail(now, rogue);
                    computed += 1;
                }
            }
            if ms % 1000 == 999 && !budget.admit(now, friend) {
                refused += 1;
            }
        }
        (computed, refused)
    }

    #[test]
    fn a_flood_gets_its_rate_and_leaves_room_for_others() {
        let (computed, refused) = flood(budget(), 1, "192.0.2.2");
        assert!((900..=1050).contains(&computed), "{computed}");
        assert_eq!(refused, 0);
    }

    /// Either each rogue caller has its own address, or all share one address, from which another caller used the right
    /// passphrase. With either kind of rogue callers, a source that never called before is also admitted.
    #[test]
    fn a_source_that_knew_the_passphrase_is_admitted_during_a_flood() {
        for (sources, friend) in [(1 << 24, "192.0.2.2"), (1, "192.0.2.2"), (1, "192.0.2.3")] {
            let mut budget = budget();
            budget.succeed("192.0.2.2".parse().unwrap());
            budget.succeed("198.0.0.0".parse().unwrap());
            let (computed, refused) = flood(budget, sources, friend);
            assert!((900..=1050).contains(&computed), "{computed}");
            assert_eq!(refused, 0, "{sources} sources, {friend}");
        }
    }
}
