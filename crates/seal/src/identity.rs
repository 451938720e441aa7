//! Static keys and tokens, and who may connect.

use core::fmt;
use std::collections::BTreeSet;

use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver as _, DefaultResolver};
use strandcast_proto::seeds::Random;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::secret::Secret;

/// A static private key: X25519 (RFC 7748). It is wiped when it is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct SecretKey([u8; 32]);

impl SecretKey {
    /// The key that [`SecretKey::to_bytes`] wrote. Any 32 bytes are one.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        SecretKey(bytes)
    }

    /// Its bytes, for a store of keys.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0)
    }

    /// A new key.
    pub fn generate(random: &mut Random) -> Self {
        let mut key = SecretKey([0; 32]);
        random.fill(&mut key.0);
        key
    }

    /// The public key that belongs to it.
    pub fn public(&self) -> PublicKey {
        let mut dh =
            DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("snow is built with Curve25519");
        dh.set(&self.0);
        PublicKey(dh.pubkey().try_into().expect("keys of X25519 have 32 bytes"))
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

/// A static public key: who a peer is.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; 32]);

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey(")?;
        self.0.iter().take(4).try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str("..)")
    }
}

/// The 32 bytes that a pairing hands over: the pre-shared key of its handshakes. What is derived from it is computed
/// once, with the token. All of it is wiped when it is dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Token {
    bytes: [u8; 32],
    mac_key: [u8; 32],
    psk: [u8; 32],
    id: [u8; 8],
}

impl Token {
    /// The token that [`Token::to_bytes`] wrote. Its bytes must have been drawn at random.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut token = Token { bytes, mac_key: [0; 32], psk: [0; 32], id: [0; 8] };
        let secret = Secret::new(bytes);
        secret.expand("token mac key", &[], &mut token.mac_key);
        secret.expand("token psk", &[], &mut token.psk);
        secret.expand("token id", &[], &mut token.id);
        token
    }

    /// Its bytes, for a store of keys and for a pairing string.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.bytes)
    }

    /// A new token.
    pub fn generate(random: &mut Random) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        random.fill(&mut bytes[..]);
        Token::from_bytes(*bytes)
    }

    /// What names it in the clear. It tells nothing of the token's bytes.
    pub fn id(&self) -> TokenId {
        TokenId(self.id)
    }

    /// The key of the MACs of a handshake's messages.
    pub(crate) fn mac_key(&self) -> &[u8; 32] {
        &self.mac_key
    }

    /// Noise's pre-shared key.
    pub(crate) fn psk(&self) -> &[u8; 32] {
        &self.psk
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:?})", self.id())
    }
}

/// Names a token in the clear.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TokenId(pub [u8; 8]);

/// Whom to connect to.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The static key that it must have.
    pub key: PublicKey,
    /// The token of the pairing with it.
    pub token: Token,
}

/// Who may connect. The owner of the store of keys fills it in: a grant that has expired is left out.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// What was paired. A token belongs to one grant.
    pub grants: Vec<Grant>,
    /// Keys that may not connect under any token.
    pub revoked: BTreeSet<PublicKey>,
}

/// A token and the senders that may use it.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The token of the pairing.
    pub token: Token,
    /// Senders that may connect under it.
    pub senders: BTreeSet<PublicKey>,
    /// Whether other senders may as well. Whoever does is a sender of the grant from then on.
    pub open: bool,
    /// Whether the first of them closes it.
    pub once: bool,
}

/// What [`Access::enrol`] did.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Enrolment {
    /// The sender belonged to the grant before.
    Known,
    /// It belongs to it now: to be stored.
    New,
    /// It may not connect.
    Refused,
}

impl Access {
    /// The grant of a token.
    pub fn grant(&self, token: TokenId) -> Option<&Grant> {
        self.grants.iter().find(|g| g.token.id() == token)
    }

    /// Whether `key` may connect under `token`: it is not revoked, and a sender of the grant or the grant is open.
    pub fn admits(&self, token: TokenId, key: &PublicKey) -> bool {
        !self.revoked.contains(key) && self.grant(token).is_some_and(|g| g.open || g.senders.contains(key))
    }

    /// `key` has connected under `token`: it becomes a sender of the grant if it may, and closes it if the grant admits
    /// one only. Not before its first datagram has been opened under the keys of the handshake: until then somebody
    /// may have repeated what it once sent.
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
