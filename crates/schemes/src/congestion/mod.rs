//! How much may be in flight.

mod balia;
mod coupled;
mod cubic;
mod friendliness;
mod hystart;
mod lia;
mod queue_aware;
mod receiver_rate;
mod shared;
mod table;
mod tcp;
#[cfg(test)]
mod tests;

pub use balia::Balia;
pub use coupled::Coupled;
pub use cubic::{Cubic, CubicConfig};
pub use friendliness::{
    Balance, FAST_RETRANSMIT_COUNTS, Friendliness, Member, Members, TIMEOUT_COUNTS, penalized,
};
pub use lia::Linked;
pub use queue_aware::QueueAware;
pub use receiver_rate::ReceiverPaced;
pub use table::{Congestion, TCP_KEYS, WindowSetup, congestion, congestions};
pub(crate) use table::{NAMES, sctp};
pub use tcp::{Counting, CutOf, InitialWindow, TcpConfig, TcpWindows};
