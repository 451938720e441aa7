//! Pseudorandom numbers by TinyMT32 (RFC 8682). Both ends compute the coefficients of a repair symbol from these
//! numbers.

/// Parameters of TinyMT32 that RLC uses (RFC 8682 §2.1).
const MAT1: u32 = 0x8f70_11ee;
const MAT2: u32 = 0xfc78_ff1f;
const TMAT: u32 = 0x3793_fdff;
const ROUNDS: u32 = 8;

/// A generator of 32-bit numbers (TinyMT32). The state of a generator has 127 bits.
#[derive(Clone, Debug)]
pub struct TinyMt32([u32; 4]);

impl TinyMt32 {
    /// Returns a generator that starts with `seed`.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut state = [seed, MAT1, MAT2, TMAT];
        for i in 1..ROUNDS {
            let before = state[(i as usize - 1) & 3];
            state[i as usize & 3] ^= i.wrapping_add(1_812_433_253u32.wrapping_mul(before ^ (before >> 30)));
        }
        let mut generator = TinyMt32(state);
        for _ in 0..ROUNDS {
            generator.advance();
        }
        generator
    }

    fn advance(&mut self) {
        let [s0, s1, s2, s3] = self.0;
        let mut x = (s0 & 0x7fff_ffff) ^ s1 ^ s2;
        let mut y = s3;
        x ^= x << 1;
        y ^= (y >> 1) ^ x;
        let odd = 0u32.wrapping_sub(y & 1);
        self.0 = [s1, s2 ^ (odd & MAT1), x ^ (y << 10) ^ (odd & MAT2), y];
    }

    /// Returns the next number.
    pub fn next_u32(&mut self) -> u32 {
        self.advance();
        let [s0, _, s2, s3] = self.0;
        let sum = s0.wrapping_add(s2 >> 8);
        s3 ^ sum ^ (0u32.wrapping_sub(sum & 1) & TMAT)
    }

    /// Returns a uniform number in 0..256 (RFC 8681 §3.5).
    pub fn next_256(&mut self) -> u8 {
        self.next_u32() as u8
    }

    /// Returns a uniform number in 0..16 (RFC 8681 §3.5).
    pub fn next_16(&mut self) -> u8 {
        (self.next_u32() & 0xf) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First numbers with seed 1 (RFC 8682 §2.3).
    const FIRST: [u32; 50] = [
        2545341989, 981918433, 3715302833, 2387538352, 3591001365, 3820442102, 2114400566, 2196103051,
        2783359912, 764534509, 643179475, 1822416315, 881558334, 4207026366, 3690273640, 3240535687,
        2921447122, 3984931427, 4092394160, 44209675, 2188315343, 2908663843, 1834519336, 3774670961,
        3019990707, 4065554902, 1239765502, 4035716197, 3412127188, 552822483, 161364450, 353727785,
        140085994, 149132008, 2547770827, 4064042525, 4078297538, 2057335507, 622384752, 2041665899,
        2193913817, 1080849512, 33160901, 662956935, 642999063, 3384709977, 1723175122, 3866752252,
        521822317, 2292524454,
    ];

    #[test]
    fn numbers_are_those_of_rfc_8682() {
        let mut generator = TinyMt32::new(1);
        assert_eq!([0; 50].map(|_| generator.next_u32()), FIRST);
    }

    /// RFC 8681 §3.5: the low eight bits and the low four bits of each number.
    #[test]
    fn bytes_and_halves_are_those_of_rfc_8681() {
        let mut generator = TinyMt32::new(1);
        assert_eq!([0; 10].map(|_| generator.next_256()), [37, 225, 177, 176, 21, 246, 54, 139, 168, 237]);
        let mut generator = TinyMt32::new(1);
        assert_eq!([0; 10].map(|_| generator.next_16()), [5, 1, 1, 0, 5, 6, 6, 11, 8, 13]);
    }
}
