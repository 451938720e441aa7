//! Sums of products over GF(256), computed on whole symbols. The result is equal with every instruction set.

use fearless_simd::{Level, Simd, dispatch, prelude::*};

use crate::codecs::field::NIBBLES;

/// Alignment in bytes: the length of each row is a multiple of it. The alignment is the width of the widest vector, so
/// that rows have no remainder.
pub(crate) const ALIGNMENT: usize = 64;

/// Returns the length of a row with room for `length` bytes.
pub(crate) const fn row(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT)
}

/// A row in an arena, and the coefficient by which the row is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub coefficient: u8,
    /// Offset of the row in the arena, in bytes.
    pub at: usize,
}

/// Arithmetic with the best instructions of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel(Level);

impl Kernel {
    pub(crate) fn new() -> Self {
        Kernel(Level::new())
    }

    /// Multiplies rows of `arena` by their coefficients, and adds the products to `target`. Each row is as long as
    /// `target`.
    pub(crate) fn add(self, target: &mut [u8], arena: &[u8], terms: &[Term]) {
        debug_assert!(target.len().is_multiple_of(ALIGNMENT), "rows have no rest");
        #[cfg(target_arch = "x86_64")]
        if let Some(level) = self.0.as_avx512() {
            return gfni::add(level, target, arena, terms);
        }
        if !self.looks_up() {
            return planes::add(target, arena, terms);
        }
        dispatch!(self.0, simd => add(simd, target, arena, terms));
    }

    /// Returns whether one instruction can look up all bytes of a vector in a table.
    fn looks_up(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self.0.as_sse4_2().is_some();
        #[cfg(not(target_arch = "x86_64"))]
        return !self.0.is_fallback();
    }

    /// Multiplies `target` by `coefficient`.
    pub(crate) fn scale(self, target: &mut [u8], coefficient: u8) {
        debug_assert!(target.len().is_multiple_of(ALIGNMENT), "rows have no rest");
        match coefficient {
            1 => {}
            _ if self.looks_up() => dispatch!(self.0, simd => scale(simd, target, coefficient)),
            _ => planes::scale(target, coefficient),
        }
    }
}

/// Arithmetic with one instruction set of this machine, for tests and benchmarks.
#[cfg(any(test, feature = "testing"))]
#[derive(Clone, Copy, Debug)]
pub struct Instructions(Kernel, &'static str);

#[cfg(any(test, feature = "testing"))]
impl Instructions {
    /// Returns all instruction sets of this machine, from the weakest to the strongest.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Instructions(Kernel(Level::baseline()), "baseline")];
        let best = Level::new();
        #[cfg(not(target_arch = "x86_64"))]
        all.push(Instructions(Kernel(best), "best"));
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(best.as_sse4_2().map(|token| Instructions(Kernel(token.level()), "sse4.2")));
            all.extend(best.as_avx2().map(|token| Instructions(Kernel(token.level()), "avx2")));
            all.extend(best.as_avx512().map(|token| Instructions(Kernel(token.level()), "avx512, gfni")));
        }
        all
    }

    /// Returns the name of the instruction set.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.1
    }

    /// Multiplies the rows of `arena` by their coefficients, and adds the products to `target`. Each row is as long as
    /// `target`. All lengths are multiples of 64.
    pub fn add(self, target: &mut [u8], arena: &[u8], coefficients: &[u8]) {
        let length = target.len();
        let term = |(i, &coefficient): (usize, &u8)| Term { coefficient, at: i * length };
        let terms: Vec<_> = coefficients.iter().enumerate().map(term).collect();
        self.0.add(target, arena, &terms);
    }

    /// Multiplies `target` by `coefficient`.
    pub fn scale(self, target: &mut [u8], coefficient: u8) {
        self.0.scale(target, coefficient);
    }
}

/// Returns the tables of products for both halves of a byte. The tables are repeated in each 16-byte block of a vector.
#[inline(always)]
fn tables<S: Simd>(simd: S, coefficient: u8) -> (S::u8s, S::u8s) {
    let table = &NIBBLES[coefficient as usize];
    let block = |half: usize| {
        let block = fearless_simd::u8x16::from_slice(simd, &table[half..half + 16]);
        S::u8s::block_splat(block)
    };
    (block(0), block(16))
}

