//! AES key wrap (RFC 3394 §2.2).

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::cipher::Cipher;

/// Initial value of key wrap (RFC 3394 §2.2.3.1).
const INITIAL: [u8; 8] = [0xa6; 8];
const ROUNDS: u64 = 6;
const HALF: usize = 8;

/// Wraps keys. The length of wrapped keys must be a multiple of 8.
pub(super) fn wrap(kek: &Cipher, keys: &[u8]) -> Vec<u8> {
    let mut out = [&INITIAL[..], keys].concat();
    let halves = keys.len() / HALF;
    for round in 0..ROUNDS {
        for nth in 1..=halves {
            let mut block = [0; 16];
            block[..HALF].copy_from_slice(&out[..HALF]);
            block[HALF..].copy_from_slice(&out[nth * HALF..][..HALF]);
            let block = kek.encrypt(block);
            let step = (round * halves as u64 + nth as u64).to_be_bytes();
            for (to, (from, step)) in out.iter_mut().zip(block.iter().zip(step)) {
                *to = from ^ step;
            }
            out[nth * HALF..][..HALF].copy_from_slice(&block[HALF..]);
        }
    }
    out
}

/// Unwraps keys. Returns `None` if another key wrapped the keys, or if they were changed.
pub(super) fn unwrap(kek: &Cipher, wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let halves = (wrapped.len() / HALF).checked_sub(1).filter(|n| *n > 0)?;
    let mut out = Zeroizing::new(wrapped.to_vec());
    for round in (0..ROUNDS).rev() {
        for nth in (1..=halves).rev() {
            let step = (round * halves as u64 + nth as u64).to_be_bytes();
            let mut block = [0; 16];
            for (to, (from, step)) in block.iter_mut().zip(out.iter().zip(step)) {
                *to = from ^ step;
            }
            block[HALF..].copy_from_slice(&out[nth * HALF..][..HALF]);
            let block = kek.decrypt(block);
            out[..HALF].copy_from_slice(&block[..HALF]);
            out[nth * HALF..][..HALF].copy_from_slice(&block[HALF..]);
        }
    }
    let intact: bool = out[..HALF].ct_eq(&INITIAL).into();
    intact.then(|| Zeroizing::new(out[HALF..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
    }

    /// Test vectors of RFC 3394 §4.1 to §4.6.
    #[test]
    fn vectors_of_rfc_3394() {
        let kek = bytes("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
        let key = bytes("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f");
        let cases = [
            (16, 16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
            (24, 16, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
            (32, 16, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
            (24, 24, "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2"),
            (32, 24, "a8f9bc1612c68b3ff6e6f4fbe30e71e4769c8b80a32cb8958cd5d17d6b254da1"),
            (32, 32, "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"),
        ];
        for (kek_len, key_len, wrapped) in cases {
            let kek = Cipher::new(&kek[..kek_len]);
            assert_eq!(wrap(&kek, &key[..key_len]), bytes(wrapped));
            assert_eq!(unwrap(&kek, &bytes(wrapped)).as_deref(), Some(&key[..key_len].to_vec()));
        }
    }

    #[test]
    fn changed_keys_do_not_open() {
        let kek = Cipher::new(&[1; 16]);
        let good = wrap(&kek, &[2; 16]);
        for place in 0..good.len() {
            let mut bad = good.clone();
            bad[place] ^= 1;
            assert!(unwrap(&kek, &bad).is_none(), "byte {place}");
        }
        assert!(unwrap(&Cipher::new(&[3; 16]), &good).is_none());
        assert!(unwrap(&kek, &good[..8]).is_none() && unwrap(&kek, &[]).is_none());
    }
}
