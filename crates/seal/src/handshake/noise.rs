//! Noise, computed by the crate `snow`. This module sets the pattern and the prologue, and it gives each handshake
//! randomness from seeded streams.
//!
//! The seal overwrites its own derived secrets when they are dropped. The following are not overwritten: the state of
//! snow during a handshake, which stays in memory afterwards (its copies of the pre-shared key, the chaining key, the
//! hash, and the two keys of its split); ring's expanded keys of ChaCha20-Poly1305 and of HMAC-SHA-256; the hash states
//! of HKDF; the seeds and generators of randomness; and copies on the stack. `SECURITY.md` gives the reasons.

use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, RingResolver};
use snow::{Builder, HandshakeState, types};
use strandcast_proto::seeds::{Random, Seeds};
use zeroize::Zeroize as _;

use super::primitives::{Blake2s, DhCount, X25519};
use crate::aead::Cipher;
use crate::identity::{PublicKey, SecretKey, Token};
use crate::keys::{Completed, HandshakeId};
use crate::secret::Secret;
use crate::wire::RouteBytes;

const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const LABEL: &[u8] = b"strandcast seal";

/// A separate random stream for one handshake. The later output of `random` reveals nothing about its earlier output.
/// So a handshake's ephemeral key cannot be computed from the state that remains.
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

/// Noise refused a message or a key. The message is forged or malformed, or the key is a point of small order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused;

/// One side of one handshake.
pub(super) struct Noise(HandshakeState);

/// The role of this side in a handshake.
pub(super) enum Role<'a> {
    /// The side that connects, to the owner of a key.
    Initiator(&'a PublicKey),
    Responder,
}

impl Noise {
    /// One side of one handshake. `clear` contains the fields of message 1 that come before Noise's part.
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

    /// Writes the next message with `payload` into `out` and returns its length.
    pub fn write(&mut self, payload: &[u8], out: &mut [u8]) -> Result<usize, Refused> {
        self.0.write_message(payload, out).map_err(|_| Refused)
    }

    /// Reads the next message, writes its payload to `payload` and returns the payload's length. `payload` must be at
    /// least as long as the message. After an error, another message can be read, because snow restores its state.
    pub fn read(&mut self, message: &[u8], payload: &mut [u8]) -> Result<usize, Refused> {
        self.0.read_message(message, payload).map_err(|_| Refused)
    }

    /// Static key of the other side, once it is known.
    pub fn remote(&self) -> Option<PublicKey> {
        self.0.get_remote_static()?.try_into().ok().map(PublicKey)
    }

    /// The keys of a handshake. All of its messages must have been written and read. `route` are the route bytes of
    /// message 2.
    pub fn completed(&mut self, cipher: Cipher, route: RouteBytes) -> Option<Completed> {
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
        let initiates = self.0.is_initiator();
        let (send, receive) = if initiates { (initiators, responders) } else { (responders, initiators) };
        Some(Completed { cipher, send, receive, handshake, route, initiates, remote })
    }
}

pub(super) fn builder<'a>(random: Random, count: &DhCount) -> Builder<'a> {
    let params = PATTERN.parse().expect("snow supports the pattern");
    Builder::with_resolver(params, Box::new(Resolver { random, count: count.clone() }))
}

/// Source of snow's primitives.
struct Resolver {
    random: Random,
    count: DhCount,
}

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn types::Random>> {
        Some(Box::new(Stream(self.random.clone())))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn types::Dh>> {
        match choice {
            DHChoice::Curve25519 => Some(Box::new(X25519::new(self.count.clone()))),
            _ => None,
        }
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn types::Hash>> {
        match choice {
            HashChoice::Blake2s => Some(Box::new(Blake2s::default())),
            _ => None,
        }
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
