//! Coefficients of a repair symbol, computed from its seed. Both ends compute equal coefficients.

use crate::codecs::tinymt::TinyMt32;
use crate::symbol::DENSEST;

/// Rule by which coefficients are computed from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coefficients {
    /// Coefficients are uniform over GF(256). Each coefficient takes one number of TinyMT32.
    Bytes,
    /// Coefficients are 0 or 1 with equal probability. Random coefficients are the bits of TinyMT32's numbers, lowest
    /// bit first.
    Bits,
    /// Coefficients follow RFC 8681 §3.6 with m = 8. The seed consists of the repair key and the density threshold. The
    /// threshold begins at bit 16.
    Rfc8681,
}

impl Coefficients {
    /// Returns whether a symbol may have the seed `seed`.
    pub(crate) fn valid(self, seed: u32) -> bool {
        self != Coefficients::Rfc8681 || seed >> 16 <= u32::from(DENSEST)
    }

    /// Fills `out` with one coefficient per source symbol, in the order of the symbols.
    pub(crate) fn fill(self, seed: u32, out: &mut [u8]) {
        match self {
            Coefficients::Bytes => {
                let mut generator = TinyMt32::new(seed);
                out.fill_with(|| generator.next_256());
            }
            Coefficients::Bits => {
                let mut generator = TinyMt32::new(seed);
                for word in out.chunks_mut(32) {
                    let bits = generator.next_u32();
                    for (i, one) in word.iter_mut().enumerate() {
                        *one = (bits >> i & 1) as u8;
                    }
                }
            }
            Coefficients::Rfc8681 => sparse(TinyMt32::new(seed & 0xffff), (seed >> 16) as u8, out),
        }
    }
}

/// Fills `out` with coefficients by RFC 8681 §3.6. A coefficient is nonzero with probability (threshold + 1)/16. With
/// the remaining probability, a coefficient is 0. The threshold must be below 15.
fn sparse(mut generator: TinyMt32, threshold: u8, out: &mut [u8]) {
    for one in out {
        *one = 0;
        if threshold == DENSEST || generator.next_16() <= threshold {
            while *one == 0 {
                *one = generator.next_256();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn<const N: usize>(how: Coefficients, seed: u32) -> [u8; N] {
        let mut out = [0xAA; N];
        how.fill(seed, &mut out);
        out
    }

    /// RFC 8682 §2.3: with seed 1, the first low bytes are 37, 225, 177, 176.
    #[test]
    fn dense_coefficients_are_the_generator_s_bytes() {
        assert_eq!(drawn(Coefficients::Bytes, 1), [37, 225, 177, 176]);
        assert_eq!(drawn(Coefficients::Rfc8681, 15 << 16 | 1), [37, 225, 177, 176]);
    }

    /// The number 2545341989 is 0x97B6_D625, which ends in 0110 0010 0101.
    #[test]
    fn bits_are_those_of_the_generator_s_numbers_lowest_first() {
        let bits: [u8; 33] = drawn(Coefficients::Bits, 1);
        assert_eq!(bits[..12], [1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0]);
        // 981918433 is odd.
        assert_eq!(bits[32], 1);
    }

    /// The low halves are 5, 1, 1, 0, 5, 6, 6, 11. With threshold 1, the first coefficient is 0 (5 > 1). The second
    /// coefficient is drawn (1 <= 1) as the byte that follows (177). For the third coefficient, 0 <= 1 draws 21, and 6,
    /// 6, 11 give 0.
    #[test]
    fn a_threshold_leaves_coefficients_out() {
        assert_eq!(drawn(Coefficients::Rfc8681, 1 << 16 | 1), [0, 177, 21, 0, 0, 0]);
    }

    #[test]
    fn a_seed_with_a_threshold_beyond_15_is_not_valid() {
        assert!(Coefficients::Rfc8681.valid(15 << 16 | 0xffff));
        assert!(!Coefficients::Rfc8681.valid(16 << 16));
        assert!(Coefficients::Bits.valid(u32::MAX));
    }
}
