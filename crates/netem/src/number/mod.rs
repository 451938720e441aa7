//! Numbers of links and sources that may change over time. A number has a description in a file, and a value at each
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
