//! Lines of statistics: figures and events of a stream as JSON, and metrics made from them.
//!
//! [`Lines`] makes the lines of a stream: a line of figures every second, a line for each event, and a line for each
//! second or two without figures. These lines are the lines of `strandcast send --stats`, and [`schema`] describes
//! them. [`metrics`] writes the last line of each stream in the text format of Prometheus.

mod exposition;
#[cfg(feature = "api")]
mod gone;
mod keys;
mod line;
mod schema;
mod stream;

pub use exposition::{ended, metrics};
#[cfg(feature = "api")]
pub(in crate::live) use gone::Gone;
pub use line::Line;
#[cfg(feature = "api")]
pub(in crate::live) use line::object;
pub use schema::schema;
pub use stream::Lines;
