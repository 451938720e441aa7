//! The handshake: Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s in datagrams.

mod cookie;
mod initiator;
mod noise;
mod responder;
mod seen;
