//! Detection of losses, and paths of retransmissions.

mod chosen_path;
mod raf;
mod retransmit;
mod rfc;
mod sfr;
mod silence;
#[cfg(test)]
mod tests;

pub use chosen_path::OnChosenPath;
pub use raf::{RafConfig, RetransmissionAware};
pub use retransmit::{HISTORY, Rtx};
pub use rfc::{FastRtx, RfcLossConfig};
pub use sfr::{DacAcked, SfrConfig, SplitFastRetransmit};
pub use silence::{GivesUpSilent, SilenceConfig};
