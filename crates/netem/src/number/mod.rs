//! Numbers of links and sources that may change: what a file says of them, and what they are at a moment.

#[cfg(test)]
mod tests;
mod trace;
mod value;
mod varying;

pub use trace::{Trace, TraceError, content_lines};
pub use value::{Every, Number, NumberError};
pub use varying::Varying;
