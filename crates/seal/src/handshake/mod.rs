//! The handshake: Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s in datagrams.

mod cookie;
mod half_open;
mod initiator;
mod load;
mod message;
mod noise;
mod responder;
mod seen;
#[cfg(test)]
mod tests;

pub(crate) use initiator::{HandshakeError, Initiator};
pub(crate) use message::{Answer, MOST_1, MOST_2};
pub(crate) use responder::{Asked, Limits, Outcome, Responder, Slot};
pub use responder::{HandshakeCounts, HandshakeDrop};
