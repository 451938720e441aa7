//! Fingerprint of a run: a hash over all its events. Two runs with equal fingerprints had equal events.

use core::fmt;

use strandcast_proto::time::Instant;

/// FNV-1a hash with 64 bits over all recorded events. The hash is shown as 16 hexadecimal digits. The hash
/// distinguishes runs. The hash offers no protection against forgery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint of a run without events.
    pub const fn new() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    /// Adds one event: its time, its kind, and its numbers (ids, lengths). The lengths of `kind` and `numbers` are also
    /// hashed. Events that differ therefore have different hashes, even if their concatenated bytes are equal.
    pub fn record(&mut self, at: Instant, kind: &str, numbers: &[u64]) {
        self.add(&at.as_nanos().to_le_bytes());
        self.add(&(kind.len() as u64).to_le_bytes());
        self.add(kind.as_bytes());
        self.add(&(numbers.len() as u64).to_le_bytes());
        for number in numbers {
            self.add(&number.to_le_bytes());
        }
    }

    /// Adds a number to the last event.
    pub fn add_word(&mut self, word: u64) {
        // A whole word per step, folded so that every bit of it reaches every bit of the sum: bytewise FNV
        // would cost more than the rest of a packet's journey over a link.
        let wide = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = ((wide >> 64) as u64 ^ wide as u64).wrapping_add(0x2545_f491_4f6c_dd1d);
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint::new()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of draft-eastlake-fnv, appendix C.
    #[test]
    fn hash_is_fnv_1a_64() {
        for (text, hash) in
            [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
        {
            let mut fingerprint = Fingerprint::new();
            fingerprint.add(text.as_bytes());
            assert_eq!(fingerprint.to_string(), hash, "{text:?}");
        }
    }

    #[test]
    fn every_part_and_the_order_count() {
        let of = |events: &[(u64, &str, &[u64])]| {
            let mut fingerprint = Fingerprint::new();
            for &(ns, kind, numbers) in events {
                fingerprint.record(Instant::from_nanos(ns), kind, numbers);
            }
            fingerprint
        };
        let base = of(&[(1, "send", &[1, 2]), (2, "drop", &[3])]);
        assert_eq!(base, of(&[(1, "send", &[1, 2]), (2, "drop", &[3])]));
        for other in [
            of(&[(3, "send", &[1, 2]), (2, "drop", &[3])]),
            of(&[(1, "sent", &[1, 2]), (2, "drop", &[3])]),
            of(&[(1, "send", &[1, 3]), (2, "drop", &[3])]),
            of(&[(1, "send", &[1]), (2, "drop", &[3])]),
            of(&[(2, "drop", &[3]), (1, "send", &[1, 2])]),
        ] {
            assert_ne!(base, other);
        }
        let same_bytes = of(&[(1, "a\u{1}\0\0\0\0\0\0\0", &[])]);
        assert_ne!(of(&[(1, "a", &[0])]), same_bytes, "lengths keep parts apart");
    }
}
