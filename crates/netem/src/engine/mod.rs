//! The event engine: what happens next, who it happens to, and a hash over all that happened.

mod arena;
mod fingerprint;
mod heap;

pub use arena::{Arena, Id};
pub use fingerprint::Fingerprint;
pub use heap::Engine;
