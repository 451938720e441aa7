//! The handshake: Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s, carried in datagrams.

mod cookie;
mod half_open;
mod initiator;
mod load;
mod message;
mod noise;
mod primitives;
mod responder;
mod seen;
#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "testing"))]
pub(crate) use half_open::MOST as HALF_OPEN;
pub(crate) use initiator::Initiator;
pub(crate) use message::Answer;
#[cfg(any(test, feature = "testing"))]
pub(crate) use message::sign;
#[cfg(any(test, feature = "testing"))]
pub(crate) use message::{MOST_1, MOST_2};
pub(crate) use responder::{Asked, Limits, Outcome, Responder, Slot};
pub use responder::{HandshakeCounts, HandshakeDrop};
