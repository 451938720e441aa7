//! PBKDF2 with HMAC-SHA1 (RFC 8018 §5.2), which derives keys from a passphrase.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use zeroize::Zeroize as _;

/// Number of iterations that the draft prescribes.
const ITERATIONS: u32 = 2048;
/// Number of bytes of one block of output.
const BLOCK: usize = 20;

/// State for deriving keys from one passphrase.
#[derive(Clone)]
pub(crate) struct Derivation(Hmac<Sha1>);

impl Derivation {
    pub fn new(passphrase: &[u8]) -> Derivation {
        Derivation(Hmac::new_from_slice(passphrase).expect("HMAC takes keys of any length"))
    }

    /// Fills `key` with the key that belongs to `salt`.
    pub fn derive(&self, salt: &[u8], key: &mut [u8]) {
        self.iterate(salt, ITERATIONS, key);
    }

    fn iterate(&self, salt: &[u8], iterations: u32, key: &mut [u8]) {
        for (piece, number) in key.chunks_mut(BLOCK).zip(1_u32..) {
            let mut last = self.mac(&[salt, &number.to_be_bytes()]);
            let mut sum = last;
            for _ in 1..iterations {
                last = self.mac(&[&last]);
                sum.iter_mut().zip(last).for_each(|(sum, last)| *sum ^= last);
            }
            piece.copy_from_slice(&sum[..piece.len()]);
            sum.zeroize();
            last.zeroize();
        }
    }

    fn mac(&self, parts: &[&[u8]]) -> [u8; BLOCK] {
        let mut mac = self.0.clone();
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Test vectors 1, 2, 3 and 5 of RFC 6070 §2.
    #[test]
    fn vectors_of_rfc_6070() {
        let cases: [(&[u8], &[u8], u32, &str); 4] = [
            (b"password", b"salt", 1, "0c60c80f961f0e71f3a9b524af6012062fe037a6"),
            (b"password", b"salt", 2, "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957"),
            (b"password", b"salt", 4096, "4b007901b765489abead49d926f721d065a429c1"),
            (
                b"passwordPASSWORDpassword",
                b"saltSALTsaltSALTsaltSALTsaltSALTsalt",
                4096,
                "3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038",
            ),
        ];
        for (passphrase, salt, iterations, expected) in cases {
            let mut key = vec![0; expected.len() / 2];
            Derivation::new(passphrase).iterate(salt, iterations, &mut key);
            assert_eq!(hex(&key), expected);
        }
    }
}
