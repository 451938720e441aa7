//! Limits on the number of handshakes that other hosts can make a responder compute.

use core::hash::Hasher as _;
use core::net::IpAddr;
use std::hash::DefaultHasher;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

use super::seen::Seen;

/// Size of the burst of handshakes that is permitted before cookies are required. The size is given as a time at the
/// rate `cookies`.
const DEPTH: Duration = Duration::from_secs(1);
/// Size of the largest permitted burst of handshakes. The size is given as a time at the rate `ceiling`. During such a
/// burst, all other work must wait.
const CEILING_DEPTH: Duration = Duration::from_millis(500);
/// Reciprocal of the largest part of a receiver's time that handshakes may take, on a machine of any speed.
const PARTS: u32 = 4;
/// Number of tables with weights of sources. `ENTRIES` is the number of entries per table. A source has one entry in
/// each table. The weight of a source is the smallest of its entries. If 2000 other sources have a weight above 0,
/// about one source in 6000 shares all its entries with them.
const TABLES: usize = 4;
const ENTRIES: usize = 1 << 14;
/// Weight that one handshake adds to a source. `HEAVIEST` is the maximum weight of an entry.
const WEIGHT: u8 = 4;
const HEAVIEST: u8 = 16;
/// Part of the burst that is reserved for sources that opened a session before. The reserved part is given as a time.
/// Other sources cannot use this part, regardless of their weights.
const FOR_KNOWN: Duration = Duration::from_millis(60);
/// Interval after which all weights are halved.
const HALVING: Duration = Duration::from_secs(4);

/// A token bucket, stored as the time at which it is full again.
struct Bucket {
    depth: Duration,
    cost: Duration,
    full_at: Instant,
}

impl Bucket {
    fn new(per_s: u32, depth: Duration) -> Self {
        Bucket { depth, cost: Duration::from_secs(1) / per_s.max(1), full_at: Instant::ZERO }
    }

    /// Returns whether the bucket has a token in addition to `reserve`.
    fn has(&self, now: Instant, reserve: Duration) -> bool {
        self.full_at.saturating_since(now) + self.cost + reserve <= self.depth
    }

    /// Takes one token, or the remaining part of a token.
    fn take(&mut self, now: Instant) {
        self.full_at = (self.full_at.max(now) + self.cost).min(now + self.depth);
    }

    /// Takes tokens that are worth `time`. The bucket may go into debt, by at most its own size.
    fn owe(&mut self, now: Instant, time: Duration) {
        self.full_at = (self.full_at.max(now) + time).min(now + 2 * self.depth);
    }
}

/// Limiter that admits handshakes up to a maximum rate. Up to half of a burst is reserved for sources with few recent
/// handshakes. Sources with many handshakes share the rest of the burst. Sources with many handshakes get all of the
/// burst's rest if no other source begins a handshake. One eighth of the burst is reserved for sources that opened a
/// session before. A responder cannot distinguish an unknown genuine sender from an attacker. A flood from very many
/// address prefixes therefore uses only its share of the part that is not reserved for known sources.
pub(super) struct Load {
    cookies: Bucket,
    ceiling: Bucket,
    key: u64,
    /// Entries of all [`TABLES`] tables, one table after the other. This memory is allocated when the load first
    /// becomes high.
    weights: Box<[u8]>,
    halve_at: Instant,
    /// Sources that opened a session before.
    known: Seen,
}

impl Load {
    /// Creates a limiter with two rates, both in handshakes per second. Above the rate `cookies`, senders must prove
    /// their addresses first. Above the rate `ceiling`, handshakes are refused.
    pub fn new(cookies: u32, ceiling: u32, random: &mut Random) -> Self {
        Load {
            cookies: Bucket::new(cookies, DEPTH),
            ceiling: Bucket::new(ceiling, CEILING_DEPTH),
            key: random.u64(),
            weights: Box::default(),
            halve_at: Instant::ZERO,
            known: Seen::default(),
        }
    }

    /// Returns whether senders must now prove their addresses by a cookie.
    pub fn demands_cookie(&self, now: Instant) -> bool {
        !self.cookies.has(now, Duration::ZERO)
    }

