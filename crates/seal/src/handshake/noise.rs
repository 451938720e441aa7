//! Noise by snow: pattern, prologue, randomness from seeded streams.
//!
//! What is derived here and kept by the seal is wiped when it is dropped. Not wiped are: what snow keeps of a handshake
//! while it lasts and leaves behind when it ends (its copies of the static key, of the ephemeral key and of the
//! pre-shared key, the chaining key, the hash, the two keys of its split), ring's expanded keys of ChaCha20-Poly1305
//! and of HMAC-SHA-256, the hash states of HKDF, and copies on the stack. `SECURITY.md` says so.

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver, RingResolver};
use snow::{Builder, HandshakeState, types};
use strandcast_proto::seeds::{Random, Seeds};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

use crate::aead::Cipher;
use crate::identity::{PublicKey, SecretKey, Token};
use crate::keys::{Completed, HandshakeId};
use crate::secret::Secret;

const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const LABEL: &[u8] = b"strandcast seal";

/// Counts Diffie–Hellman operations.
#[derive(Clone, Debug, Default)]
pub(super) struct DhCount(Arc<AtomicU64>);

impl DhCount {
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream of its own for one handshake. What is drawn later from `random` does not tell what was drawn before, so
/// that a handshake's ephemeral key can't be computed again from the state that is left.
pub(super) fn child(random: &mut Random) -> Random {
    let mut next = || {
        let mut key = [0; 32];
        random.fill(&mut key);
        Seeds::from_entropy(key).stream("noise")
    };
    let (child, rest) = (next(), next());
    *random = rest;
    child
}

/// Noise refused: forged, malformed, or a key of small order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused;

/// One end of one handshake.
pub(super) struct Noise(HandshakeState);

/// Which end of a handshake.
pub(super) enum Role<'a> {
    /// Who connects, to the owner of a key.
    Initiator(&'a PublicKey),
    Responder,
}

impl Noise {
    /// `clear`: the fields of message 1 in front of Noise's part.
    pub fn new(
        role: &Role<'_>,
        local: &SecretKey,
        token: &Token,
        clear: &[u8],
        random: Random,
        count: &DhCount,
    ) -> Result<Self, Refused> {
        let prologue = [LABEL, clear].concat();
        let refused = |_| Refused;
        let builder = builder(random, count)
            .local_private_key(local.bytes())
            .and_then(|b| b.psk(2, token.psk()))
            .and_then(|b| b.prologue(&prologue))
            .map_err(refused)?;
        let state = match role {
            Role::Initiator(remote) => {
                builder.remote_public_key(&remote.0).and_then(Builder::build_initiator)
            }
            Role::Responder => builder.build_responder(),
        };
        state.map(Noise).map_err(refused)
    }

    /// Writes the next message with `payload` into `out`; its length.
    pub fn write(&mut self, payload: &[u8], out: &mut [u8]) -> Result<usize, Refused> {
        self.0.write_message(payload, out).map_err(|_| Refused)
    }

    /// Reads the next message into `payload`, which is as long as it at least; the payload's length. After an error
    /// another message can be read: snow restores what it has mixed, and everything else is overwritten.
    pub fn read(&mut self, message: &[u8], payload: &mut [u8]) -> Result<usize, Refused> {
        self.0.read_message(message, payload).map_err(|_| Refused)
    }

    /// The key of the other side, once it is known.
    pub fn remote(&self) -> Option<PublicKey> {
        self.0.get_remote_static()?.try_into().ok().map(PublicKey)
    }

    /// The keys of a handshake whose messages were all written and read.
    pub fn completed(&mut self, cipher: Cipher) -> Option<Completed> {
        if !self.0.is_handshake_finished() {
            return None;
        }
        let remote = self.remote()?;
        let mut handshake = HandshakeId([0; 16]);
        let hash = Secret::new(self.0.get_handshake_hash().try_into().ok()?);
        hash.expand("handshake id", &[], &mut handshake.0);
        let mut split = self.0.dangerously_get_raw_split();
        let (initiators, responders) = (Secret::new(split.0), Secret::new(split.1));
        split.0.zeroize();
        split.1.zeroize();
        let (send, receive) =
            if self.0.is_initiator() { (initiators, responders) } else { (responders, initiators) };
        Some(Completed { cipher, send, receive, handshake, remote })
    }
}

pub(super) fn builder<'a>(random: Random, count: &DhCount) -> Builder<'a> {
    let params = PATTERN.parse().expect("a pattern that snow knows");
    Builder::with_resolver(params, Box::new(Resolver { random, count: count.clone() }))
}

/// Where snow's primitives come from.
struct Resolver {
    random: Random,
    count: DhCount,
}

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn types::Random>> {
        Some(Box::new(Stream(self.random.clone())))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn types::Dh>> {
        let inner = DefaultResolver.resolve_dh(choice)?;
        Some(Box::new(Dh { inner, count: self.count.clone() }))
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn types::Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn types::Cipher>> {
        RingResolver.resolve_cipher(choice)
    }
}

struct Stream(Random);

impl types::Random for Stream {
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), snow::Error> {
        self.0.fill(out);
        Ok(())
    }
}

/// X25519 that counts, and refuses keys of small order (RFC 7748 section 6.1): with one of them anybody would have the
/// static key that it proves to have.
struct Dh {
    inner: Box<dyn types::Dh>,
    count: DhCount,
}

impl types::Dh for Dh {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn pub_len(&self) -> usize {
        self.inner.pub_len()
    }

    fn priv_len(&self) -> usize {
        self.inner.priv_len()
    }

    fn set(&mut self, key: &[u8]) {
        self.inner.set(key);
    }

    fn generate(&mut self, random: &mut dyn types::Random) -> Result<(), snow::Error> {
        self.inner.generate(random)
    }

    fn pubkey(&self) -> &[u8] {
        self.inner.pubkey()
    }

    fn privkey(&self) -> &[u8] {
        self.inner.privkey()
    }

    fn dh(&self, public: &[u8], out: &mut [u8]) -> Result<(), snow::Error> {
        self.count.0.fetch_add(1, Ordering::Relaxed);
        self.inner.dh(public, out)?;
        let shared = out.get(..32).ok_or(snow::Error::Dh)?;
        if bool::from(shared.ct_eq(&[0; 32])) { Err(snow::Error::Dh) } else { Ok(()) }
    }
}
