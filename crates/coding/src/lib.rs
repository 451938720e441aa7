//! Erasure codes above a transport: source messages go in, repair symbols come out, and messages come back where symbols were
//! lost. Codecs stand behind one trait ([`codec`]); [`blocks`] and [`windows`] frame messages as symbols, on the wire as
//! [`symbol`] lays them out. The crate knows no transport, no clock and no network; seeds are arguments.
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
