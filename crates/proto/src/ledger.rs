//! Limit of redundancy: a hard cap on redundant bytes divided by bytes of media. An association has two ledgers. One
//! ledger compares repair symbols with source symbols ([`crate::coding::RepairCoding::redundancy`]). The other compares
//! all bytes that a scheme adds with the bytes of media ([`crate::config::TransportConfig::redundancy`]).
//!
//! | is | by |
//! |---|---|
//! | earned with what leaves for the first time | its bytes · redundancy |
//! | spent on each copy or repair symbol | its bytes; never more than was earned and not spent |
//! | saved | at most `most` bytes: what is earned beyond is lost |
//!
//! At any time, redundant bytes ≤ redundancy · media, counted over all data sent so far. A limit of the savings keeps
//! bursts short: savings of a long time cannot be sent within one round trip.

/// Number of units into which the ledger divides a byte.
const PARTS: u64 = 1_000_000;

/// Ledger of the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    /// Units that one byte of media earns.
    rate: u64,
    /// Units that may be spent now.
    saved: u64,
    /// Maximum units that may be saved.
    most: u64,
    /// Bytes of media that were sent, and bytes of redundancy that were sent.
    left: (u64, u64),
}

impl Ledger {
    /// Creates a ledger. `redundancy` is the largest permitted ratio of redundant bytes to bytes of media. The ratio is
    /// rounded down to whole millionths, and a negative ratio counts as 0. `most` is the largest number of bytes that
    /// may be saved.
    pub fn new(redundancy: f64, most: u64) -> Self {
        let rate = (redundancy.max(0.0) * PARTS as f64) as u64;
        Ledger { rate, saved: 0, most: most.saturating_mul(PARTS), left: (0, 0) }
    }

    /// Limits the savings to `most` bytes from now on.
    pub fn bound(&mut self, most: u64) {
        self.most = most.saturating_mul(PARTS);
        self.saved = self.saved.min(self.most);
    }

    /// Adds the earnings of `bytes` bytes of media that are sent for the first time.
    #[inline]
    pub fn earn(&mut self, bytes: usize) {
        self.left.0 += bytes as u64;
        let earned = self.rate.saturating_mul(bytes as u64);
        self.saved = self.saved.saturating_add(earned).min(self.most);
    }

    /// Returns whether `bytes` bytes of redundancy may be sent.
    #[inline]
    pub fn allows(&self, bytes: usize) -> bool {
        self.saved >= parts(bytes)
    }

    /// Spends `bytes` bytes of redundancy, which are being sent.
    ///
    /// # Panics
    /// Panics if these bytes exceed the savings.
    pub fn spend(&mut self, bytes: usize) {
        self.left.1 += bytes as u64;
        self.saved = self.saved.checked_sub(parts(bytes)).expect("the ledger allowed it");
    }

    /// Returns the bytes of redundancy that may be spent now.
    pub fn saved(&self) -> u64 {
        self.saved / PARTS
    }

    /// Panics if more redundancy was spent than the cap allows.
    #[cfg(any(test, feature = "testing"))]
    pub fn assert_kept(&self) {
        let (media, spent) = self.left;
        assert!(spent * PARTS <= self.rate * media, "{spent} bytes for {media} of media");
    }

    /// Returns the fraction of a source symbol's bytes that may be spent on this symbol alone. Without savings the part
    /// is the configured redundancy. The part rises to 1 with full savings.
    pub fn generosity(&self) -> f64 {
        let redundancy = (self.rate as f64 / PARTS as f64).min(1.0);
        let full = self.saved as f64 / self.most.max(1) as f64;
        redundancy + (1.0 - redundancy) * full * full
    }
}

fn parts(bytes: usize) -> u64 {
    (bytes as u64).saturating_mul(PARTS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 5 % of 20 · 1000 bytes are 1000.
    #[test]
    fn twenty_sources_pay_for_one_repair_symbol_at_five_percent() {
        let mut ledger = Ledger::new(0.05, 10_000);
        for sent in 0..20 {
            assert!(!ledger.allows(1000), "after {sent}");
            ledger.earn(1000);
        }
        assert!(ledger.allows(1000) && !ledger.allows(1001));
        ledger.spend(1000);
        assert_eq!((ledger.saved(), ledger.allows(1)), (0, false));
    }

    #[test]
    fn no_more_is_saved_than_the_bound() {
        let mut ledger = Ledger::new(0.05, 3000);
        (0..10_000).for_each(|_| ledger.earn(1000));
        assert_eq!((ledger.saved(), ledger.generosity()), (3000, 1.0));
    }

    #[test]
    fn generosity_begins_with_the_redundancy() {
        let mut ledger = Ledger::new(0.05, 1000);
        assert!((ledger.generosity() - 0.05).abs() < 1e-9);
        ledger.earn(10_000);
        // The ledger is half full: .05 + .95 / 4.
        assert!((ledger.generosity() - 0.2875).abs() < 1e-9);
    }

    #[test]
    #[should_panic(expected = "the ledger allowed it")]
    fn what_was_not_earned_is_not_spent() {
        Ledger::new(0.05, 1000).spend(1);
    }

    proptest! {
        #[test]
        fn repair_never_exceeds_its_share_whatever_is_sent(
            redundancy in 0.0..=0.5f64,
            most in 0..100_000u64,
            steps in prop::collection::vec((any::<bool>(), 1..1500usize), 1..400),
        ) {
            let mut ledger = Ledger::new(redundancy, most);
            let (mut sources, mut repairs) = (0usize, 0usize);
            for (source, bytes) in steps {
                if source {
                    ledger.earn(bytes);
                    sources += bytes;
                } else if ledger.allows(bytes) {
                    ledger.spend(bytes);
                    repairs += bytes;
                }
                prop_assert!(repairs as f64 <= redundancy * sources as f64 + 1e-9, "{repairs} of {sources}");
                ledger.assert_kept();
                prop_assert!(ledger.saved() <= most);
            }
        }
    }
}
