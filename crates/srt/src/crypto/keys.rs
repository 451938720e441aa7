//! Keys of a connection, for each direction.

use strandcast_proto::seeds::Random;
use zeroize::Zeroizing;

use super::cipher::Cipher;
use super::derive::Derivation;
use super::wrap::{unwrap, wrap};
use crate::config::KeySize;
use crate::wire::{KeyFlag, KeyMaterial, KmState, SALT};

/// Reason for which key material could not be unwrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenError {
    Malformed,
    State(KmState),
}

/// A key-encrypting key, with the parameters of its derivation.
#[derive(Clone)]
pub(crate) struct Kek {
    salt: [u8; SALT],
    key: Zeroizing<Vec<u8>>,
}

impl Kek {
    /// Derives the key for a salt with 2048 iterations of HMAC.
    pub fn derive(passphrase: &Derivation, salt: [u8; SALT], len: usize) -> Kek {
        let mut key = Zeroizing::new(vec![0; len]);
        // The draft takes the last 64 bits of the salt.
        passphrase.derive(&salt[SALT - 8..], &mut key);
        Kek { salt, key }
    }

    /// Returns true if the key was derived for the salt and length in `material`.
    pub fn fits(&self, material: &KeyMaterial) -> bool {
        self.salt == material.salt && self.key.len() == material.key_len
    }

    /// Returns the keys in a key material message. The even key comes first, then the odd key.
    fn open(&self, material: &KeyMaterial) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        unwrap(&Cipher::new(&self.key), &material.wrapped).ok_or(OpenError::State(KmState::BadSecret))
    }
}

/// Keys that decrypt received packets.
pub(crate) struct ReceiveKeys {
    kek: Kek,
    even: Option<Cipher>,
    odd: Option<Cipher>,
}

impl ReceiveKeys {
    /// Unwraps the key material of a handshake.
    pub fn open(kek: Kek, material: &KeyMaterial) -> Result<ReceiveKeys, OpenError> {
        let mut keys = ReceiveKeys { kek, even: None, odd: None };
        keys.refresh(material)?;
        Ok(keys)
    }

    /// Returns true if the keys in `material` can be unwrapped without a derivation.
    pub fn fits(&self, material: &KeyMaterial) -> bool {
        self.kek.fits(material)
    }

    /// Returns the length of the keys.
    pub fn size(&self) -> KeySize {
        KeySize::of(self.kek.key.len())
    }

    /// Unwraps further key material with the same key-encrypting key.
    pub fn refresh(&mut self, material: &KeyMaterial) -> Result<(), OpenError> {
        let keys = self.kek.open(material)?;
        let mut keys = keys.chunks_exact(material.key_len);
        if material.even {
            self.even = keys.next().map(Cipher::new);
        }
        if material.odd {
            self.odd = keys.next().map(Cipher::new);
        }
        Ok(())
    }

    /// Decrypts a payload in place. Returns false if the payload's key is unknown.
    pub fn decrypt(&self, key: KeyFlag, seq: u32, payload: &mut [u8]) -> bool {
        let cipher = match key {
            KeyFlag::Even => self.even.as_ref(),
            KeyFlag::Odd => self.odd.as_ref(),
            KeyFlag::Clear => None,
        };
        cipher.map(|cipher| cipher.apply(&self.kek.salt, seq, payload)).is_some()
    }
}

/// A key that encrypts payloads.
struct Key {
    bytes: Zeroizing<Vec<u8>>,
    cipher: Cipher,
}

impl Key {
    fn new(bytes: Zeroizing<Vec<u8>>) -> Key {
        let cipher = Cipher::new(&bytes);
        Key { bytes, cipher }
    }
}

/// Keys that encrypt sent packets: the current key, and the next key while it is announced.
pub(crate) struct SendKeys {
    kek: Kek,
    current: Key,
    odd: bool,
    next: Option<Key>,
}

impl SendKeys {
    /// Creates new keys.
    pub fn generate(passphrase: &Derivation, size: KeySize, random: &mut Random) -> SendKeys {
        let mut salt = [0; SALT];
        random.fill(&mut salt);
        let kek = Kek::derive(passphrase, salt, size.bytes());
        let current = Key::new(random_key(size.bytes(), random));
        SendKeys { kek, current, odd: false, next: None }
    }

