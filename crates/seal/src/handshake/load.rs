//! How many handshakes others may make a responder compute.

use core::hash::Hasher as _;
use core::net::IpAddr;
use std::hash::DefaultHasher;

use strandcast_proto::seeds::Random;
use strandcast_proto::time::{Duration, Instant};

/// Handshakes at once before cookies are demanded: those of so long.
const DEPTH: Duration = Duration::from_secs(1);
/// Handshakes at once at most: those of so long. They keep everything else waiting.
const CEILING_DEPTH: Duration = Duration::from_millis(500);
/// Weights of sources: tables, and entries of each. A source has one in each table, and counts as light as the lightest of
/// them: beside 2000 others that weigh something, one of 6000 shares all of its own.
const TABLES: usize = 4;
const ENTRIES: usize = 1 << 14;
/// What a handshake weighs at first, and where more weight changes nothing.
const WEIGHT: u8 = 4;
const HEAVIEST: u8 = 16;
/// How often weights are halved.
const HALVING: Duration = Duration::from_secs(4);

/// A token bucket, as the time at which it is full again.
struct Bucket {
    depth: Duration,
    cost: Duration,
    full_at: Instant,
}

impl Bucket {
    fn new(per_s: u32, depth: Duration) -> Self {
        Bucket { depth, cost: Duration::from_secs(1) / per_s.max(1), full_at: Instant::ZERO }
    }

    /// Whether a token is there beside `reserve`.
    fn has(&self, now: Instant, reserve: Duration) -> bool {
        self.full_at.saturating_since(now) + self.cost + reserve <= self.depth
    }

    /// Takes a token, or what is there.
    fn take(&mut self, now: Instant) {
        self.full_at = (self.full_at.max(now) + self.cost).min(now + self.depth);
    }
}

/// Admits handshakes up to a ceiling. Up to half of what it would admit at once is kept for sources that had few of
/// late, so that those who ask often get what others leave, and all of it if there are no others. Sources that were
/// not heard of before are alike: a flood from more prefixes than handshakes are computed for in some seconds takes its share.
pub(super) struct Load {
    cookies: Bucket,
    ceiling: Bucket,
    key: u64,
    /// `TABLES` one after the other, made under the first load.
    weights: Box<[u8]>,
    halve_at: Instant,
}

impl Load {
    /// Rates in handshakes per second: above the first, senders have to prove their addresses; above the second,
    /// handshakes are refused.
    pub fn new(cookies: u32, ceiling: u32, random: &mut Random) -> Self {
        Load {
            cookies: Bucket::new(cookies, DEPTH),
            ceiling: Bucket::new(ceiling, CEILING_DEPTH),
            key: random.u64(),
            weights: Box::default(),
            halve_at: Instant::ZERO,
        }
    }

    /// Whether a sender has to prove its address first.
    pub fn demands_cookie(&self, now: Instant) -> bool {
        !self.cookies.has(now, Duration::ZERO)
    }

    /// Whether to compute a handshake for `source`, which then has been counted.
    pub fn admit(&mut self, now: Instant, source: IpAddr) -> bool {
        self.halve(now);
        let places = self.places(source);
        let weight = places.iter().map(|p| self.weights.get(*p).copied().unwrap_or(0)).min().unwrap_or(0);
        let reserve = CEILING_DEPTH / 2 * u32::from(weight.min(HEAVIEST)) / u32::from(HEAVIEST);
        if !self.ceiling.has(now, reserve) {
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

    fn halve(&mut self, now: Instant) {
        if now < self.halve_at {
            return;
        }
        let halvings = 1 + now.saturating_since(self.halve_at).as_nanos() / HALVING.as_nanos();
        let shift = u32::try_from(halvings).unwrap_or(u32::MAX).min(7);
        self.weights.iter_mut().for_each(|w| *w >>= shift);
        self.halve_at = now + HALVING;
    }

    /// A place in each table.
    fn places(&self, source: IpAddr) -> [usize; TABLES] {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        hasher.write_u128(prefix(source));
        let hash = hasher.finish();
        core::array::from_fn(|table| table * ENTRIES + (hash >> (16 * table)) as usize % ENTRIES)
    }
}

/// What one attacker has many addresses of: /24 of IPv4, /48 of IPv6.
fn prefix(a: IpAddr) -> u128 {
    match a.to_canonical() {
        IpAddr::V4(a) => 1 << 100 | u128::from(a.to_bits() >> 8),
        IpAddr::V6(a) => a.to_bits() >> 80,
    }
}
