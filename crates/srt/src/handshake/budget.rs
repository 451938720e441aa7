//! Limit on the derivations of keys that callers can make a listener compute.

use core::hash::Hasher as _;
use core::net::IpAddr;
use std::hash::DefaultHasher;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

/// Time that one derivation takes from the budget, and the largest burst.
const COST: Duration = Duration::from_millis(10);
const BURST: Duration = Duration::from_millis(500);
/// Part of the burst that is kept for sources without recent failures.
const FOR_OTHERS: Duration = Duration::from_millis(300);
/// Sources whose failures are remembered. Several may share an entry.
const SOURCES: usize = 1024;
/// Time for which a failure is remembered.
const MEMORY: Duration = Duration::from_secs(10);

/// Admits up to 100 derivations per second, in bursts of 50.
pub(super) struct Budget {
    /// Time at which the whole burst is available again.
    full_at: Instant,
    key: u64,
    /// Time of the last failure, by the hash of the source.
    failed: Vec<Option<Instant>>,
}

impl Budget {
    pub fn new(random: &mut Random) -> Budget {
        Budget { full_at: Instant::ZERO, key: random.u64(), failed: Vec::new() }
    }

    /// Returns true if a handshake of this source may be computed, and counts it.
    pub fn admit(&mut self, now: Instant, source: IpAddr) -> bool {
        let failed = self.failed.get(self.place(source)).copied().flatten();
        let recent = failed.is_some_and(|at| now < at + MEMORY);
        let reserve = if recent { FOR_OTHERS } else { Duration::ZERO };
        let used = self.full_at.saturating_since(now);
        let admitted = used + COST + reserve <= BURST;
        if admitted {
            self.full_at = self.full_at.max(now) + COST;
        }
        admitted
    }

    /// Records that a source did not know the passphrase.
    pub fn fail(&mut self, now: Instant, source: IpAddr) {
        if self.failed.is_empty() {
            self.failed = vec![None; SOURCES];
        }
        let place = self.place(source);
        self.failed[place] = Some(now);
    }

    /// Place of a source: an IPv4 address or an IPv6 prefix of 64 bits.
    fn place(&self, source: IpAddr) -> usize {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        match source.to_canonical() {
            IpAddr::V4(a) => hasher.write(&a.octets()),
            IpAddr::V6(a) => hasher.write(&a.octets()[..8]),
        }
        (hasher.finish() % SOURCES as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    #[test]
    fn a_flood_gets_its_rate_and_leaves_room_for_others() {
        let mut budget = Budget::new(&mut Seeds::new(1, 0).stream("budget"));
        let (rogue, friend) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let (mut computed, mut refused) = (0, 0);
        for ms in 0..10_000 {
            let now = Instant::from_millis(ms);
            for _ in 0..20 {
                if budget.admit(now, rogue) {
                    budget.fail(now, rogue);
                    computed += 1;
                }
            }
            if ms % 1000 == 999 && !budget.admit(now, friend) {
                refused += 1;
            }
        }
        assert!((900..=1050).contains(&computed), "{computed}");
        assert_eq!(refused, 0);
    }
}