    /// Adopts the keys that a caller proposed, for a listener that sends media.
    pub fn from_peer(kek: Kek, material: &KeyMaterial) -> Result<SendKeys, OpenError> {
        let keys = kek.open(material)?;
        // With two keys the first is the even one.
        let first = keys.get(..material.key_len).ok_or(OpenError::Malformed)?;
        let current = Key::new(Zeroizing::new(first.to_vec()));
        Ok(SendKeys { kek, current, odd: !material.even, next: None })
    }

    /// Returns the length of the keys.
    pub fn size(&self) -> KeySize {
        KeySize::of(self.kek.key.len())
    }

    /// Returns the key-encrypting key, for use in the other direction.
    pub fn kek(&self) -> Kek {
        self.kek.clone()
    }

    /// Encrypts a payload in place. Returns the flag that names the key.
    pub fn encrypt(&self, seq: u32, payload: &mut [u8]) -> KeyFlag {
        self.current.cipher.apply(&self.kek.salt, seq, payload);
        if self.odd { KeyFlag::Odd } else { KeyFlag::Even }
    }

    /// Creates the next key.
    pub fn prepare(&mut self, random: &mut Random) {
        self.next = Some(Key::new(random_key(self.kek.key.len(), random)));
    }

    /// Changes to the next key.
    pub fn advance(&mut self) {
        if let Some(next) = self.next.take() {
            self.current = next;
            self.odd = !self.odd;
        }
    }

    /// Returns key material that announces the current key. If the next key was created, the key material also
    /// announces it.
    pub fn material(&self) -> KeyMaterial {
        let mut keys = Zeroizing::new(self.current.bytes.to_vec());
        if let Some(next) = &self.next {
            let at = if self.odd { 0 } else { keys.len() };
            keys.splice(at..at, next.bytes.iter().copied());
        }
        let both = self.next.is_some();
        KeyMaterial {
            even: both || !self.odd,
            odd: both || self.odd,
            key_len: self.kek.key.len(),
            salt: self.kek.salt,
            wrapped: wrap(&Cipher::new(&self.kek.key), &keys),
        }
    }
}

fn random_key(len: usize, random: &mut Random) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(vec![0; len]);
    random.fill(&mut key);
    key
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    fn keys(size: KeySize) -> (SendKeys, Derivation) {
        let passphrase = Derivation::new(b"correct horse");
        (SendKeys::generate(&passphrase, size, &mut Seeds::new(1, 0).stream("keys")), passphrase)
    }

    fn opened(passphrase: &Derivation, material: &KeyMaterial) -> Result<ReceiveKeys, OpenError> {
        let kek = Kek::derive(passphrase, material.salt, material.key_len);
        ReceiveKeys::open(kek, material)
    }

    #[test]
    fn a_passphrase_opens_keys_of_every_size() {
        for size in [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256] {
            let (sender, passphrase) = keys(size);
            let receiver = opened(&passphrase, &sender.material()).unwrap();
            let mut payload = b"a payload of more than a block".to_vec();
            let flag = sender.encrypt(7, &mut payload);
            assert_ne!(payload, b"a payload of more than a block");
            assert!(receiver.decrypt(flag, 7, &mut payload));
            assert_eq!(payload, b"a payload of more than a block");
            assert_eq!(receiver.size(), size);
        }
    }

    #[test]
    fn another_passphrase_opens_nothing() {
        let (sender, _) = keys(KeySize::Aes128);
        let refused = opened(&Derivation::new(b"wrong"), &sender.material()).map(|_| ());
        assert_eq!(refused, Err(OpenError::State(KmState::BadSecret)));
    }

    #[test]
    fn the_next_key_is_announced_with_the_current_one_and_alternates() {
        let (mut sender, passphrase) = keys(KeySize::Aes256);
        let mut receiver = opened(&passphrase, &sender.material()).unwrap();
        let mut random = Seeds::new(2, 0).stream("keys");
        for round in 0..4 {
            sender.prepare(&mut random);
            assert!(receiver.fits(&sender.material()));
            receiver.refresh(&sender.material()).unwrap();
            for step in 0..2 {
                let mut payload = vec![9; 100];
                let flag = sender.encrypt(round, &mut payload);
                assert_eq!(flag == KeyFlag::Odd, (round + step) % 2 == 1);
                assert!(receiver.decrypt(flag, round, &mut payload));
                assert_eq!(payload, [9; 100]);
                sender.advance();
            }
        }
        assert!(!receiver.decrypt(KeyFlag::Clear, 0, &mut [0; 4]), "a clear packet has no key");
    }
}
