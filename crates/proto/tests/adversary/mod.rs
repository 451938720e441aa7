//! Two applications over a network that does its worst, and what must hold all the same.

mod book;
mod case;
mod play;

pub use case::{Case, Kind};
pub use play::run;
