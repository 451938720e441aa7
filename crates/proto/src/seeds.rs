//! Streams of random numbers, each with a label. Each purpose has its own generator, derived from (seed, run, label). A
//! new component therefore never changes the random numbers of others.

use core::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// Root from which all random streams of one run are derived.
#[derive(Clone)]
pub struct Seeds {
    key: [u8; 32],
}

/// The output omits the key, because the key would reveal every later random number.
impl fmt::Debug for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seeds").finish_non_exhaustive()
    }
}

impl Seeds {
    /// Creates reproducible streams: equal seed, run and label give equal random numbers on every machine.
    pub fn new(seed: u64, run: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&run.to_le_bytes());
        Seeds { key }
    }

    /// Creates unpredictable streams from 32 random bytes of the operating system.
    pub fn from_entropy(key: [u8; 32]) -> Self {
        Seeds { key }
    }

    /// Returns the stream for `label`, from its beginning at every call.
    pub fn stream(&self, label: &str) -> Random {
        Random(ChaCha8Rng::from_seed(self.derive(label)))
    }

    /// Returns seeds for a part of the run. Two parts may then use equal labels.
    pub fn child(&self, label: &str) -> Seeds {
        Seeds { key: self.derive(label) }
    }

    fn derive(&self, label: &str) -> [u8; 32] {
        Sha256::new().chain_update(self.key).chain_update(label.as_bytes()).finalize().into()
    }
}

/// A stream of random numbers (ChaCha8).
#[derive(Clone)]
pub struct Random(ChaCha8Rng);

/// The output omits the state, because it would reveal every later random number.
impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Random").finish_non_exhaustive()
    }
}

impl Random {
    /// Returns a uniform 32-bit number.
    pub fn u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// Returns a uniform 64-bit number.
    pub fn u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform number in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniform number in `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns a uniform number in `0..n`, without bias; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let zone = u64::MAX - (u64::MAX % n + 1) % n;
        loop {
            let v = self.u64();
            if v <= zone {
                return v % n;
            }
        }
    }

    /// Returns true with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Fills `out` with random bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        self.0.fill_bytes(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_label_run_and_seed() {
        let first = |seed, run, label| Seeds::new(seed, run).stream(label).u64();
        assert_eq!(first(1, 0, "a"), first(1, 0, "a"));
        for other in [first(2, 0, "a"), first(1, 1, "a"), first(1, 0, "b")] {
            assert_ne!(first(1, 0, "a"), other);
        }
    }

    /// Printed seeds reveal no random number.
    #[test]
    fn nothing_is_printed_of_them() {
        let seeds = Seeds::from_entropy([0x5a; 32]);
        assert_eq!(format!("{seeds:?} {:?}", seeds.stream("a")), "Seeds { .. } Random { .. }");
    }

    #[test]
    fn below_is_in_range_and_unit_is_uniform() {
        let mut r = Seeds::new(7, 0).stream("x");
        assert!((0..1000).all(|_| r.below(3) < 3));
        let mean = (0..100_000).map(|_| r.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
    }
}
