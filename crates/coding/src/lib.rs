//! Erasure codes that work above a transport. The sender adds repair symbols to the source messages. With them, the
//! receiver recovers messages whose symbols were lost. All codecs implement the traits in [`codec`]. [`blocks`] and
//! [`windows`] convert messages to symbols, and [`symbol`] defines their layout in packets. This crate uses no
//! transport, no clock and no network. Seeds are passed as arguments. Without the feature `codecs`, it contains only
//! the layouts.
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
