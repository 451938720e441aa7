//! Noise by snow: pattern, prologue, randomness from seeded streams.
//!
//! Secrets that are derived here and kept by the seal are wiped when they are dropped. The following are not
//! wiped: the state that snow holds during a handshake and leaves in memory afterwards (its copies of the
//! static key, of the ephemeral key and of the pre-shared key, the chaining key, the hash, the two keys of
//! its split), ring's expanded keys of ChaCha20-Poly1305 and of HMAC-SHA-256, the hash states of HKDF, seeds
//! and generators of randomness, and copies on the stack. `SECURITY.md` gives the reasons.

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
use crate::wire::RouteBytes;

const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const LABEL: &[u8] = b"strandcast seal";

/// Counts Diffie–Hellman operations.
#[derive(Clone, Debug, Default)]
pub(super) struct DhCount(Arc<AtomicU64>);

impl DhCount {
    #[cfg(any(test, feature = "testing"))]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A separate random stream for one handshake. Later draws from `random` reveal nothing about earlier ones,
/// so a handshake's ephemeral key cannot be computed again from the remaining state.
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

/// Noise refused a message or a key: forged, malformed, or a key of small order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused;

/// One end of one handshake.
pub(super) struct Noise(HandshakeState);

/// End of a handshake.
pub(super) enum Role<'a> {
    /// The side that connects, to the owner of a key.
    Initiator(&'a PublicKey),
    Responder,
}

impl Noise {
    /// One end of a handshake. `clear` holds the fields of message 1 before Noise's part.
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

    /// Reads the next message into `payload`, which must be at least as long as the message, and returns the
    /// payload's length. After an error another message can be read: snow restores its mixed state, and
    /// everything else is overwritten.
    pub fn read(&mut self, message: &[u8], payload: &mut [u8]) -> Result<usize, Refused> {
        self.0.read_message(message, payload).map_err(|_| Refused)
    }

    /// Static key of the other side, once it is known.
    pub fn remote(&self) -> Option<PublicKey> {
        self.0.get_remote_static()?.try_into().ok().map(PublicKey)
    }

    /// The keys of a handshake whose messages were all written and read. `route`: those of message 2.
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

/// X25519 with a counter. It refuses keys of small order (RFC 7748 section 6.1), with which any host could
/// claim a static key that it does not have.
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

#[cfg(test)]
mod tests {
    use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

    use super::*;

    /// "cacophony" test vectors for Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s
    /// (github.com/haskell-cryptography/cacophony, vectors/cacophony.txt): two messages of the handshake, four of transport.
    const PROLOGUE: &str = "4a6f686e2047616c74";
    const PSK: &str = "54686973206973206d7920417573747269616e20706572737065637469766521";
    const INITIATOR: &str = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1";
    const INITIATOR_EPHEMERAL: &str = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a";
    const RESPONDER: &str = "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893";
    const RESPONDER_PUBLIC: &str = "31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62";
    const RESPONDER_EPHEMERAL: &str = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b";
    const HASH: &str = "f5191b875290abcd41347ac3622d9679688a7e980229cb937ef748336cfde0e5";
    const HANDSHAKE: [(&str, &str); 2] = [
        (
            "4c756477696720766f6e204d69736573",
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944\
             001e21de9f98ddd8e2ad57527207feb56253c9c94a9e496782ecfcb2a75fbcaf\
             1b52948cc48daefe660c62119ab5000980c84831215f2441eba616548e832985\
             464cf17e51ee93109008399a21f7e13f",
        ),
        (
            "4d757272617920526f746862617264",
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843\
             cb765f2caef0751b8f007572dab0322217755c0632f365717edbf34d33e87a",
        ),
    ];
    /// Messages of the initiator and of the responder in turn, two each.
    const TRANSPORT: [(&str, &str); 4] = [
        ("462e20412e20486179656b", "8153ca9833bc3c1b91a7e66e5f4d4f5b59bf9e64c2f20d15f0bba7"),
        ("4361726c204d656e676572", "07af0c9c86e1b4e80f36b04ff7688d51141af3debd0332f0a705ef"),
        (
            "4a65616e2d426170746973746520536179",
            "6ab1467c0448cc78394494abaaf23afce0e234315d6e2624dcbfa8a21c1c4d073d",
        ),
        (
            "457567656e2042f6686d20766f6e2042617765726b",
            "dfc346c0d2296ae6cf1acf6f12b8456a1dba228cf8d8b774aacf1c47fc53aa80ebc7a4c292",
        ),
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |d: u8| (d as char).to_digit(16).expect("hexadecimal") as u8;
        hex.as_bytes().chunks(2).map(|d| digit(d[0]) << 4 | digit(d[1])).collect()
    }

    fn key(hex: &str) -> [u8; 32] {
        bytes(hex).try_into().expect("32 bytes")
    }

    fn end(initiator: bool, count: &DhCount) -> Noise {
        let (local, ephemeral) =
            if initiator { (INITIATOR, INITIATOR_EPHEMERAL) } else { (RESPONDER, RESPONDER_EPHEMERAL) };
        let (local, ephemeral, remote) = (key(local), key(ephemeral), key(RESPONDER_PUBLIC));
        let (psk, prologue) = (key(PSK), bytes(PROLOGUE));
        let builder = builder(Seeds::new(1, 0).stream("unused"), count)
            .local_private_key(&local)
            .and_then(|b| b.psk(2, &psk))
            .and_then(|b| b.prologue(&prologue))
            .expect("set once")
            .fixed_ephemeral_key_for_testing_only(&ephemeral);
        let state = if initiator {
            builder.remote_public_key(&remote).and_then(Builder::build_initiator)
        } else {
            builder.build_responder()
        };
        Noise(state.expect("complete"))
    }