#[inline(always)]
fn product<S: Simd>(simd: S, (low, high): (S::u8s, S::u8s), bytes: S::u8s) -> S::u8s {
    let mask = S::u8s::splat(simd, 15);
    low.swizzle_dyn_within_blocks(bytes & mask) ^ high.swizzle_dyn_within_blocks(bytes >> 4)
}

/// Number of vectors that are summed at one time.
const ABREAST: usize = 4;

#[inline(always)]
fn add<S: Simd>(simd: S, target: &mut [u8], arena: &[u8], terms: &[Term]) {
    let mut from = 0;
    let wide = ABREAST * S::u8s::LEN;
    while from + wide <= target.len() {
        add_at::<S, ABREAST>(simd, &mut target[from..from + wide], from, arena, terms);
        from += wide;
    }
    while from < target.len() {
        add_at::<S, 1>(simd, &mut target[from..from + S::u8s::LEN], from, arena, terms);
        from += S::u8s::LEN;
    }
}

/// Computes a part of the sum: `N` vectors, starting `from` bytes after the beginning of each row.
#[inline(always)]
fn add_at<S: Simd, const N: usize>(simd: S, target: &mut [u8], from: usize, arena: &[u8], terms: &[Term]) {
    let width = S::u8s::LEN;
    let load = |bytes: &[u8], i: usize| S::u8s::from_slice(simd, &bytes[i * width..(i + 1) * width]);
    let mut sums: [S::u8s; N] = std::array::from_fn(|i| load(target, i));
    for term in terms {
        let source = &arena[term.at + from..][..N * width];
        if term.coefficient == 1 {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum ^= load(source, i);
            }
        } else {
            let tables = tables(simd, term.coefficient);
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum ^= product(simd, tables, load(source, i));
            }
        }
    }
    for (sum, bytes) in sums.iter().zip(target.chunks_exact_mut(width)) {
        sum.store_slice(bytes);
    }
}

#[inline(always)]
fn scale<S: Simd>(simd: S, target: &mut [u8], coefficient: u8) {
    let tables = tables(simd, coefficient);
    for bytes in target.chunks_exact_mut(S::u8s::LEN) {
        product(simd, tables, S::u8s::from_slice(simd, bytes)).store_slice(bytes);
    }
}

/// Multiplication of vectors bit by bit, for instruction sets that cannot look up bytes in a table.
mod planes {
    use super::{ALIGNMENT, Term};
    use crate::codecs::field::multiply;

    /// Returns the products of a coefficient with the powers of two.
    fn powers(coefficient: u8) -> [u8; 8] {
        std::array::from_fn(|bit| multiply(coefficient, 1 << bit))
    }

    fn product(powers: &[u8; 8], byte: u8) -> u8 {
        (0..8).fold(0, |sum, bit| sum ^ (powers[bit] & 0u8.wrapping_sub(byte >> bit & 1)))
    }

    pub(super) fn add(target: &mut [u8], arena: &[u8], terms: &[Term]) {
        let length = target.len();
        for term in terms {
            let powers = powers(term.coefficient);
            let source = &arena[term.at..][..length];
            for (sums, bytes) in target.chunks_exact_mut(ALIGNMENT).zip(source.chunks_exact(ALIGNMENT)) {
                for (sum, &byte) in sums.iter_mut().zip(bytes) {
                    *sum ^= product(&powers, byte);
                }
            }
        }
    }

    pub(super) fn scale(target: &mut [u8], coefficient: u8) {
        let powers = powers(coefficient);
        for byte in target {
            *byte = product(&powers, *byte);
        }
    }
}

/// Multiplication with a single instruction, which applies a matrix of bits to each byte.
#[cfg(target_arch = "x86_64")]
mod gfni {
    use std::arch::x86_64::{__m512i, _mm512_gf2p8affine_epi64_epi8, _mm512_set1_epi64, _mm512_xor_si512};

