//! Rate limits of answers to unknown sources. Tables of fixed size hold token buckets for source prefixes. One further
//! token bucket covers all sources.

use core::hash::Hasher as _;
use core::net::IpAddr;
use std::hash::DefaultHasher;

use super::config::AnswerRates;
use crate::seeds::Random;
use crate::time::{Duration, Instant};

/// Number of tables. Each source has a bucket in every table, selected by a different hash. The limiter refuses a
/// source only if all its buckets are empty. A source that shares one bucket with a flood therefore still gets answers.
const TABLES: usize = 2;
/// Number of buckets per table. With 20 000 answers/s to 20 000 prefixes, the answers use about 2 % of the rate of each
/// bucket.
const BUCKETS: usize = 4096;
/// Content of a full bucket: the answers of one second.
const DEPTH: Duration = Duration::from_secs(1);

/// Number of answers of an endpoint before its tables of buckets are allocated. Most endpoints never send more answers.
const EARLY: u32 = 8;

/// A token bucket, stored as the time at which the bucket is full again.
#[derive(Copy, Clone, Debug)]
struct Bucket {
    full_at: Instant,
}

impl Bucket {
    const FULL: Bucket = Bucket { full_at: Instant::ZERO };

    /// Returns whether the bucket still contains `cost`, which is a part of [`DEPTH`].
    fn has(&self, now: Instant, cost: Duration) -> bool {
        self.full_at.max(now) + cost <= now + DEPTH
    }

    /// Removes `cost` from the bucket, or the bucket's whole content if it contains less.
    fn take(&mut self, now: Instant, cost: Duration) {
        self.full_at = (self.full_at.max(now) + cost).min(now + DEPTH);
    }
}

/// Limiter of answers of one kind.
#[derive(Debug)]
pub(super) struct Limiter {
    rates: AnswerRates,
    all: Bucket,
    /// Buckets of all tables, one table after the other. Memory for the buckets is allocated with the first answer
    /// after [`EARLY`] answers.
    buckets: Box<[Bucket]>,
    early: u32,
    key: u64,
    /// Number of answers that were refused.
    pub refused: u64,
}

impl Limiter {
    /// Creates a limiter. `random` determines which sources share buckets. An attacker therefore cannot choose
    /// addresses that share the buckets of a victim.
    pub fn new(rates: AnswerRates, random: &mut Random) -> Self {
        let key = random.u64();
        Limiter { rates, all: Bucket::FULL, buckets: Box::default(), early: EARLY, key, refused: 0 }
    }

    /// Returns whether an answer to `source` may be sent. If so, removes the cost of the answer from the buckets of
    /// this source and from the bucket of all sources.
    pub fn admit(&mut self, now: Instant, source: IpAddr) -> bool {
        let cost = |per_s: u32| DEPTH / per_s.max(1);
        let all = cost(self.rates.all);
        let wants = [
            (self.places(prefix(source), 0), cost(self.rates.prefix)),
            (self.places(address(source), 1), cost(self.rates.address)),
        ];
        if self.buckets.is_empty() {
            if self.early > 0 && self.all.has(now, all) {
                self.early -= 1;
                self.all.take(now, all);
                return true;
            }
            self.buckets = vec![Bucket::FULL; TABLES * BUCKETS].into();
        }
        let has = |(places, cost): &([usize; TABLES], Duration)| {
            places.iter().any(|p| self.buckets[*p].has(now, *cost))
        };
        if !self.all.has(now, all) || !wants.iter().all(has) {
            self.refused += 1;
            return false;
        }
        self.all.take(now, all);
        for (places, cost) in wants {
            places.iter().for_each(|p| self.buckets[*p].take(now, cost));
        }
        true
    }

    /// Returns the index of the source's bucket in each table.
    fn places(&self, source: u128, level: u8) -> [usize; TABLES] {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        hasher.write_u8(level);
        hasher.write_u128(source);
        let hash = hasher.finish();
        core::array::from_fn(|table| table * BUCKETS + (hash >> (16 * table)) as usize % BUCKETS)
    }
}

fn prefix(a: IpAddr) -> u128 {
    match a.to_canonical() {
        IpAddr::V4(a) => 1 << 100 | u128::from(a.to_bits() >> 8),
        IpAddr::V6(a) => a.to_bits() >> 80,
    }
}

fn address(a: IpAddr) -> u128 {
    match a.to_canonical() {
        IpAddr::V4(a) => 1 << 100 | u128::from(a.to_bits()),
        IpAddr::V6(a) => a.to_bits() >> 64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::Seeds;

    fn limiter(all: u32, prefix: u32, address: u32) -> Limiter {
        Limiter::new(AnswerRates { all, prefix, address }, &mut Seeds::new(1, 0).stream("limiter"))
    }

    /// Returns the number of answers to 30 000 requests. One request arrives every 0.1 ms, from time 0 to 3 s. Request
    /// `n` comes from the source `of(n)`.
    fn answered(l: &mut Limiter, of: impl Fn(u32) -> IpAddr) -> usize {
        (0..30_000).filter(|n| l.admit(Instant::from_nanos(u64::from(*n) * 100_000), of(*n))).count()
    }

    #[test]
    fn no_more_than_the_rates_leave_from_the_first_packet_on() {
        let most = |n: usize, per_s: usize| (4 * per_s - 1..=4 * per_s + EARLY as usize).contains(&n);
        let one = answered(&mut limiter(10_000, 200, 50), |_| [10, 0, 0, 1].into());
        assert!(most(one, 50), "one second's worth at once, then 50 per second for three seconds: {one}");
        let net = answered(&mut limiter(10_000, 200, 50), |n| [10, 0, 0, n as u8].into());
        assert!(most(net, 200), "{net}");
        let v6 =
            |n: u32| IpAddr::V6((0x2001_0db8_0001_u128 << 80 | u128::from(n) << 64 | u128::from(n)).into());
        let net = answered(&mut limiter(10_000, 200, 50), v6);
        assert!(most(net, 200), "{net}");
        let mut l = limiter(1000, 200, 50);
        let all = answered(&mut l, |n| (n.wrapping_mul(2_654_435_761)).to_be_bytes().into());
        assert!(most(all, 1000), "{all}");
        assert_eq!(l.refused as usize, 30_000 - all);
    }

    /// A source that shares one bucket with a flooding source still gets answers.
    #[test]
    fn a_flood_from_one_prefix_takes_nothing_from_others() {
        let mut l = limiter(10_000, 200, 50);
        let mut refused = 0;
        for n in 0..30_000u32 {
            let now = Instant::from_nanos(u64::from(n) * 100_000);
            l.admit(now, [10, 0, 0, n as u8].into());
            if n % 10 == 0 {
                refused += usize::from(!l.admit(now, [172, (n >> 14) as u8, (n >> 6) as u8, 7].into()));
            }
        }
        assert_eq!(refused, 0);
    }
}
