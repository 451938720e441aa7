//! What people and machines see while a stream runs.

mod numbers;
mod screen;
mod snapshot;
mod table;

pub(crate) use numbers::{bits_per_s, bytes, count, duration, ms, percent};
pub(crate) use screen::Screen;
pub(crate) use snapshot::{MediaNow, Names, PathNow, Role, Sampler, Snapshot};
pub(crate) use table::table;
