//! Numbers, times, errors and texts of peers in a form for people.

mod date;
mod numbers;
mod quoted;

pub use crate::error::why;
pub use date::{civil, date, rfc3339};
pub use numbers::{causes, count, duration, ms, outages, shifts, size};
pub use quoted::quoted;
pub use strandcast_keys::text::{bits_per_s, bytes, percent, printable};
