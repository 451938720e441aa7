//! Erasure codes above a transport: the sender adds repair symbols to source messages, and the receiver
//! recovers messages whose symbols were lost. Codecs share one trait ([`codec`]); [`blocks`] and [`windows`]
//! frame messages as symbols, laid out on the wire by [`symbol`]. The crate uses no transport, clock or
//! network; seeds are arguments.
#![forbid(unsafe_code)]

mod block_store;
pub mod blocks;
mod code;
pub mod codec;
mod coefficients;
mod field;
mod framing;
#[cfg(any(test, feature = "testing"))]
pub mod fuzzing;
mod kernel;
mod linear;
mod raptor;
mod receipt;
mod reed_solomon;
pub mod symbol;
mod tinymt;
pub mod windows;

pub use code::{Code, MOST_SOURCES};
#[cfg(any(test, feature = "testing"))]
pub use kernel::Instructions;
pub use receipt::{Refusal, Statistics};
pub use tinymt::TinyMt32;
