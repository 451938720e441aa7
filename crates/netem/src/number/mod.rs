//! Numbers of links and sources that may change: what a file says of them, and what they are at a moment.

mod checks;
#[cfg(test)]
mod tests;
mod trace;
mod value;
mod varying;

pub use checks::NumberError;
pub use trace::{Trace, TraceError, content_lines};
pub use value::{Every, Number};
pub use varying::Varying;