    const ROUTE: RouteBytes = RouteBytes([1, 2]);

    #[test]
    fn the_vectors_of_the_pattern() {
        let (of_initiator, of_responder) = (DhCount::default(), DhCount::default());
        let (mut initiator, mut responder) = (end(true, &of_initiator), end(false, &of_responder));
        assert!(initiator.completed(Cipher::Aes128Gcm, ROUTE).is_none(), "not yet");
        for (n, (payload, message)) in HANDSHAKE.into_iter().enumerate() {
            let (from, to) =
                if n == 0 { (&mut initiator, &mut responder) } else { (&mut responder, &mut initiator) };
            let (mut out, mut read) = ([0; 256], [0; 256]);
            let len = from.write(&bytes(payload), &mut out).expect("its turn");
            assert_eq!(out[..len], bytes(message));
            let len = to.read(&bytes(message), &mut read).expect("authentic");
            assert_eq!(read[..len], bytes(payload));
        }
        assert_eq!((of_initiator.get(), of_responder.get()), (4, 4), "es, ss, ee, se");
        for (noise, remote) in [(&initiator, RESPONDER), (&responder, INITIATOR)] {
            assert_eq!(noise.0.get_handshake_hash(), bytes(HASH));
            assert_eq!(noise.remote(), Some(SecretKey::from_bytes(key(remote)).public()));
        }
        split(initiator, responder);
    }

    /// Checks that the keys of [`Noise::completed`] open the vectors' transport messages.
    fn split(mut initiator: Noise, mut responder: Noise) {
        let keys = initiator.0.dangerously_get_raw_split();
        for (n, (payload, message)) in TRANSPORT.into_iter().enumerate() {
            let secret = if n % 2 == 0 { keys.0 } else { keys.1 };
            let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &secret).expect("32 bytes"));
            let mut nonce = [0; 12];
            nonce[4] = n as u8 / 2;
            let mut message = bytes(message);
            let opened = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut message);
            assert_eq!(opened.expect("authentic"), bytes(payload));
        }
        let known = |secret: &Secret| {
            let mut out = [0; 16];
            secret.expand("compare", &[], &mut out);
            out
        };
        let of_initiator = initiator.completed(Cipher::Aes128Gcm, ROUTE).expect("complete");
        let of_responder = responder.completed(Cipher::Aes128Gcm, ROUTE).expect("complete");
        let expected = (known(&Secret::new(keys.0)), known(&Secret::new(keys.1)));
        assert_eq!((known(&of_initiator.send), known(&of_initiator.receive)), expected);
        assert_eq!((known(&of_responder.receive), known(&of_responder.send)), expected);
        assert_eq!(of_initiator.handshake, of_responder.handshake);
    }

    /// RFC 7748 section 6.1: points of small order give zero. 0 and 1 are two of them.
    #[test]
    fn keys_of_small_order_are_refused() {
        let mut random = Seeds::new(1, 0).stream("small order");
        let (local, token) = (SecretKey::generate(&mut random), Token::generate(&mut random));
        for low in [0, 1] {
            let mut public = PublicKey([0; 32]);
            public.0[0] = low;
            let role = Role::Initiator(&public);
            let noise = Noise::new(&role, &local, &token, &[], child(&mut random), &DhCount::default());
            assert_eq!(noise.expect("nothing computed yet").write(&[], &mut [0; 256]), Err(Refused));
        }
    }

    /// psk2: the pre-shared key is mixed into message 2, the prologue into both.
    #[test]
    fn another_token_or_prologue_completes_nothing() {
        let mut random = Seeds::new(2, 0).stream("tokens");
        let (local, remote) = (SecretKey::generate(&mut random), SecretKey::generate(&mut random));
        let tokens = [Token::generate(&mut random), Token::generate(&mut random)];
        for (token, clear, first, second) in [(0, 0, true, true), (1, 0, true, false), (0, 1, false, false)] {
            let (mut message, mut payload) = ([0; 256], [0; 256]);
            let mut end = |role: Role<'_>, own: &SecretKey, token: usize, clear: u8| {
                let random = child(&mut random);
                Noise::new(&role, own, &tokens[token], &[clear], random, &DhCount::default()).expect("built")
            };
            let mut initiator = end(Role::Initiator(&remote.public()), &local, 0, 0);
            let mut responder = end(Role::Responder, &remote, token, clear);
            let len = initiator.write(b"", &mut message).expect("its turn");
            assert_eq!(responder.read(&message[..len], &mut payload).is_ok(), first);
            if first {
                let len = responder.write(b"", &mut message).expect("its turn");
                assert_eq!(initiator.read(&message[..len], &mut payload).is_ok(), second);
            }
        }
    }

    #[test]
    fn what_is_left_of_a_stream_does_not_tell_what_was_drawn() {
        let mut random = Seeds::new(1, 0).stream("children");
        let before = random.clone();
        let first = child(&mut random).u64();
        assert_ne!(child(&mut random).u64(), first);
        assert_eq!(child(&mut before.clone()).u64(), first, "the same seed, the same handshake");
        // The stream now has a new key: it repeats none of the bytes that the old state would have given.
        let mut old = before;
        let given: Vec<u64> = (0..64).map(|_| old.u64()).collect();
        assert!((0..64).all(|_| !given.contains(&random.u64())));
    }
}
