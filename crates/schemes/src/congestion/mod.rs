//! How much may be in flight.

mod choice;
mod cubic;
mod friendliness;
mod hystart;
mod lia;
mod receiver_rate;
mod reno;
mod tcp;
#[cfg(test)]
mod tests;

pub use choice::{Congestion, WindowSetup, congestion, congestions};
pub use cubic::{Cubic, CubicConfig};
pub use friendliness::{
    Balance, FAST_RETRANSMIT_COUNTS, Friendliness, Member, Members, TIMEOUT_COUNTS, penalized,
};
pub use lia::Linked;
pub use receiver_rate::ReceiverPaced;
pub use reno::Halving;
pub use tcp::{Avoidance, Counting, CutOf, InitialWindow, Progress, TcpConfig, TcpWindows};
