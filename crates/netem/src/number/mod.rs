//! Numbers of links and sources that may change: their description in a file, and their value at a given
//! time.

mod checks;
mod law;
#[cfg(test)]
mod tests;
mod trace;
mod value;
mod varying;

pub use checks::NumberError;
pub use law::{Law, Shape};
pub use trace::{Trace, TraceError, content_lines};
pub use value::{Every, Number, Offset};
pub use varying::Varying;
