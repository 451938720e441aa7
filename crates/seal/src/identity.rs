//! Static keys, tokens, and the list of keys that may connect.

use core::fmt;
use std::collections::BTreeSet;

use curve25519_dalek::MontgomeryPoint;
use strandcast_proto::seeds::Random;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::secret::Secret;

/// A static private key for X25519 (RFC 7748). The key is overwritten when it is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SecretKey([u8; 32]);

impl SecretKey {
    /// Restores a key from the bytes of [`SecretKey::to_bytes`]. Any 32 bytes are a valid key.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        SecretKey(bytes)
    }

    /// Returns the bytes that a key store saves.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0)
    }

    /// Returns a new random key.
    pub fn generate(random: &mut Random) -> Self {
        let mut key = SecretKey([0; 32]);
        random.fill(&mut key.0);
        key
    }

    /// Returns the public key of this private key.
    pub fn public(&self) -> PublicKey {
        PublicKey(MontgomeryPoint::mul_base_clamped(self.0).to_bytes())
    }

    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// A static public key, which identifies a peer.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; 32]);

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey(")?;
        self.0.iter().take(4).try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str("..)")
    }
}

/// The 32 secret bytes that two sides share after a pairing. The secret bytes are the pre-shared key of handshakes
/// between the two sides. The keys derived from these bytes are computed once, when the token is created. All these
/// secrets are overwritten when the token is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Token {
    bytes: [u8; 32],
    mac_key: [u8; 32],
    psk: [u8; 32],
    id: [u8; 8],
}

impl Token {
    /// Restores a token from the bytes of [`Token::to_bytes`]. The bytes must be random.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut token = Token { bytes, mac_key: [0; 32], psk: [0; 32], id: [0; 8] };
        let secret = Secret::new(bytes);
        secret.expand("token mac key", &[], &mut token.mac_key);
        secret.expand("token psk", &[], &mut token.psk);
        secret.expand("token id", &[], &mut token.id);
        token
    }

    /// Returns the bytes that a key store or a pairing string contains.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.bytes)
    }

    /// Returns a new random token.
    pub fn generate(random: &mut Random) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        random.fill(&mut bytes[..]);
        Token::from_bytes(*bytes)
    }

    /// Returns the identifier of the token. The identifier is sent unencrypted, and reveals nothing about the token's
    /// bytes.
    pub fn id(&self) -> TokenId {
        TokenId(self.id)
    }

    /// Returns the key for the MACs of handshake messages.
    pub(crate) fn mac_key(&self) -> &[u8; 32] {
        &self.mac_key
    }

    /// Returns the pre-shared key for Noise.
    pub(crate) fn psk(&self) -> &[u8; 32] {
        &self.psk
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:?})", self.id())
    }
}

/// The identifier of a token. The identifier of a token is sent unencrypted.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TokenId(pub [u8; 8]);

/// A peer to which this side connects.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Static key that the peer must prove.
    pub key: PublicKey,
    /// Token of the pairing with the peer.
    pub token: Token,
}

/// The keys that may connect, as the owner of a key store entered them. The owner removes or closes a grant that has
/// expired. The senders of a closed grant may still connect.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The grants. A token belongs to only one grant.
    pub grants: Vec<Grant>,
    /// Keys that may not connect under any token.
    pub revoked: BTreeSet<PublicKey>,
}

/// Maximum number of senders of a grant. A grant with this number of senders is closed. A stolen token therefore cannot
/// fill a key store.
pub const MOST_SENDERS: usize = 1000;

/// A token and the senders that may use it.
#[derive(Clone, Debug)]
pub struct Grant {
    /// Token of the pairing.
    pub token: Token,
    /// Senders that may connect under this token.
    pub senders: BTreeSet<PublicKey>,
    /// True if further senders may connect under the token. Each further sender that connects becomes a sender of the
    /// grant. A further sender may connect only if the grant has fewer than [`MOST_SENDERS`] senders. In addition, no
    /// sender of the grant may have been revoked, because a revoked sender could return with another key.
    pub open: bool,
    /// True if the grant closes after its first sender.
    pub once: bool,
}

/// Result of [`Access::enrol`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Enrolment {
    /// The sender already belonged to the grant.
    Known,
    /// The sender now belongs to the grant. The application should store this.
    New,
    /// The sender may not connect.
    Refused,
}

impl Access {
    /// Returns the grant that has the token `token`.
    pub fn grant(&self, token: TokenId) -> Option<&Grant> {
        self.grants.iter().find(|g| g.token.id() == token)
    }

    /// Returns whether `key` may connect under `token`. The key must not be revoked. The sender's key must belong to
    /// the token's grant, or this grant must be open.
    pub fn admits(&self, token: TokenId, key: &PublicKey) -> bool {
        let admitted = |g: &Grant| g.senders.contains(key) || self.is_open(g);
        !self.revoked.contains(key) && self.grant(token).is_some_and(admitted)
    }

    /// Returns whether a grant accepts further senders.
    fn is_open(&self, grant: &Grant) -> bool {
        grant.open && grant.senders.len() < MOST_SENDERS && grant.senders.is_disjoint(&self.revoked)
    }

