//! Secrets and keys derived from them (HKDF-SHA-256, RFC 5869).

use core::fmt;

use hkdf::Hkdf;
use sha2::Sha256;
use strandcast_proto::work;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Common prefix of all labels. The prefix ensures that other protocols derive different keys from equal bytes.
const PREFIX: &str = "strandcast ";
/// Number of bytes that are hashed per derivation: four blocks of SHA-256.
const EXPANDED: usize = 256;

/// A secret: 32 uniformly random bytes. The bytes are overwritten when the secret is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secret([u8; 32]);

impl Secret {
    /// Creates a secret from these bytes. The caller must overwrite its own copy.
    pub(crate) fn new(bytes: [u8; 32]) -> Self {
        Secret(bytes)
    }

    /// Returns the bytes of the secret, for a key log.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Derives another 32-byte secret by HKDF-Expand-Label (RFC 8446 §7.1).
    pub(crate) fn derive(&self, label: &str, context: &[u8]) -> Secret {
        let mut derived = Secret([0; 32]);
        self.expand(label, context, &mut derived.0);
        derived
    }

    /// Fills `out` by HKDF-Expand-Label (RFC 8446 §7.1). The label's prefix is "strandcast " in place of "tls13 ".
    /// Different labels, contexts and lengths give independent bytes. Labels and contexts are constants or short
    /// values. Each has fewer than 240 bytes.
    pub(crate) fn expand(&self, label: &str, context: &[u8], out: &mut [u8]) {
        self.expand_label(PREFIX, label, context, out);
    }

    fn expand_label(&self, prefix: &str, label: &str, context: &[u8], out: &mut [u8]) {
        debug_assert!(prefix.len() + label.len() < 256 && context.len() < 256 && out.len() < 1 << 16);
        let length = (out.len() as u16).to_be_bytes();
        let label_length = [(prefix.len() + label.len()) as u8];
        let context_length = [context.len() as u8];
        let info: [&[u8]; 6] =
            [&length, &label_length, prefix.as_bytes(), label.as_bytes(), &context_length, context];
        self.expand_info(&info, out);
    }

    /// Fills a buffer by HKDF-Expand (RFC 5869 §2.3). The secret is uniformly random. The extraction step is therefore
    /// not needed (RFC 5869 §3.3).
    fn expand_info(&self, info: &[&[u8]], out: &mut [u8]) {
        work::count(EXPANDED);
        Hkdf::<Sha256>::from_prk(&self.0)
            .expect("32 bytes are a key of SHA-256")
            .expand_multi_info(info, out)
            .expect("no more than 255 blocks are ever asked for");
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
    }

    fn secret(hex: &str) -> Secret {
        Secret::new(bytes(hex).try_into().expect("32 bytes"))
    }

    /// Test vectors of RFC 5869 §A.1 to §A.3: PRK, info, OKM.
    #[test]
    fn expanding_yields_what_rfc_5869_lists() {
        let long: Vec<u8> = (0xB0..=0xFF).collect();
        let cases: [(&str, &[u8], &str); 3] = [
            (
                "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
                &[0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9],
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
            ),
            (
                "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
                &long,
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                 da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87",
            ),
            (
                "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
                &[],
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
            ),
        ];
        for (prk, info, okm) in cases {
            let expected = bytes(okm);
            let mut out = vec![0; expected.len()];
            secret(prk).expand_info(&[info], &mut out);
            assert_eq!(out, expected);
            // The input in pieces gives the same output.
            let (front, back) = info.split_at(info.len() / 3);
            secret(prk).expand_info(&[front, back], &mut out);
            assert_eq!(out, expected);
        }
    }

    /// Test vector of RFC 9001 §A.1: the server's initial secrets.
    #[test]
    fn labels_expand_as_in_tls() {
        let initial = secret("7db5df06e7a69e432496adedb00851923595221596ae2ae9fb8115c1e9ed0a44");
        let mut server = [0; 32];
        initial.expand_label("tls13 ", "server in", &[], &mut server);
        assert_eq!(server[..], bytes("3c199828fd139efd216c155ad844cc81fb82fa8d7446fa7d78be803acdda951b"));
        let (mut key, mut iv) = ([0; 16], [0; 12]);
        Secret::new(server).expand_label("tls13 ", "quic key", &[], &mut key);
        Secret::new(server).expand_label("tls13 ", "quic iv", &[], &mut iv);
        assert_eq!(key[..], bytes("cf3a5331653c364c88f0f379b6067e37"));
        assert_eq!(iv[..], bytes("0ac1493ca1905853b0bba03e"));
    }

    #[test]
    fn labels_contexts_and_lengths_are_told_apart() {
        let secret = Secret::new([1; 32]);
        let expand = |label: &str, context: &[u8], length| {
            let mut out = vec![0; length];
            secret.expand(label, context, &mut out);
            out.truncate(8);
            out
        };
        let mut all = vec![
            expand("a", b"", 32),
            expand("b", b"", 32),
            expand("a", b"b", 32),
            expand("ab", b"", 32),
            expand("a", b"", 16),
        ];
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn a_secret_is_not_printed_and_can_be_overwritten() {
        let mut secret = Secret::new([0xAB; 32]);
        assert_eq!(format!("{secret:?}"), "Secret");
        secret.zeroize();
        assert_eq!(secret.0, [0; 32]);
    }
}
