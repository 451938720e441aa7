//! The event engine: future events, the elements that these events affect, and a hash over all past events.

mod arena;
mod fingerprint;
mod heap;

pub use arena::{Arena, Id};
pub use fingerprint::Fingerprint;
pub use heap::Engine;