    /// Enrols `key`, which has connected under `token`. If the token's grant is open, the key becomes a sender of the
    /// grant. A single-use grant then closes. Call this method only after the first authentic datagram under the
    /// handshake's keys. Before that datagram, message 1 may have been repeated by an attacker.
    pub fn enrol(&mut self, token: TokenId, key: PublicKey) -> Enrolment {
        if !self.admits(token, &key) {
            return Enrolment::Refused;
        }
        let Some(grant) = self.grants.iter_mut().find(|g| g.token.id() == token) else {
            return Enrolment::Refused;
        };
        if !grant.senders.insert(key) {
            return Enrolment::Known;
        }
        grant.open &= !grant.once;
        Enrolment::New
    }
}

#[cfg(test)]
mod tests {
    use strandcast_proto::seeds::Seeds;

    use super::*;

    fn key(hex: &str) -> [u8; 32] {
        core::array::from_fn(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).expect("hexadecimal"))
    }

    /// Test vector of RFC 7748 section 6.1: the keys of Alice and Bob.
    #[test]
    fn public_keys_are_those_of_rfc_7748() {
        for (secret, public) in [
            (
                "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
                "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
            ),
            (
                "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
                "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
            ),
        ] {
            assert_eq!(SecretKey::from_bytes(key(secret)).public(), PublicKey(key(public)));
        }
    }

    #[test]
    fn tokens_and_keys_come_back_from_their_bytes_and_show_nothing() {
        let mut random = Seeds::new(1, 0).stream("keys");
        let (secret, token) = (SecretKey::generate(&mut random), Token::generate(&mut random));
        assert_eq!(SecretKey::from_bytes(*secret.to_bytes()).public(), secret.public());
        let again = Token::from_bytes(*token.to_bytes());
        assert_eq!((again.id(), again.psk(), again.mac_key()), (token.id(), token.psk(), token.mac_key()));
        assert_ne!(Token::generate(&mut random).id(), token.id());
        let parts: [&[u8]; 4] = [&token.bytes, &token.psk, &token.mac_key, &token.id];
        for (n, a) in parts.iter().enumerate() {
            assert!(parts[..n].iter().all(|b| a[..8] != b[..8]), "derived apart from each other");
        }
        assert_eq!(format!("{secret:?}"), "SecretKey(..)");
        let shown = format!("{token:?} {:?}", Peer { key: secret.public(), token: token.clone() });
        let secrets = [&token.bytes, &token.psk, &token.mac_key, &secret.0];
        for secret in secrets {
            let (hex, decimal) =
                (format!("{:02x}{:02x}", secret[0], secret[1]), format!("{}, {}", secret[0], secret[1]));
            assert!(!shown.contains(&hex) && !shown.contains(&decimal), "{shown}");
        }
    }

    fn numbered(n: u32) -> PublicKey {
        PublicKey(core::array::from_fn(|i| n.to_be_bytes()[i % 4]))
    }

    #[test]
    fn who_may_connect() {
        let mut random = Seeds::new(2, 0).stream("access");
        let (known, other) =
            (SecretKey::generate(&mut random).public(), SecretKey::generate(&mut random).public());
        let token = Token::generate(&mut random);
        let id = token.id();
        let grant = |open, once| Access {
            grants: vec![Grant { token: token.clone(), senders: [known].into(), open, once }],
            revoked: BTreeSet::new(),
        };
        let mut closed = grant(false, false);
        assert!(closed.admits(id, &known) && !closed.admits(id, &other));
        assert!(!closed.admits(Token::generate(&mut random).id(), &known));
        assert_eq!(closed.enrol(id, known), Enrolment::Known);
        assert_eq!(closed.enrol(id, other), Enrolment::Refused);
        closed.revoked.insert(known);
        assert!(!closed.admits(id, &known));
        assert_eq!(closed.enrol(id, known), Enrolment::Refused);

        let mut open = grant(true, false);
        assert_eq!((open.enrol(id, other), open.enrol(id, other)), (Enrolment::New, Enrolment::Known));
        assert!(open.admits(id, &PublicKey([1; 32])), "still open");
        open.revoked.insert(other);
        assert!(!open.admits(id, &other), "revoked, although the grant is open");

        let mut stolen = grant(true, false);
        stolen.revoked.insert(known);
        assert!(!stolen.admits(id, &other), "the sender that is revoked has the token");

        let mut full = grant(true, false);
        full.grants[0].senders = (0..999_u32).map(numbered).collect();
        assert_eq!(
            (full.enrol(id, numbered(999)), full.enrol(id, numbered(0))),
            (Enrolment::New, Enrolment::Known)
        );
        assert_eq!(full.enrol(id, numbered(1000)), Enrolment::Refused);

        let mut once = grant(true, true);
        assert_eq!(once.enrol(id, known), Enrolment::Known, "the sender that it had does not close it");
        assert_eq!(once.enrol(id, other), Enrolment::New);
        assert!(!once.admits(id, &PublicKey([1; 32])) && once.admits(id, &other));
    }
}