    /// Returns whether a handshake for `source` may be computed. A handshake that may be computed is counted.
    pub fn admit(&mut self, now: Instant, source: IpAddr) -> bool {
        self.halve(now);
        let places = self.places(source);
        let weight = places.iter().map(|p| self.weights.get(*p).copied().unwrap_or(0)).min().unwrap_or(0);
        let for_lighter = CEILING_DEPTH / 2 * u32::from(weight.min(HEAVIEST)) / u32::from(HEAVIEST);
        let for_known = if self.known.contains(self.hash(source)) { Duration::ZERO } else { FOR_KNOWN };
        if !self.ceiling.has(now, (for_lighter + for_known).min(CEILING_DEPTH / 2)) {
            return false;
        }
        if self.demands_cookie(now) {
            if self.weights.is_empty() {
                self.weights = vec![0; TABLES * ENTRIES].into();
            }
            places.iter().for_each(|p| self.weights[*p] = self.weights[*p].saturating_add(WEIGHT));
        }
        self.ceiling.take(now);
        self.cookies.take(now);
        true
    }

    /// Reports that the admitted handshakes took `time` by the driver's clock, up to `now`. If the handshakes took more
    /// than their share of the time, fewer handshakes are admitted later.
    pub fn took(&mut self, now: Instant, handshakes: u32, time: Duration) {
        self.ceiling.owe(now, (time * PARTS).saturating_sub(self.ceiling.cost * handshakes));
    }

    fn halve(&mut self, now: Instant) {
        if now < self.halve_at {
            return;
        }
        let halvings = 1 + now.saturating_since(self.halve_at).as_nanos() / HALVING.as_nanos();
        let shift = u32::try_from(halvings).unwrap_or(u32::MAX).min(7);
        self.weights.iter_mut().for_each(|w| *w >>= shift);
        self.halve_at = now + HALVING;
    }

    /// Records that an admitted sender has opened a session from the proven address `source`.
    pub fn remember(&mut self, source: IpAddr, random: &mut Random) {
        let hash = self.hash(source);
        self.known.insert(hash, random);
    }

    /// Returns the index of the source's entry in each table.
    fn places(&self, source: IpAddr) -> [usize; TABLES] {
        let hash = self.hash(source);
        core::array::from_fn(|table| table * ENTRIES + (hash >> (16 * table)) as usize % ENTRIES)
    }

    fn hash(&self, source: IpAddr) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        hasher.write_u128(prefix(source));
        hasher.finish()
    }
}

/// Returns the prefix of an address: /24 for IPv4, /48 for IPv6. One attacker may have all addresses of a prefix.
fn prefix(a: IpAddr) -> u128 {
    match a.to_canonical() {
        IpAddr::V4(a) => 1 << 100 | u128::from(a.to_bits() >> 8),
        IpAddr::V6(a) => a.to_bits() >> 80,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use strandcast_proto::seeds::Seeds;

    use super::*;

    /// Returns the number of handshakes computed in ten seconds for a flood from `prefixes` prefixes, if each takes
    /// `took`. Also returns the wait of another source during the flood.
    fn flooded(prefixes: u32, took: Duration) -> (u32, Duration) {
        let mut load = Load::new(100, 500, &mut Seeds::new(1, 0).stream("load"));
        let (start, mut computed) = (Instant::from_millis(1000), 0);
        let mut now = start;
        for n in 0u32.. {
            if now > start + Duration::from_secs(10) {
                break;
            }
            if load.admit(now, Ipv4Addr::from_bits((n % prefixes) << 8).into()) {
                computed += 1;
                now += took;
                load.took(now, 1, took);
            }
            now += Duration::from_micros(100);
        }
        let asked = now;
        while !load.admit(now, Ipv4Addr::from_bits(u32::MAX).into()) {
            now += Duration::from_micros(100);
        }
        (computed, now - asked)
    }

    #[test]
    fn handshakes_leave_three_quarters_of_the_time_on_slow_machines_too() {
        // The rate per second, and the first burst.
        for (took_us, least, most) in
            [(100, 5000, 5250), (1000, 2500, 2750), (5000, 500, 550), (50_000, 50, 56)]
        {
            for prefixes in [200, 1 << 20] {
                let (computed, wait) = flooded(prefixes, Duration::from_micros(took_us));
                assert!((least..=most).contains(&computed), "{took_us} us, {prefixes}: {computed}");
                // The flood's last handshake is paid for.
                let paid = Duration::from_micros(took_us) * PARTS;
                assert!(wait <= paid + Duration::from_millis(2), "{took_us} us, {prefixes}: {wait:?}");
            }
        }
    }
}
