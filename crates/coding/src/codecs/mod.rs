//! The codecs: random linear codes, RaptorQ, Reed–Solomon.

mod block_store;
mod coefficients;
mod field;
mod kernel;
mod linear;
mod make;
mod raptor;
mod reed_solomon;
mod tinymt;

#[cfg(any(test, feature = "testing"))]
pub use kernel::Instructions;
pub use tinymt::TinyMt32;
