//! Random loss of packets.

mod awgn;
mod list;
mod model;
mod sojourns;
#[cfg(test)]
mod tests;

pub use awgn::{Modulation, frame_error_rate};
pub use list::LossList;
pub use model::{Loss, LossModel};
