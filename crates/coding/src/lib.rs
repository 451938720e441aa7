//! Erasure codes that are applied above a transport. The sender adds repair symbols to the source messages. The
//! receiver uses repair symbols to recover messages whose symbols were lost. All codecs implement the traits in
//! [`codec`]. [`blocks`] and [`windows`] convert messages to symbols. [`symbol`] defines the layout of symbols in
//! packets. This crate uses no transport, no clock and no network. Seeds are arguments of its calls. Without the
//! feature `codecs`, the crate contains only the layouts.
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
