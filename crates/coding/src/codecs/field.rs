//! The field GF(256) with the polynomial x⁸ + x⁴ + x³ + x² + 1 (RFC 8681 §3.7.1, RFC 5510 §8.1). Addition is XOR.

/// The polynomial, without its leading term.
const POLYNOMIAL: u8 = 0x1D;

/// Returns the product of two elements. The product is computed bit by bit.
pub(crate) const fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { POLYNOMIAL };
        b >>= 1;
    }
    product
}

/// For each element, its products with 0 to 15, and then its products with 16 times 0 to 15. The product with any byte
/// is the sum of two of these products, one for each half of the byte.
pub(crate) static NIBBLES: [[u8; 32]; 256] = {
    let mut table = [[0; 32]; 256];
    let mut a = 0;
    while a < 256 {
        let mut half = 0;
        while half < 16 {
            table[a][half] = multiply(a as u8, half as u8);
            table[a][half + 16] = multiply(a as u8, (half as u8) << 4);
            half += 1;
        }
        a += 1;
    }
    table
};

/// Inverse of each element. The entry of 0 is 0, and is never used.
static INVERSES: [u8; 256] = {
    let mut table = [0; 256];
    let mut a = 1;
    while a < 256 {
        let mut b = 1;
        while multiply(a as u8, b) != 1 {
            b += 1;
        }
        table[a] = b;
        a += 1;
    }
    table
};

/// Returns the inverse of an element other than 0.
pub(crate) fn inverse(a: u8) -> u8 {
    INVERSES[a as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_generates_all_elements_but_zero() {
        // RFC 5510 §8.1: the polynomial is primitive, so x has order 255.
        let mut seen = [false; 256];
        let mut power = 1;
        for _ in 0..255 {
            assert!(!seen[power as usize]);
            seen[power as usize] = true;
            power = multiply(power, 2);
        }
        assert_eq!(power, 1);
        assert_eq!(multiply(0x80, 2), 0x1D);
    }

    #[test]
    fn products_distribute_and_inverses_invert() {
        for a in 0..=255u8 {
            assert_eq!(multiply(a, 1), a);
            assert!(a == 0 || multiply(a, inverse(a)) == 1);
            for b in 0..=255u8 {
                let table = &NIBBLES[a as usize];
                assert_eq!(table[(b & 15) as usize] ^ table[16 + (b >> 4) as usize], multiply(a, b));
                assert_eq!(multiply(a, b), multiply(b, a));
                assert_eq!(multiply(a, b ^ 0x53), multiply(a, b) ^ multiply(a, 0x53));
            }
        }
    }
}
