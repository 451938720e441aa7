//! How much may be in flight.

mod balia;
mod coupled;
mod cubic;
mod flow;
mod friendliness;
mod hystart;
mod lia;
mod queue_aware;
mod receiver_rate;
mod reno;
mod rfc;
mod sctp;
mod shared;
mod table;
mod tcp;
#[cfg(test)]
mod tests;
mod window;

pub use balia::Balia;
pub use coupled::Coupled;
pub use cubic::{Cubic, CubicConfig};
pub use flow::{FlowConfig, WindowSetup};
pub use friendliness::{
    Balance, FAST_RETRANSMIT_COUNTS, Friendliness, Member, Members, TIMEOUT_COUNTS, penalized,
};
pub use lia::Lia;
pub use queue_aware::QueueAware;
pub use receiver_rate::ReceiverPaced;
pub use sctp::{SctpConfig, StartConfig};
pub use table::{Cc, Congestion, Congestions, congestion, congestions};
pub use tcp::{Counting, DecreaseBase, InitialWindow, TcpConfig, TcpWindows};
