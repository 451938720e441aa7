//! Random loss, packet by packet.

mod model;
#[cfg(test)]
mod tests;

pub use model::{Loss, LossModel};
