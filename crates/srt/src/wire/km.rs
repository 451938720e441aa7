//! Layout of key material messages.

use super::word;

/// First three bytes of a message, which are constant: version 1, type 2, and the signature.
const START: [u8; 3] = [0x12, 0x20, 0x29];
/// Number of the cipher that is implemented: AES in counter mode.
const AES_CTR: u8 = 2;
/// Number of the encapsulation: transport stream over SRT.
const ENCAPSULATION: u8 = 2;
/// Number of bytes before the salt.
const FIXED: usize = 16;
/// Number of bytes of a salt. The draft defines no other length.
pub(crate) const SALT: usize = 16;
/// Number of bytes that wrapping adds to the keys.
const WRAPPING: usize = 8;

/// Reason in an answer for refusing key material. The draft has two more reasons, by which one side has no passphrase.
/// Connections for these two reasons are refused earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KmState {
    BadSecret,
    BadMode,
}

impl KmState {
    pub fn code(self) -> u32 {
        match self {
            KmState::BadSecret => 4,
            KmState::BadMode => 5,
        }
    }
}

/// A key material message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyMaterial {
    /// True if the message contains the even key; `odd` is true if it contains the odd key.
    pub even: bool,
    pub odd: bool,
    /// Length in bytes of one key: 16, 24 or 32.
    pub key_len: usize,
    pub salt: [u8; SALT],
    pub wrapped: Vec<u8>,
}

impl KeyMaterial {
    /// Reads a key material message.
    ///
    /// # Errors
    /// Returns the error `None` if it is malformed. Returns a state if its cipher or another feature is not
    /// implemented.
    pub fn read(data: &[u8]) -> Result<KeyMaterial, Option<KmState>> {
        let (Some(fixed), Some(index)) = (data.get(..FIXED), word(data, 4)) else {
            return Err(None);
        };
        let (even, odd) = (fixed[3] & 1 == 1, fixed[3] & 2 == 2);
        if fixed[..3] != START || !(even || odd) || index != 0 {
            return Err(None);
        }
        if (fixed[8], fixed[9]) != (AES_CTR, 0) {
            return Err(Some(KmState::BadMode));
        }
        let (salt_len, key_len) = (usize::from(fixed[14]) * 4, usize::from(fixed[15]) * 4);
        if salt_len != SALT || !matches!(key_len, 16 | 24 | 32) {
            return Err(None);
        }
        let wrapped_len = WRAPPING + key_len * (usize::from(even) + usize::from(odd));
        let (salt, wrapped) = (&data[FIXED..], data.get(FIXED + SALT..FIXED + SALT + wrapped_len));
        let Some(wrapped) = wrapped else { return Err(None) };
        let salt = salt[..SALT].try_into().expect("a salt's length");
        Ok(KeyMaterial { even, odd, key_len, salt, wrapped: wrapped.to_vec() })
    }

    /// Returns the bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let flags = u8::from(self.even) | u8::from(self.odd) << 1;
        let mut out = vec![START[0], START[1], START[2], flags, 0, 0, 0, 0];
        out.extend_from_slice(&[AES_CTR, 0, ENCAPSULATION, 0, 0, 0, SALT as u8 / 4, self.key_len as u8 / 4]);
        out.extend_from_slice(&self.salt);
        out.extend_from_slice(&self.wrapped);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> KeyMaterial {
        KeyMaterial { even: true, odd: false, key_len: 16, salt: [7; SALT], wrapped: vec![3; 24] }
    }

    /// The bytes are assembled by hand from the figure "Key Material Message structure".
    #[test]
    fn a_message_has_the_fields_of_the_draft() {
        let bytes = example().to_bytes();
        assert_eq!(bytes[..16], [0x12, 0x20, 0x29, 1, 0, 0, 0, 0, 2, 0, 2, 0, 0, 0, 4, 4]);
        assert_eq!(bytes.len(), 16 + 16 + 24);
        assert_eq!(KeyMaterial::read(&bytes), Ok(example()));
    }

    #[test]
    fn malformed_messages_are_refused() {
        let good = example().to_bytes();
        for len in 0..good.len() {
            assert_eq!(KeyMaterial::read(&good[..len]), Err(None), "{len} bytes");
        }
        for (place, value) in [(0, 0x22), (1, 0), (3, 0), (7, 1), (14, 0), (14, 8), (15, 5), (15, 0)] {
            let mut bad = good.clone();
            bad[place] = value;
            assert_eq!(KeyMaterial::read(&bad), Err(None), "{place} is {value}");
        }
    }

    #[test]
    fn another_cipher_is_another_mode() {
        let mut bytes = example().to_bytes();
        (bytes[8], bytes[9]) = (4, 1);
        assert_eq!(KeyMaterial::read(&bytes), Err(Some(KmState::BadMode)));
    }
}
