//! Erasure codes above a transport: the sender adds repair symbols to source messages, and the receiver
//! recovers messages whose symbols were lost. Codecs share one trait ([`codec`]); [`blocks`] and [`windows`]
//! frame messages as symbols, laid out on the wire by [`symbol`]. The crate uses no transport, clock or
//! network; seeds are arguments. Without the feature `codecs` it contains only the layouts.
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
