//! Noise, implemented by the crate `snow`. This module sets the pattern and the prologue of Noise. The module gives
//! each handshake randomness from seeded streams.
//!
//! The seal overwrites its own derived secrets when they are dropped. Some secrets are not overwritten: the state of
//! snow during a handshake, which stays in memory afterwards (its copies of the pre-shared key, the chaining key, the
//! hash, and the two keys of its split); ring's expanded keys of ChaCha20-Poly1305 and of HMAC-SHA-256; the hash states
//! of HKDF; the seeds and generators of randomness; and copies on the stack. `SECURITY.md` gives the reasons for this.

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

/// Returns a separate random stream for one handshake. Later output of `random` reveals nothing about its earlier
/// output. The ephemeral key of a handshake therefore cannot be computed from the state that remains.
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

/// Error: Noise refused a message or a key. The message is forged or malformed, or the key is a point of small order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused;

/// State of one side of a handshake.
pub(super) struct Noise(HandshakeState);

/// Role of this side in a handshake.
pub(super) enum Role<'a> {
    /// This side connects to the owner of this key.
    Initiator(&'a PublicKey),
    Responder,
}

impl Noise {
    /// Returns the state of one side of a handshake. `clear` contains the fields of message 1 that precede its Noise
    /// part.
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

    /// Writes the next message with `payload` to `out`. Returns the length of the message.
    pub fn write(&mut self, payload: &[u8], out: &mut [u8]) -> Result<usize, Refused> {
        self.0.write_message(payload, out).map_err(|_| Refused)
    }

    /// Reads the next message, and writes its payload to `payload`. Returns the payload's length. `payload` must be at
    /// least as long as the message. After an error, another message can be read, because snow restores its state.
    pub fn read(&mut self, message: &[u8], payload: &mut [u8]) -> Result<usize, Refused> {
        self.0.read_message(message, payload).map_err(|_| Refused)
    }

    /// Returns the static key of the other side, once it is known.
    pub fn remote(&self) -> Option<PublicKey> {
        self.0.get_remote_static()?.try_into().ok().map(PublicKey)
    }

    /// Returns the keys of the handshake. All messages of the handshake must have been written and read before. `route`
    /// has the route bytes of message 2.
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

/// Source of the primitives that snow uses.
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