    use fearless_simd::{SimdInto, prelude::*, u8x64};

    use super::Term;
    use crate::codecs::field::multiply;

    /// Multiplication by each element as a matrix of bits. Byte 7 - i has the bits of the factor whose products have
    /// bit i.
    static MATRICES: [u64; 256] = {
        let mut table = [0; 256];
        let mut a = 0;
        while a < 256 {
            let mut j = 0;
            while j < 8 {
                let column = multiply(a as u8, 1 << j);
                let mut i = 0;
                while i < 8 {
                    if column >> i & 1 == 1 {
                        table[a] |= 1 << (8 * (7 - i) + j);
                    }
                    i += 1;
                }
                j += 1;
            }
            a += 1;
        }
        table
    };

    const WIDTH: usize = 64;
    const ABREAST: usize = 4;

    fearless_simd::kernel!(
        pub(super) fn add(level: Avx512, target: &mut [u8], arena: &[u8], terms: &[Term]) {
            let load = |bytes: &[u8]| -> __m512i { u8x64::from_slice(level, bytes).into() };
            let product = |term: &Term, bytes: &[u8]| {
                let matrix = _mm512_set1_epi64(MATRICES[term.coefficient as usize] as i64);
                _mm512_gf2p8affine_epi64_epi8::<0>(load(bytes), matrix)
            };
            let mut wide = target.chunks_exact_mut(ABREAST * WIDTH);
            let mut from = 0;
            for part in &mut wide {
                let mut sums: [__m512i; ABREAST] =
                    std::array::from_fn(|i| load(&part[i * WIDTH..(i + 1) * WIDTH]));
                for term in terms {
                    let source = &arena[term.at + from..][..ABREAST * WIDTH];
                    for (sum, bytes) in sums.iter_mut().zip(source.chunks_exact(WIDTH)) {
                        *sum = _mm512_xor_si512(*sum, product(term, bytes));
                    }
                }
                for (sum, bytes) in sums.iter().zip(part.chunks_exact_mut(WIDTH)) {
                    let sum: u8x64<_> = (*sum).simd_into(level);
                    sum.store_slice(bytes);
                }
                from += ABREAST * WIDTH;
            }
            for part in wide.into_remainder().chunks_exact_mut(WIDTH) {
                let mut sum = load(part);
                for term in terms {
                    sum = _mm512_xor_si512(sum, product(term, &arena[term.at + from..][..WIDTH]));
                }
                let sum: u8x64<_> = sum.simd_into(level);
                sum.store_slice(part);
                from += WIDTH;
            }
        }
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::field::multiply;

    fn bytes(length: usize, step: usize) -> Vec<u8> {
        (0..length).map(|i| ((i * step) ^ (i >> 3)) as u8).collect()
    }

    #[test]
    fn every_instruction_set_gives_the_sum_that_the_field_gives() {
        for length in [0, 64, 192, 256, 320, 1216] {
            let arena = bytes(3 * length, 37);
            let begun = bytes(length, 91);
            for coefficient in 0..=255u8 {
                let factors = [coefficient, coefficient.wrapping_mul(7) ^ 1, 1];
                let expected: Vec<u8> = (0..length)
                    .map(|at| {
                        let products =
                            factors.iter().enumerate().map(|(i, &f)| multiply(f, arena[i * length + at]));
                        products.fold(begun[at], |sum, product| sum ^ product)
                    })
                    .collect();
                for instructions in Instructions::all() {
                    let mut sum = begun.clone();
                    instructions.add(&mut sum, &arena, &factors);
                    assert!(sum == expected, "{coefficient} by {instructions:?}, {length} bytes");
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_scales_as_the_field_does() {
        for coefficient in 0..=255u8 {
            let expected: Vec<u8> = bytes(320, 53).iter().map(|&b| multiply(b, coefficient)).collect();
            for instructions in Instructions::all() {
                let mut scaled = bytes(320, 53);
                instructions.scale(&mut scaled, coefficient);
                assert!(scaled == expected, "{coefficient} by {instructions:?}");
            }
        }
    }
}
