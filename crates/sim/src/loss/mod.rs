//! Random loss, packet by packet.

mod list;
mod model;
mod sojourns;
#[cfg(test)]
mod tests;

pub use list::LossList;
pub use model::{Loss, LossModel};
