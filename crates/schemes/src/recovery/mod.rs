//! What is lost, and where it is sent again.

mod retransmit;
mod sfr;
#[cfg(test)]
mod tests;

pub use retransmit::{HISTORY, Rtx};
pub use sfr::{SfrConfig, SplitFastRetransmit};
