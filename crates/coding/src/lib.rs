//! Erasure codes above a transport: source messages go in, repair symbols come out, and messages come back where symbols were
//! lost. Codecs stand behind one trait ([`codec`]); [`blocks`] and [`windows`] frame messages as symbols, on the wire as
//! [`symbol`] lays them out. The crate has no transport, no clock and no network; seeds are arguments.
//! Without the feature `codecs` it has the layouts alone.
#![forbid(unsafe_code)]

pub mod blocks;
mod code;
pub mod codec;
#[cfg(feature = "codecs")]
mod codecs;
mod framing;
#[cfg(feature = "testing")]
pub mod fuzzing;
mod receipt;
pub mod symbol;
pub mod windows;
#[cfg(not(feature = "codecs"))]
mod without;

pub use code::{Code, MOST_SOURCES};
#[cfg(feature = "testing")]
pub use codecs::Instructions;
#[cfg(feature = "codecs")]
pub use codecs::TinyMt32;
pub use receipt::{Refusal, Statistics};
